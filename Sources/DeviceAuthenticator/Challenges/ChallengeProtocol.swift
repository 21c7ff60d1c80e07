public import Foundation

/// A request for approval. Safe from any thread.
public protocol ChallengeProtocol: Sendable {
    /// The id of the request: the same for a push and for the same challenge pulled. Compare it to find duplicates.
    var transactionId: String { get }
    /// The org that asks.
    var originURL: URL? { get }
    /// When the request was made.
    var transactionTime: Date { get }
    /// The app that is being signed in to.
    var appInstanceName: String? { get }

    /// Verifies the challenge, asks the app what it needs to know, and sends the answer.
    ///
    /// - Parameters:
    ///   - onRemediation: Is called with each ``RemediationStep``, not on the main queue.
    ///   - onCompletion: Is called once, not on the main queue: with nil if an answer was delivered, be it approval or denial.
    @preconcurrency
    func resolve(
        onRemediation: @escaping @Sendable (RemediationStep) -> Void, onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Verifies the challenge, asks the app what it needs to know, and sends the answer.
    ///
    /// - Parameter onRemediation: Is called with each ``RemediationStep``, not on the main queue.
    /// - Throws: ``DeviceAuthenticatorError``; `CancellationError` if the task was cancelled, which ends the wait for the consent step too.
    func resolve(onRemediation: @escaping @Sendable (RemediationStep) -> Void) async throws
}

extension ChallengeProtocol {
    /// The spelling of the older documentation.
    @preconcurrency
    public func resolve(
        onRemediationStep: @escaping @Sendable (RemediationStep) -> Void,
        onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        resolve(onRemediation: onRemediationStep, onCompletion: onCompletion)
    }

    /// The spelling of the older documentation.
    public func resolve(onRemediationStep: @escaping @Sendable (RemediationStep) -> Void) async throws {
        try await resolve(onRemediation: onRemediationStep)
    }

    /// For types of the app's own that have the callback form only.
    public func resolve(onRemediation: @escaping @Sendable (RemediationStep) -> Void) async throws {
        try await Callback.value { completion in
            resolve(onRemediation: onRemediation) { error in completion(error.map(Result.failure) ?? .success(())) }
        }
    }
}

/// A challenge that a push, or the list of pending ones, brought.
public protocol PushChallengeProtocol: ChallengeProtocol {
    /// Where the sign-in was started.
    var clientLocation: String? { get }
    /// What system the sign-in was started on.
    var clientOS: String? { get }
    /// The person's answer. If it is set before the challenge is resolved, the consent step is left out.
    var userResponse: PushChallengeUserResponse { get set }
}

/// A challenge that may come from a backchannel request.
public protocol CIBAChallengeProtocol: PushChallengeProtocol {
    /// The text that the requesting app shows too; nil for a sign-in.
    var cibaBindingMessage: String? { get }
}

/// The person's answer to a challenge.
public enum PushChallengeUserResponse: Sendable {
    /// None yet.
    case userNotResponded
    /// Yes.
    case userApproved
    /// No.
    case userDenied
}

/// The kinds of request that an enrollment answers.
public struct TransactionType: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Kinds of bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Whether CIBA is among them.
    public var supportsCIBA: Bool { contains(.ciba) }

    /// Sign-ins.
    public static let login = TransactionType(rawValue: 1)
    /// Backchannel requests.
    public static let ciba = TransactionType(rawValue: 2)

    /// The names on the wire.
    var names: [String] { (contains(.login) ? ["LOGIN"] : []) + (contains(.ciba) ? ["CIBA"] : []) }
}

/// Whether a challenge asks for user verification.
public enum UserVerificationChallengeRequirement: String, Sendable {
    /// Not at all.
    case none
    /// Better not.
    case discouraged
    /// If there is a key for it.
    case preferred
    /// Always.
    case required
    /// Another value.
    case unknown

    /// Reads the value of a challenge.
    ///
    /// - Parameter rawValue: `NONE`, `DISCOURAGED`, `PREFERRED` or `REQUIRED`; anything else is ``unknown``.
    public init(rawValue: String) {
        switch rawValue {
        case "NONE": self = .none
        case "DISCOURAGED": self = .discouraged
        case "PREFERRED": self = .preferred
        case "REQUIRED": self = .required
        default: self = .unknown
        }
    }
}

/// Whether a challenge asks for an interaction.
public enum _UserMediationType: String, Sendable {
    /// Not at all.
    case none
    /// If need be.
    case optional
    /// Always.
    case required
    /// Another value.
    case unknown

    /// Reads the value of a challenge.
    ///
    /// - Parameter rawValue: `NONE`, `OPTIONAL` or `REQUIRED`; anything else is ``unknown``.
    public init(rawValue: String) {
        switch rawValue {
        case "NONE": self = .none
        case "OPTIONAL": self = .optional
        case "REQUIRED": self = .required
        default: self = .unknown
        }
    }
}
