package import Foundation
package import IdentityCore
internal import Store

/// A session that a session token started or continued.
package struct StartedSession: Sendable {
    /// The session's id, which is not secret.
    package let id: String
    package let userID: String
    package let login: String
    package let createdAt: Date
    /// The time at which the session expires if it is not used.
    package let expiresAt: Date
    /// The proved methods, as `amr` values.
    package let methods: [String]
    /// The time of the last password proof; `nil` for none.
    package let passwordProvedAt: Date?
    /// The browser's new secrets. A secret that is `nil` does not change.
    package let cookies: BrowserSecrets
}

extension Engine {
    /// Starts a session in a browser by the single-use session token of a sign-in (Documentation/Protocol/Authn.md §4.16). The user's own
    /// session in the browser continues with a new secret. If the browser has another user's session, the request is refused and the token
    /// stays valid: an attacker must not replace a user's session unnoticed.
    /// - Returns: The stored session; or `E0000011` for an invalid token, `E0000006` in a browser with another user's session.
    package func startSession(
        by token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> Result<StartedSession, ClassicRefusal> {
        let digest = TicketDigest(of: token)
        return try await transact(context, refusing: ClassicRefusal.self) {
            let signIn = Lookup.Node.ticket(.sessionToken, digest, .owner(.named(.user, byKey: "user")))
            return Lookup([signIn] + Lookup.Node.session(of: browser))
        } read: { reading in
            let snapshot = try reading.snapshot
            guard snapshot.organization.classic != nil, let server = snapshot.server(nil) else { throw ClassicRefusal.notEnabled }
            guard let proved = try SessionToken.proved(digest, in: reading.view, now: context.now) else {
                throw ClassicRefusal.invalidToken("sessionToken: unknown, used or too old")
            }
            let known = try reading.view.session(secret: browser.session, now: context.now)
            if let known, known.1.value.id != proved.user.value.id { throw ClassicRefusal.otherPerson }
            return ProvedSignIn(
                transaction: proved.transaction, version: 0, user: proved.user, session: known?.0, snapshot: snapshot, server: server)
        } decide: { proved in
            // No application needs a logout token: the session of another user was refused above.
            let (session, secret, writes) = try session(after: proved, context: context)
            let take = Change.take(.sessionToken, digest: digest, now: context.now, gave: [])
            return Plan(.success(StartedSession(session, of: proved.user.value, secret: secret)), Writes([take]) + writes)
        }
    }

    /// Returns whether the server may redirect a browser to an address after its session started: the origin of the address must be the
    /// organization's own or a trusted one. Returns `false` for an invalid address.
    package func isTrusted(redirect address: String, snapshot: OrgSnapshot) -> Bool {
        guard address.utf8.count <= 2_048, address.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
            let url = URLComponents(string: address), let scheme = url.scheme, let host = url.host, !host.isEmpty, url.user == nil,
            url.password == nil
        else { return false }
        let origin = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
        return snapshot.isTrusted(origin: origin)
    }
}

extension StartedSession {
    fileprivate init(_ session: Session, of user: User, secret: String?) {
        var methods: [String] = []
        for method in session.proofs.flatMap(\.methods) where !methods.contains(method) { methods.append(method) }
        // Outside the classic API, a security question is not a second factor.
        let classes = session.proofs.reduce(into: Set<FactorClass>()) { $0.formUnion($1.factorClasses) }.subtracting([.recollection])
        if classes.count > 1 { methods.append("mfa") }
        self.init(
            id: session.id, userID: user.id, login: user.login, createdAt: session.createdAt,
            expiresAt: min(session.endsAt, session.lastUsedAt.addingTimeInterval(TimeInterval(session.idle))), methods: methods,
            passwordProvedAt: session.proofs.last { $0.factor == .password }?.time, cookies: BrowserSecrets(session: secret))
    }
}

extension ClassicRefusal {
    fileprivate static let otherPerson = ClassicRefusal(
        code: "E0000006", status: 403, summary: "Another user is signed in with this browser. Sign out first.",
        reason: "sessionToken: of another user than the session")
}
