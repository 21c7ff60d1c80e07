import AuthFoundation
import Foundation
import OktaDirectAuth

/// Signs the user in with a password and, if the issuer requires it, a second factor: a passkey, an authenticator code or a push approval.
/// If the task is cancelled, the sign-in first notifies the issuer, within a short time limit.
struct DirectSignIn: Sendable {
    /// The time limit for notifying the issuer of a cancelled sign-in.
    private static let patience: Duration = .seconds(3)

    let client: OAuth2Client
    /// Whether to continue if the issuer requires a second factor.
    var takesSecondFactor = true
    var notice = ApprovalNotice()
    /// Asks for an authenticator code; `nil` to use a push only.
    var codePrompt: CodePrompt?
    /// The passkeys that can be the second factor; `nil` for none.
    var passkeys: PasskeyStore?
    /// A function that runs while the command waits for the phone, and is then cancelled; `nil` for none.
    var meanwhile: (@Sendable () async -> Void)?

    /// Returns the tokens. Throws errors of the flow, ``CommandFailure`` for an unsupported step, and `CancellationError`.
    func token(for username: String, password: String) async throws -> Token {
        let flow = DirectAuthenticationFlow(client: client)
        do {
            let status = try await flow.start(username, with: .password(password))
            if case .success(let token) = status { return token }
            return try await token(by: flow, after: status, of: username)
        } catch {
            await flow.reset()
            await TerminalClock.wait(atMost: Self.patience) { await flow.settled() }
            throw error
        }
    }

    private func token(
        by flow: DirectAuthenticationFlow, after status: DirectAuthenticationFlow.Status, of username: String
    ) async throws -> Token {
        guard takesSecondFactor else {
            throw CommandFailure("\(issuer) requires a second factor. Use `countersign sign-in direct`.")
        }
        var status = status
        if case .mfaRequired(let context) = status {
            let offered = context.supportedChallengeTypes ?? [.oobMFA]
            if offered.contains(.webAuthnMFA), let passkeys {
                let signer = PasskeySigner(store: passkeys, username: username, client: client)
                // If no passkey is usable, for example because it was removed from the account, the user can still use another factor.
                if try signer.hasPasskey, let signed = try await signer.sign(try await flow.resume(with: .webAuthn), by: flow) {
                    return try self.token(of: signed)
                }
            }
            if offered.contains(.otpMFA), let codePrompt,
                let answered = try await codePrompt.answer(
                    canPush: offered.contains(.oobMFA), { try await flow.resume(with: .otp(code: $0)) })
            {
                return try self.token(of: answered)
            }
            if let passkeys, !offered.contains(.oobMFA), offered.contains(.webAuthnMFA) {
                throw PasskeySigner(store: passkeys, username: username, client: client).missing
            }
            if !offered.contains(.oobMFA) {
                throw CommandFailure(
                    "\(issuer) requires a second factor, and this command supports none of those offered: \(offered.map(\.rawValue).joined(separator: ", ")). Sign in with `countersign sign-in browser` instead."
                )
            }
            status = try await waiting(number: nil) { try await flow.resume(with: .oob(channel: .push)) }
        }
        if case .continuation(.transfer(_, let number)) = status {
            status = try await waiting(number: number) { try await flow.resume(with: .transfer) }
        }
        return try self.token(of: status)
    }

    private func token(of status: DirectAuthenticationFlow.Status) throws -> Token {
        guard case .success(let token) = status else {
            throw CommandFailure(
                "\(issuer) requires another step, which this command does not support. Use countersign sign-in browser instead.")
        }
        return token
    }

    private var issuer: String { client.configuration.issuerURL.host() ?? "The issuer" }

    private func waiting(
        number: String?, _ work: @escaping @Sendable () async throws -> DirectAuthenticationFlow.Status
    ) async throws -> DirectAuthenticationFlow.Status {
        try await notice.show(number: number) {
            try await withThrowingTaskGroup(of: DirectAuthenticationFlow.Status?.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await work() }
                if let meanwhile {
                    group.addTask {
                        await meanwhile()
                        return nil
                    }
                }
                while let status = try await group.next() {
                    if let status { return status }
                }
                throw CancellationError()
            }
        }
    }
}

/// Asks for the code of an authenticator app.
struct CodePrompt: Sendable {
    /// The number of attempts in a terminal. The issuer has its own limit.
    private static let attempts = 3

    /// Asks for a code until the issuer accepts it, at most `attempts` times. Asks only once if standard input is not interactive.
    /// - Parameters:
    ///   - canPush: Whether the issuer also accepts a push.
    ///   - send: Sends the code to the issuer.
    /// - Returns: The status after the code; `nil` to request a push: after an empty line, or if standard input is not interactive.
    /// - Throws: ``CommandFailure`` if no code is entered, errors of `send`, and `CancellationError` after Ctrl-C.
    func answer(
        canPush: Bool, _ send: (String) async throws -> DirectAuthenticationFlow.Status
    ) async throws -> DirectAuthenticationFlow.Status? {
        let isInteractive = TerminalInput.isInteractive
        if canPush && !isInteractive { return nil }
        let prompt: TerminalText =
            canPush
            ? "Code of your authenticator app, or a recovery code (leave empty for a push to your phone): "
            : "Code of your authenticator app, or a recovery code: "
        for attempt in 1... {
            guard let code = try await TerminalInput.line(prompt), !code.isEmpty else {
                if canPush { return nil }
                throw CommandFailure("The sign-in requires a code, but none was entered. Start again and enter the code.")
            }
            do {
                return try await send(code)
            } catch let error as APIClientError where error.serverError?.code == .invalidGrant && attempt < Self.attempts && isInteractive {
                continue
            }
        }
        return nil
    }
}
