package import Foundation

/// A question that was sent to a person's devices, and what came of it; a part of a ``SignInTransaction``.
///
/// Each enrolled device has a target of its own, with its own id and nonce; the first final answer decides for all of them.
package struct PushChallenge: Sendable, Equatable, Codable {
    /// What one device was asked.
    package struct Target: Sendable, Equatable, Codable {
        /// `ft` and 17 characters: the `transactionId` of the challenge, the last part of its verification URI.
        package var id: String
        package var enrollmentID: String
        /// The push method's id.
        package var methodID: String
        /// Echoed by the answer.
        package var nonce: String
        var userVerification: UserVerification
        /// What an approval by this device adds to `amr`.
        var methods: [String]
    }

    /// Whether the person must unlock a key to approve.
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

    /// The numbers to choose from, two digits each, and the one that the app shows.
    package struct Numbers: Sendable, Equatable, Codable {
        var choices: [String]
        package var right: String
    }

    /// What the person is told about who asks.
    struct Origin: Sendable, Equatable, Codable {
        var applicationName: String
        /// Such as `MAC_OS_X`, from the client's `User-Agent`.
        var clientOS: String?
        /// The address that the request came from.
        var clientLocation: String?
    }

    /// Why an answer comes too late.
    package enum Lateness: Sendable, Equatable {
        case expired, answered, cancelled, replaced

        /// The word for a program: `expired`, `answered` or `cancelled`.
        package var word: String {
            switch self {
            case .expired: "expired"
            case .answered: "answered"
            case .cancelled, .replaced: "cancelled"
            }
        }

        /// The sentence for a person.
        package var text: String {
            switch self {
            case .expired: "The challenge has expired."
            case .answered: "The challenge was answered before."
            case .cancelled: "The sign-in was cancelled."
            case .replaced: "The challenge was replaced by a newer one."
            }
        }
    }

    /// Where it stands. One transition only.
    package enum State: Sendable, Equatable, Codable {
        case pending
        case approved(targetID: String, userVerified: Bool, methods: [String], at: Date)
        case denied(targetID: String, isSuspicious: Bool, at: Date)
        /// An approval that proves nothing: the person gave up verifying, or picked another number.
        case failed(targetID: String, reason: String, at: Date)
    }

    package var transactionType: PushMethod.TransactionType
    package var targets: [Target]
    /// What the person is asked to confirm; CIBA only.
    var bindingMessage: String?
    package var numbers: Numbers?
    var origin: Origin
    /// The proof behind the request; `nil` in records of earlier versions.
    var asker: Asker?
    /// The origin that started the sign-in; `nil` if the origin proves nothing, and in records of earlier versions.
    var askedFrom: RequestOrigin?
    /// What an approval makes known as a place that the person signs in from; nil for none.
    var fingerprint: String?
    package var createdAt: Date
    package var expiresAt: Date
    package var state = State.pending

    /// The target whose device approved; nil as long as none did.
    package var approver: Target? {
        guard case .approved(let id, _, _, _) = state else { return nil }
        return targets.first { $0.id == id }
    }

    /// Whether a device can still answer.
    package func isOpen(at now: Date) -> Bool { state == .pending && now < expiresAt }
}
