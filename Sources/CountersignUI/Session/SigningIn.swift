internal import AuthFoundation
internal import BrowserSignin
internal import Foundation
internal import OAuth2Auth
internal import OktaDirectAuth

extension SignInSession {
    private typealias Flow = DirectAuthenticationFlow

    /// The step of the sign-in: the form for the user name and the password if no sign-in is in progress.
    public var step: SignInStep {
        if case .signingIn(let step) = state { step } else { SignInStep(.credentials) }
    }

    /// Whether the form of the step is complete and no request is in progress.
    public var canSubmit: Bool {
        guard !isBusy, needsSignIn else { return false }
        return switch step.kind {
        case .credentials: offers(.password) && !form.trimmedUserName.isEmpty && !form.password.isEmpty
        case .code: !form.trimmedCode.isEmpty
        default: false
        }
    }

    /// Whether the screen offers a method. A passkey needs a function that signs: ``passkeySigner``, or that of `SignInView`.
    public func offers(_ method: SignInMethod) -> Bool {
        options.methods.contains(method) && (method != .passkey || signer != nil)
    }

    /// Whether no user is signed in. The user of a locked session is.
    private var needsSignIn: Bool { !isSignedIn && state != .locked }

    private var signer: PasskeySigner? { passkeySigner ?? sheet }

    // MARK: - Actions of the user

    /// Sends the form of the step: the user name and the password, or the code. Returns when the sign-in needs the user again or has ended.
    /// A no-op unless ``canSubmit``. If the calling task is cancelled, the sign-in is cancelled.
    public func submit() async {
        guard canSubmit else { return }
        if attempt == nil {
            let name = form.trimmedUserName
            await begin(.credentials) { try await $1.start(name, with: .password($0.takePassword())) }
        } else if let attempt {
            let code = form.trimmedCode
            await run(attempt) { flow in
                attempt.factor?.isSentCode == true
                    ? try await flow.resume(with: .prompt(code: code)) : try await flow.resume(with: .otp(code: code))
            }
        }
    }

    /// Signs in with a passkey of the user name in the form, without a password. A no-op without a user name, during another sign-in, and
    /// while a user is signed in.
    public func signInWithPasskey() async {
        let name = form.trimmedUserName
        guard offers(.passkey), !name.isEmpty, !isBusy, attempt == nil, needsSignIn else { return }
        autoFill?.cancel()
        await autoFill?.value
        // Another sign-in may have begun meanwhile.
        guard !isBusy, attempt == nil, needsSignIn else { return }
        await begin(.passkey) { try await $1.start(name, with: .webAuthn) }
    }

    /// Signs in on the server's pages in a browser. A sign-in in progress is cancelled first. A no-op while a user is signed in.
    public func signInWithBrowser() async {
        guard offers(.browser), needsSignIn else { return }
        let name = form.trimmedUserName
        cancel()
        form.userName = name
        let browser: BrowserSignin
        do { browser = try usableBrowser() } catch {
            problem = SignInProblem(error, at: .browser)
            return
        }
        let attempt = SignInAttempt(flow: nil, client: browser.signInFlow.client, step: .browser)
        self.attempt = attempt
        await run(attempt) { [windowSource] in
            var context = AuthorizationCodeFlow.Context()
            context.loginHint = name.isEmpty ? nil : name
            return .success(try await browser.signIn(from: windowSource?(), context: context))
        }
    }

    /// Chooses a second factor, or requests another push or code. A no-op before the first factor is proved, and while a code is checked.
    public func choose(_ factor: SignInFactor) async {
        guard let attempt, attempt.factors.contains(factor), !isBusy || attempt.step.kind == .push else { return }
        form.code = ""
        guard factor.isOwnCode else { return await run(attempt) { try await self.start(factor, of: attempt, flow: $0) } }
        wait(at: .code, factor, attempt)
    }

    /// Goes back one step: from a second factor to the list of factors if there are several, otherwise to the form. A push that was sent
    /// stays valid until the user chooses another factor.
    public func goBack() {
        guard let attempt else { return }
        guard attempt.step.kind != .factors, attempt.factors.count > 1 else { return cancel() }
        if attempt.isSigning {
            _ = attempt.beginCall()
            attempt.task?.cancel()
            attempt.isSigning = false
        }
        form.code = ""
        wait(at: .factors, nil, attempt)
    }

    /// Shows a step at which the user acts next. A push that was sent can still be approved.
    private func wait(at kind: SignInStep.Kind, _ factor: SignInFactor?, _ attempt: SignInAttempt) {
        attempt.leave(to: kind, factor: factor)
        problem = nil
        isBusy = false
        update()
    }

    /// Cancels the sign-in in progress, and clears the password. A later approval on another device has no effect, and the server withdraws
    /// its request.
    public func cancel() {
        autoFill?.cancel()
        form.password = ""
        guard attempt != nil else { return }
        endAttempt()
        problem = nil
        update()
    }

