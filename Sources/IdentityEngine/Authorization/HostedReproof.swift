/// A sign-in whose first proof arrived, but not its answer: the browser sends the password once more and has only the secret from before.
///
/// An attacker who planted that secret and knows the password can do the same. The password alone must therefore lead to nothing but what
/// the password alone proved: as soon as anything followed it, the browser of this sign-in has its secret, and every other one is refused. A
/// wrong password counts as everywhere and leaves the sign-in as it is.
extension IdentityEngine {
    /// Takes the password again.
    ///
    /// - Parameters:
    ///   - action: What the form asks for; only a password is taken.
    ///   - token: The token of the sign-in.
    ///   - browser: The browser's cookies.
    ///   - context: The request's time and origin.
    /// - Returns: To the page, with the browser's new secret; or the refusal of another browser.
    /// - Throws: ``StoreError`` if the store failed; `CancellationError`.
    func proveAgain(
        _ action: HostedAction, token: String, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        let refused = HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        guard case .password(_, let password) = action else { return refused }
        var isCounted = false
        var judged: (user: User, verdict: FactorVerdict)?
        for _ in 0..<Self.attempts {
            guard case .success(let state) = try await hostedState(token, browser: browser, mayProveAgain: true, context: context),
                !state.isBound, state.isPasswordAlone, let user = state.user, let subject = state.subject
            else { return refused }
            let verifier = PasswordVerifier(environment: environment, origin: subject.origin)
            if !isCounted {
                let attempts = countAttempt(
                    login: user.value.login, of: user.value, from: subject.origin, snapshot: state.snapshot, context: context)
                guard attempts.isAdmitted else { return HostedAnswer(.refused(HostedRefusal(tooMany: attempts))) }
                isCounted = true
            }
            let verdict: FactorVerdict
            if let judged, judged.user.passwordHash == user.value.passwordHash {
                verdict = judged.verdict
            } else {
                do {
                    verdict = try await verifier.verify(.password(password), of: user.value, policy: state.snapshot.passwordPolicy)
                } catch is PasswordHasher.Overloaded {
                    return HostedAnswer(.refused(HostedRefusal(.tooManyRequests)))
                }
                judged = (user.value, verdict)
            }
            // The rules and counters of every password, on a sign-in that has proved nothing.
            var unproved = state.transaction
            (unproved.proofs, unproved.challenge, unproved.end) = ([], nil, nil)
            let (next, _, effects) = unproved.step(
                .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: context.now)
            var changes = try logEntries(effects, userID: user.value.id, of: next, context: context)
            for case .writeUser(let changed) in effects { changes.append(.put(try user.record(holding: changed))) }
            guard !next.proofs.isEmpty else {
                if try await store.commit(changes) == .committed { return refused }
                continue
            }
            var bound = state.transaction
            var answer = HostedAnswer(.goOn(token: token))
            // With a second factor still due, only the latest of two who know the password continues, so that no other waits for its proof.
            if bound.end == nil, let start = bound.hosted?.browser.unproved { bound.hosted?.browser = start }
            answer.cookies.signIn = try bind(&bound)
            if try await store.commit(changes + [state.stored.writing(bound)]) == .committed { return answer }
        }
        throw StoreError(.unavailable, "The sign-in met other writers \(Self.attempts) times. Try it again.")
    }
}

extension HostedState {
    /// Whether the sign-in holds nothing but one password that was typed for it, and has given nothing yet. A code or a decision about a
    /// device comes with a session, which may hold proofs of earlier sign-ins.
    fileprivate var isPasswordAlone: Bool {
        guard transaction.end == nil || transaction.end == .authenticated, transaction.proofs.count == 1,
            transaction.proofs.first?.factor == .password, hosted.inherited == 0, transaction.challenge == nil
        else { return false }
        let isIdle = hosted.enrolling == nil && hosted.phone == nil && hosted.number == nil && hosted.sending == nil
        return isIdle && hosted.code == nil && hosted.session == nil
    }
}
