public import DeviceAuthenticator
internal import Foundation
public import Observation
internal import Wording

/// Verifies the person by a PIN, where the system has nothing better.
@Observable
@MainActor
public final class PINPrompt: UserVerifier {
    /// The prompt for the user.
    public struct Question: Sendable, Equatable {
        /// The purpose of the prompt.
        public let reason: String
        /// Whether a PIN is chosen, and not given.
        public let isNew: Bool
    }

    /// The fewest characters of a PIN.
    public static let shortest = 4

    /// The current prompt; `nil` for none.
    public private(set) var question: Question?
    /// The PIN that is typed.
    public var pin = ""
    /// Why it was not taken; nil if nothing is wrong.
    public private(set) var errorMessage: String?

    @ObservationIgnored private var answer: CheckedContinuation<String?, Never>?

    /// A prompt that asks nothing.
    public init() {}

    /// Whether the PIN can be sent.
    public var canSubmit: Bool { question != nil && !pin.isEmpty }

    /// Gives the PIN.
    public func submit() {
        guard let question, canSubmit else { return }
        guard !question.isNew || pin.count >= Self.shortest else {
            errorMessage = words("A PIN has at least %@ characters.", String(Self.shortest))
            return
        }
        finish(pin)
    }

    /// Gives none.
    public func cancel() { finish(nil) }

    private func finish(_ given: String?) {
        question = nil
        pin = ""
        errorMessage = nil
        answer?.resume(returning: given)
        answer = nil
    }

    /// Asks, and waits for the person.
    nonisolated public func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        guard let pin = await ask(request) else { throw .cancelled }
        return UserVerification(method: .pin, secret: Data(pin.utf8))
    }

    private func ask(_ request: UserVerificationRequest) async -> String? {
        // One prompt at a time: another one replaces an unanswered one.
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
