internal import Foundation
package import IdentityCore

/// What the system log tells of requests that the classic API refused, beside what the steps of a sign-in log themselves.
extension Engine {
    /// The most lines of one kind in a minute that one address can write, and all together.
    ///
    /// Anybody can send what is refused: who sends much must fill neither the disk nor the log, in which others are looked for.
    private static let mostRefusals = (fromAddress: 10, ofKind: 60)

    /// Notes a refusal that may be an attack: tokens that lead nowhere, factors of others, steps out of turn, limits. The rest, such as
    /// a body that cannot be read, is for the access log only.
    ///
    /// The last line of a kind in a minute says that more are not written.
    ///
    /// - Parameters:
    ///   - refusal: What was refused.
    ///   - operation: What was asked for, as metrics name it.
    ///   - context: When and from where.
    /// - Throws: ``StoreError`` if the store failed.
    package func noteRefused(_ refusal: ClassicRefusal, operation: String, context: RequestContext) async throws {
        guard refusal.isNoted else { return }
        let peer = RateLimiter.Subject.refusals(from: context.address ?? "", of: refusal.code)
        let own = rateLimiter.count(peer, limit: Self.mostRefusals.fromAddress, now: context.now)
        guard own.isAdmitted else { return }
        let all = rateLimiter.count(.refusals(refusal.code), limit: Self.mostRefusals.ofKind, now: context.now)
        guard all.isAdmitted else { return }
        let isLast = own.remaining == 0 || all.remaining == 0
        let reason = "\(operation): \(refusal.code), \(refusal.reason)" + (isLast ? "; more of these are not noted in this minute" : "")
        let event = LoggedEvent("security.request.refused", .denied, reason: reason, userID: refusal.userID)
        try await write(Writes(events: [event]), context: context)
    }
}

extension ClassicRefusal {
    /// Whether the system log tells of it.
    fileprivate var isNoted: Bool {
        switch code {
        // Tokens, other people's factors, steps out of turn.
        case "E0000011", "E0000007", "E0000079": true
        // Limits on requests, messages and the countries that they go to.
        case "E0000047", "E0000109", "E0000118", "E0000133", "E0000099": true
        // What a trusted caller may not do either.
        case "E0000095", "E0000032", "E0000034": true
        default: false
        }
    }
}

extension RateLimiter.Subject {
    /// What is noted of refusals of a kind to an address, counted as its requests are.
    fileprivate static func refusals(from address: String, of kind: String) -> Self {
        if case .address(let key) = from(address) { .refusals("\(kind) \(key)") } else { .refusals(kind) }
    }
}