    /// Offers the passkeys of the user in the form without an action of the user, such as above the keyboard. Waits until the user
    /// chooses a passkey, another sign-in starts, or the task is cancelled. After the choice, only ``cancel()`` ends the sign-in. A no-op
    /// without a user name. Failures are not shown.
    /// - Parameter signer: The function that offers the passkeys, such as `PasskeyAuthenticator.autoFillAssertion(for:)`.
    public func offerPasskeys(by signer: @escaping PasskeySigner) async {
        let name = form.trimmedUserName
        guard options.methods.contains(.passkey), !name.isEmpty, attempt == nil, autoFill == nil, needsSignIn else { return }
        let task = Task { await self.waitForPasskey(of: name, by: signer) }
        autoFill = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if autoFill == task { autoFill = nil }
    }

    private func waitForPasskey(of name: String, by signer: PasskeySigner) async {
        guard case .success(let connection) = connection else { return }
        let attempt = directAttempt(connection, .passkey)
        guard let flow = attempt.flow else { return }
        do {
            guard case .continuation(.webAuthn(let context)) = try await flow.start(name, with: .webAuthn) else { return }
            let response = try await signer(context.request)
            try Task.checkCancellation()
            guard self.attempt == nil, needsSignIn else { return attempt.end(in: background) }
            self.attempt = attempt
            // The user has chosen a passkey, so the end of the offer does not end the sign-in. The next sign-in must not wait for this one.
            autoFill = nil
            await Task { await self.run(attempt) { try await $0.resume(with: .webAuthn(response: response)) } }.value
        } catch {
            attempt.end(in: background)
        }
    }

    // MARK: - Calls

    private func begin(_ step: SignInStep.Kind, _ work: @escaping @MainActor (SignInAttempt, Flow) async throws -> Flow.Status) async {
        autoFill?.cancel()
        endAttempt()
        switch connection {
        case .success(let connection):
            let attempt = directAttempt(connection, step)
            if step == .credentials { attempt.keep(password: form.password) }
            self.attempt = attempt
            await run(attempt) { try await work(attempt, $0) }
        case .failure(let error):
            problem = SignInProblem(error, at: step)
        }
    }

    private func directAttempt(_ connection: Connection, _ step: SignInStep.Kind) -> SignInAttempt {
        let flow = DirectAuthenticationFlow(
            client: connection.client, supportedGrants: options.grantTypes(withPasskeys: signer != nil || step == .passkey),
            additionalParameters: connection.additionalParameters)
        return SignInAttempt(flow: flow, client: connection.client, step: step)
    }

    private func run(_ attempt: SignInAttempt, _ work: @escaping @MainActor (Flow) async throws -> Flow.Status?) async {
        guard let flow = attempt.flow else { return }
        await run(attempt) { try await work(flow) }
    }

