import AuthFoundation
import OktaDirectAuth

/// Asks for the code of an authenticator app.
struct CodePrompt: Sendable {
    /// How often a person may mistype it. The issuer has a limit of its own.
    private static let attempts = 3

    /// Asks until the code is right; a standard input that is no terminal has one attempt.
    ///
    /// - Parameters:
    ///   - canPush: Whether the person may have a push instead.
    ///   - send: Sends a code.
    /// - Returns: What the right code came to; nil for a push instead.
    /// - Throws: ``CommandFailure`` if none is given; what `send` throws; `CancellationError` after Ctrl-C.
    func answer(
        canPush: Bool, _ send: (String) async throws -> DirectAuthenticationFlow.Status
    ) async throws -> DirectAuthenticationFlow.Status? {
        let isInteractive = TerminalInput.isInteractive
        if canPush && !isInteractive { return nil }
        let prompt: TerminalText =
            canPush ? "Code of your authenticator app (empty for a push to your phone): " : "Code of your authenticator app: "
        for attempt in 1... {
            guard let code = try await TerminalInput.line(prompt), !code.isEmpty else {
                if canPush { return nil }
                throw CommandFailure("No code was given.")
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
