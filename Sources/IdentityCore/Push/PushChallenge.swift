package import Foundation

/// A challenge that was sent to the user's devices, and its result; a part of a ``SignInTransaction``. Each enrolled device has a target
/// with its own id and nonce. The first final response decides for all targets.
package struct PushChallenge: Sendable, Equatable, Codable {
    /// The challenge for one device.
    package struct Target: Sendable, Equatable, Codable {
        /// The target's id: `ft` and 17 characters. It is the `transactionId` of the challenge and part of its verification URI.
        package var id: String
        package var enrollmentID: String
        package var methodID: String
        /// The random value that the response must repeat.
        package var nonce: String
        var userVerification: UserVerification
        /// The `amr` values that an approval by this device adds.
        var methods: [String]
    }

    /// The rule for unlocking a key to approve the challenge.
    enum UserVerification: String, Sendable, Codable {
        case discouraged = "DISCOURAGED"
        case preferred = "PREFERRED"
        case required = "REQUIRED"
    }

    /// The proof behind a push request; each kind has its own limits.
    enum Asker: String, Sendable, Codable {
        /// A factor was proved before, or an authenticated client sent a back-channel request.
        case entitled
        /// Nothing was proved, but the user has signed in with the device or browser before, by more than the password.
        case knownOrigin
        /// Nothing was proved, but the user has signed in from the network before. Other people may share the network.
        case knownNetwork
        /// Nothing was proved: every caller that knows the user name can send such a request.
        case stranger
    }

    /// The two-digit numbers from which the user chooses on the device, and the correct one, which the application shows.
    package struct Numbers: Sendable, Equatable, Codable {
        var choices: [String]
        package var right: String
    }

    /// The origin of the request, as the device shows it to the user.
    struct Origin: Sendable, Equatable, Codable {
        var applicationName: String
        /// The operating system from the client's `User-Agent`, for example `MAC_OS_X`; `nil` if unknown.
        var clientOS: String?
        /// The IP address of the request; `nil` if unknown.
        var clientLocation: String?
    }

    /// The reason why a response is too late.
    package enum Lateness: Sendable, Equatable {
        case expired, answered, cancelled, replaced

        /// The code for programs: `expired`, `answered` or `cancelled`.
        package var word: String {
            switch self {
            case .expired: "expired"
            case .answered: "answered"
            case .cancelled, .replaced: "cancelled"
            }
        }

        /// The sentence for the user.
        package var text: String {
            switch self {
            case .expired: "The challenge has expired."
            case .answered: "The challenge was answered before."
            case .cancelled: "The sign-in was cancelled."
            case .replaced: "The challenge was replaced by a newer one."
            }
        }
    }

    /// The state of the challenge, which changes only once.
    package enum State: Sendable, Equatable, Codable {
        case pending
        case approved(targetID: String, userVerified: Bool, methods: [String], at: Date)
        case denied(targetID: String, isSuspicious: Bool, at: Date)
        /// The challenge ended without a proof: the user did not unlock the key, or picked a wrong number.
        case failed(targetID: String, reason: String, at: Date)
    }

    package var transactionType: PushMethod.TransactionType
    package var targets: [Target]
    /// The text that the user confirms; `nil` except for CIBA.
    var bindingMessage: String?
    package var numbers: Numbers?
    var origin: Origin
    /// The proof behind the request; `nil` in records of earlier versions.
    var asker: Asker?
    /// The origin that started the sign-in; `nil` for a back-channel request, and in records of earlier versions.
    var askedFrom: RequestOrigin?
    /// The origin that an approval adds to the user's known origins; `nil` for none.
    var fingerprint: String?
    package var createdAt: Date
    package var expiresAt: Date
    package var state = State.pending

    /// The target whose device approved the challenge; `nil` without an approval.
    package var approver: Target? {
        guard case .approved(let id, _, _, _) = state else { return nil }
        return targets.first { $0.id == id }
    }

    /// Whether a device can still respond.
    package func isOpen(at now: Date) -> Bool { state == .pending && now < expiresAt }
}