    /// Runs a call of the sign-in, and shows its result.
    private func run(_ attempt: SignInAttempt, _ work: @escaping @MainActor () async throws -> Flow.Status?) async {
        let call = attempt.beginCall()
        problem = nil
        isBusy = true
        update()
        let task = Task { await self.drive(attempt, call, work) }
        attempt.task = task
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func drive(_ attempt: SignInAttempt, _ call: Int, _ work: @MainActor () async throws -> Flow.Status?) async {
        do {
            var status = try await work()
            while let reached = status { status = try await proceed(from: reached, attempt, call) }
        } catch {
            guard self.attempt === attempt, attempt.call == call, !attempt.isInBackground else { return }
            return fail(error, attempt)
        }
        guard self.attempt === attempt, attempt.call == call, !attempt.isInBackground else { return }
        isBusy = false
        update()
    }

    /// Continues until the sign-in needs the user or has ended. Returns the next status; `nil` if there is none.
    private func proceed(from status: Flow.Status, _ attempt: SignInAttempt, _ call: Int) async throws -> Flow.Status? {
        if case .success(let token) = status {
            try finish(with: token, attempt, call)
            return nil
        }
        // Only the sign-in in progress changes the screen.
        guard self.attempt === attempt, attempt.call == call else { throw CancellationError() }
        guard let flow = attempt.flow else { return nil }
        defer { update() }
        switch status {
        case .success: return nil
        case .mfaRequired(let context):
            // The server has accepted the password.
            form.password = ""
            attempt.factors = usableFactors(context)
            guard !attempt.factors.isEmpty else { throw SignInFailure(.unsupportedStep) }
            guard let factor = attempt.onlyFactor else {
                attempt.show(.factors)
                return nil
            }
            return try await start(factor, of: attempt, flow: flow)
        case .continuation(.transfer(_, let number)):
            attempt.show(.push, number: number)
            update()
            return try await flow.resume(with: .transfer)
        case .continuation(.prompt):
            attempt.show(.code)
            return nil
        case .continuation(.webAuthn(let context)):
            // A sheet must not open after the user has left the step.
            guard !attempt.isInBackground else { return nil }
            attempt.show(.passkey)
            update()
            guard let signer else { throw SignInFailure(.unsupportedStep) }
            attempt.isSigning = true
            defer { attempt.isSigning = false }
            let response = try await signer(context.request)
            try Task.checkCancellation()
            attempt.isSigning = false
            return try await flow.resume(with: .webAuthn(response: response))
        }
    }

    /// Starts a second factor. Returns `nil` for a code that the server does not send.
    private func start(_ factor: SignInFactor, of attempt: SignInAttempt, flow: Flow) async throws -> Flow.Status? {
        attempt.factor = factor
        switch factor {
        case .push:
            attempt.show(.push)
            update()
            return try await flow.resume(with: .oob(channel: .push))
        case .textMessage: return try await flow.resume(with: .oob(channel: .sms))
        case .call: return try await flow.resume(with: .oob(channel: .voice))
        case .passkey:
            attempt.show(.passkey)
            update()
            return try await flow.resume(with: .webAuthn)
        default:
            attempt.show(.code)
            return nil
        }
    }

    private func usableFactors(_ context: Flow.MFAContext) -> [SignInFactor] {
        options.secondFactors.filter { factor in
            guard let type = factor.grantType, factor != .passkey || signer != nil else { return false }
            return context.supportedChallengeTypes?.contains(type) ?? true
        }
    }

    // MARK: - Results

    /// Stores the tokens as the default credential.
    private func finish(with token: Token, _ attempt: SignInAttempt, _ call: Int) throws {
        guard self.attempt === attempt, attempt.call == call, !Task.isCancelled else {
            discard(token, of: attempt.client)
            throw CancellationError()
        }
        do {
            let credential = try Credential.store(token)
            do { try Credential.setDefault(credential) } catch {
                // The tokens are revoked below, so the entry is useless.
                try? credential.remove()
                throw error
            }
            let earlier = self.credential
            self.attempt = nil
            form = SignInForm()
            isBusy = false
            use(credential)
            // The earlier session has expired, so there is nothing to revoke.
            if let earlier, earlier.id != credential.id { try? earlier.remove() }
        } catch {
            discard(token, of: attempt.client)
            throw SignInFailure(.storageFailed, underlying: error)
        }
    }

    private func discard(_ token: Token, of client: OAuth2Client) {
        background.begin {
            // Best effort: no caller is left to receive an error, and the tokens expire.
            try? await client.revoke(token, type: .all)
        }
    }

    private func fail(_ error: any Error, _ attempt: SignInAttempt) {
        if error is CancellationError { return cancel() }
        defer {
            isBusy = false
            update()
        }
        let step = attempt.step.kind
        let problem = SignInProblem(error, at: step)
        if problem?.code == .wrongCode { attempt.wrongCodes += 1 }
        switch problem?.code {
        case .wrongCode? where attempt.wrongCodes >= SignInAttempt.maximumWrongCodes:
            startAgain(with: SignInProblem(.tooManyAttempts, underlying: error))
        case .tooLate?, .misconfigured?, .unsupportedStep?, .storageFailed?: startAgain(with: problem)
        case _ where !attempt.isAtSecondFactor: startAgain(with: problem)
        case .wrongCode?:
            form.code = ""
            self.problem = problem
        case .factorUnavailable?:
            attempt.factors.removeAll { $0 == attempt.factor && $0 != .push }
            attempt.leave(to: .factors)
            self.problem = problem
        case .offline? where step == .code, .serverFailed? where step == .code, .tooManyAttempts? where step == .code:
            self.problem = problem
        default:
            attempt.leave(to: .factors)
            self.problem = problem
        }
    }

    private func startAgain(with problem: SignInProblem?) {
        endAttempt()
        // After a network failure, the user can send the same password again.
        if problem?.code != .offline, problem?.code != .serverFailed { form.password = "" }
        self.problem = problem
    }

    func endAttempt() {
        guard let attempt else { return }
        self.attempt = nil
        form.code = ""
        isBusy = false
        attempt.end(in: background)
    }

    /// Returns the browser sign-in of the app, or one with the client of this session.
    func usableBrowser() throws -> BrowserSignin {
        if let browser { return browser }
        let connection = try connection.get()
        let parameters = connection.additionalParameters
        let made = BrowserSignin(
            loginFlow: try AuthorizationCodeFlow(client: connection.client, additionalParameters: parameters),
            logoutFlow: connection.client.configuration.logoutRedirectUri == nil
                ? nil : SessionLogoutFlow(client: connection.client, additionalParameters: parameters))
        browser = made
        return made
    }
}
