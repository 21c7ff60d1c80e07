package import Foundation
package import IdentityCore
internal import Store

/// A session that a one-time token began, or went on with.
package struct StartedSession: Sendable {
    /// Its id; no secret.
    package let id: String
    /// Whose it is.
    package let userID: String
    /// The name that they sign in with.
    package let login: String
    /// When it began.
    package let createdAt: Date
    /// When it ends if it is not used.
    package let expiresAt: Date
    /// What was proved, as `amr` says it.
    package let methods: [String]
    /// When the password was last proved; nil if it was not.
    package let passwordProvedAt: Date?
    /// What the browser's cookie holds from now on.
    package let cookies: BrowserSecrets
}

extension Engine {
    /// Begins a person's session in a browser by the one-time token of a sign-in (authn reference 4.16).
    ///
    /// A session of theirs in the same browser goes on, with a new secret. Somebody else's is left alone, and the token with it: whoever
    /// makes a browser ask must not turn one person's session into another's unseen.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: The session, on disk; or `E0000011` for a token that is unknown, too old or was used, `E0000006` in a browser that is
    ///   somebody else's.
    /// - Throws: ``StoreError`` if the store failed; then nothing was begun.
    package func startSession(
        by token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> Result<StartedSession, ClassicRefusal> {
        let digest = TicketDigest(of: token)
        return try await transact(context, refusing: ClassicRefusal.self) { reading in
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
            let (session, secret, writes, _) = try session(after: proved, context: context)
            let take = Change.take(.sessionToken, digest: digest, now: context.now, gave: [])
            return Plan(.success(StartedSession(session, of: proved.user.value, secret: secret)), Writes([take]) + writes)
        }
    }

    /// Whether a browser may be sent to an address after its session began: on the organization's own origin, or one that it trusts.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - snapshot: The configuration.
    /// - Returns: False also for what is no address.
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
        // What somebody recalls is no second factor outside the classic API.
        let classes = session.proofs.reduce(into: Set<FactorClass>()) { $0.formUnion($1.factorClasses) }.subtracting([.recollection])
        if classes.count > 1 { methods.append("mfa") }
        self.init(
            id: session.id, userID: user.id, login: user.login, createdAt: session.createdAt,
            expiresAt: min(session.endsAt, session.lastUsedAt.addingTimeInterval(TimeInterval(session.idle))), methods: methods,
            passwordProvedAt: session.proofs.last { $0.factor == .password }?.time, cookies: BrowserSecrets(session: secret))
    }
}

extension ClassicRefusal {
    /// The browser is somebody else's.
    fileprivate static let otherPerson = ClassicRefusal(
        code: "E0000006", status: 403, summary: "Somebody else is signed in with this browser. Sign out first.",
        reason: "sessionToken: of another person than the session")
}
