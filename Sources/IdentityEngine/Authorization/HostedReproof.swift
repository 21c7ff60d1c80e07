/// A sign-in whose first proof arrived but whose response was lost: the browser sends the password again with the old secret.
///
/// An attacker who planted that secret and knows the password can do the same. So the repeated password is accepted only while nothing else
/// was proved. After a further step, only the browser with the new secret continues. A wrong password is counted as usual and does not
/// change the sign-in.
extension IdentityEngine {
    /// Accepts the password again.
    ///
    /// - Parameters:
    ///   - action: The action of the form; only a password is accepted.
    ///   - token: The token of the sign-in.
    ///   - browser: The browser's cookies.
    ///   - context: The request's time and origin.
    /// - Returns: The redirect to the page with the browser's new secret, or a refusal.
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
            // Applies the rules and counters of a first password, on a sign-in without a proof.
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
            // While a second factor is due, only the latest browser continues, so that an attacker cannot wait for the victim's second factor.
            if bound.end == nil, let start = bound.hosted?.browser.unproved { bound.hosted?.browser = start }
            answer.cookies.signIn = try bind(&bound)
            if try await store.commit(changes + [state.stored.writing(bound)]) == .committed { return answer }
        }
        throw StoreError(.unavailable, "The sign-in met other writers \(Self.attempts) times. Try it again.")
    }
}

extension HostedState {
    /// Whether a typed password is the only proof of the sign-in, and no code was issued yet. An issued code or a remembered device comes with a
    /// session, which may contain proofs of earlier sign-ins.
    fileprivate var isPasswordAlone: Bool {
        guard transaction.end == nil || transaction.end == .authenticated, transaction.proofs.count == 1,
            transaction.proofs.first?.factor == .password, hosted.inherited == 0, transaction.challenge == nil
        else { return false }
        let isIdle = hosted.enrolling == nil && hosted.phone == nil && hosted.number == nil && hosted.sending == nil
        return isIdle && hosted.code == nil && hosted.session == nil
    }
}
