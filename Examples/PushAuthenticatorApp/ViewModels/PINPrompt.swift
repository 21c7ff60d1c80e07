public import DeviceAuthenticator
internal import Foundation
public import Observation
internal import Wording

/// A verifier that asks the user for a PIN, for systems without a better method.
@Observable
@MainActor
public final class PINPrompt: UserVerifier {
    /// The prompt for the user.
    public struct Question: Sendable, Equatable {
        /// The purpose of the prompt.
        public let reason: String
        /// Whether the user chooses a new PIN.
        public let isNew: Bool
    }

    /// The minimum length of a PIN.
    public static let shortest = 4

    /// The current prompt; `nil` for none.
    public private(set) var question: Question?
    /// The typed PIN.
    public var pin = ""
    /// The reason why the PIN was rejected; `nil` if no PIN was rejected.
    public private(set) var errorMessage: String?

    @ObservationIgnored private var answer: CheckedContinuation<String?, Never>?

    /// Creates a prompt that does not ask yet.
    public init() {}

    /// Whether the prompt is open and a PIN was typed.
    public var canSubmit: Bool { question != nil && !pin.isEmpty }

    /// Submits the PIN.
    public func submit() {
        guard let question, canSubmit else { return }
        guard !question.isNew || pin.count >= Self.shortest else {
            errorMessage = words("A PIN has at least %@ characters.", String(Self.shortest))
            return
        }
        finish(pin)
    }

    /// Cancels the prompt.
    public func cancel() { finish(nil) }

    private func finish(_ given: String?) {
        question = nil
        pin = ""
        errorMessage = nil
        answer?.resume(returning: given)
        answer = nil
    }

    /// Shows the prompt, and waits for the user. Throws `cancelled` if the user cancels the prompt or the task is cancelled.
    nonisolated public func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        guard let pin = await ask(request) else { throw .cancelled }
        return UserVerification(method: .pin, secret: Data(pin.utf8))
    }

    private func ask(_ request: UserVerificationRequest) async -> String? {
        // Only one prompt is open at a time. A new prompt cancels an unanswered prompt.
        cancel()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else { return continuation.resume(returning: nil) }
                answer = continuation
                question = Question(reason: request.reason, isNew: request.purpose == .makeKey)
            }
        } onCancel: {
            Task { @MainActor in self.cancel() }
        }
    }
}
