import DeviceAuthenticator
import Foundation

/// Verifies the user by a PIN, which is not shown while typing.
struct PINPrompt: UserVerifier {
    /// The minimum length of a PIN, in characters.
    static let shortest = 4

    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        let pin: String
        switch request.purpose {
        case .makeKey: pin = try await chosen()
        case .approve: pin = try await given("PIN (\(request.reason)): ")
        }
        return UserVerification(method: .pin, secret: Data(pin.utf8))
    }

    /// Asks for a new PIN. In a terminal it asks twice, because the user cannot see the PIN.
    private func chosen() async throws(UserVerificationFailure) -> String {
        for _ in 0..<3 {
            let pin = try await given("Choose a PIN of at least \(Self.shortest) characters: ")
            guard pin.count >= Self.shortest else {
                Terminal.note("The PIN is too short.")
                continue
            }
            guard TerminalInput.isInteractive else { return pin }
            guard try await given("The same PIN again: ") != pin else { return pin }
            Terminal.note("The two PINs differ.")
        }
        throw .failed
    }

    private func given(_ prompt: TerminalText) async throws(UserVerificationFailure) -> String {
        do {
            guard let pin = try await TerminalInput.line(prompt, isSecret: true), !pin.isEmpty else {
                throw UserVerificationFailure.cancelled
            }
            return pin
        } catch {
            // Includes the cancellation by Ctrl-C.
            throw .cancelled
        }
    }
}
