internal import Foundation
package import IdentityCore

/// The log of requests that the classic API refused, in addition to the events of sign-in steps.
extension Engine {
    /// The maximum number of log events of one refusal code per minute: from one address, and in total. Without a maximum, an attacker
    /// could fill the disk and hide other events.
    private static let mostRefusals = (fromAddress: 10, ofKind: 60)

    /// Logs a refusal that may be an attack: invalid tokens, other users' factors, steps out of order, limits. The last event of a code in
    /// a minute says that the server logs no more of them. Other refusals, such as an unreadable body, are only in the access log.
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
    fileprivate var isNoted: Bool {
        switch code {
        // Invalid tokens, other users' factors, steps out of order.
        case "E0000011", "E0000007", "E0000079": true
        // Limits on requests, messages and the countries that they are sent to.
        case "E0000047", "E0000109", "E0000118", "E0000133", "E0000099": true
        // Refusals that only trusted callers receive.
        case "E0000095", "E0000032", "E0000034": true
        default: false
        }
    }
}

extension RateLimiter.Subject {
    /// Returns the subject that counts the logged refusals with one error code for one address.
    fileprivate static func refusals(from address: String, of kind: String) -> Self {
        if case .address(let key) = from(address) { .refusals("\(kind) \(key)") } else { .refusals(kind) }
    }
}
