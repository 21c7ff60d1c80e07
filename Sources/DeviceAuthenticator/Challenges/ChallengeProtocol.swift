public import Foundation

/// A request for the user's approval. Safe from any thread.
public protocol ChallengeProtocol: Sendable {
    /// The id of the request. A push and a pulled challenge of the same request have the same id, so compare ids to find duplicates.
    var transactionId: String { get }
    /// The URL of the issuer that sent the request; `nil` if unknown.
    var originURL: URL? { get }
    /// The time at which the request was created.
    var transactionTime: Date { get }
    /// The name of the app that the user signs in to; `nil` if unknown.
    var appInstanceName: String? { get }

    /// Verifies the challenge, asks the app for the user's answer if needed, and sends the answer. Calls neither handler on the main queue.
    /// - Parameters:
    ///   - onRemediation: Called with each ``RemediationStep``.
    ///   - onCompletion: Called once, with `nil` if the answer was delivered, whether approval or denial.
    @preconcurrency
    func resolve(
        onRemediation: @escaping @Sendable (RemediationStep) -> Void, onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void)

    /// Verifies the challenge, asks the app for the user's answer if needed, and sends the answer.
    /// - Parameter onRemediation: Called with each ``RemediationStep``, not on the main queue.
    /// - Throws: ``DeviceAuthenticatorError``; `CancellationError` if the task was cancelled, which also ends the wait for the consent
    ///   step.
    func resolve(onRemediation: @escaping @Sendable (RemediationStep) -> Void) async throws
}

extension ChallengeProtocol {
    /// The same as `resolve(onRemediation:onCompletion:)`, with the name from Okta's older documentation.
    @preconcurrency
    public func resolve(
        onRemediationStep: @escaping @Sendable (RemediationStep) -> Void,
        onCompletion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        resolve(onRemediation: onRemediationStep, onCompletion: onCompletion)
    }

    /// The same as `resolve(onRemediation:)`, with the name from Okta's older documentation.
    public func resolve(onRemediationStep: @escaping @Sendable (RemediationStep) -> Void) async throws {
        try await resolve(onRemediation: onRemediationStep)
    }

    /// Calls the callback form and waits for its result, for an app's own types that implement only the callback form.
    public func resolve(onRemediation: @escaping @Sendable (RemediationStep) -> Void) async throws {
        try await Callback.value { completion in
            resolve(onRemediation: onRemediation) { error in completion(error.map(Result.failure) ?? .success(())) }
        }
    }
}

/// A challenge that was received by push or pulled from the server.
public protocol PushChallengeProtocol: ChallengeProtocol {
    /// The location where the sign-in was started; `nil` if unknown.
    var clientLocation: String? { get }
    /// The operating system on which the sign-in was started; `nil` if unknown.
    var clientOS: String? { get }
    /// The user's answer. If it is set before the challenge is resolved, the consent step is skipped.
    var userResponse: PushChallengeUserResponse { get set }
}

/// A challenge that may come from a backchannel request (CIBA).
public protocol CIBAChallengeProtocol: PushChallengeProtocol {
    /// The message that the requesting app also shows; `nil` for a sign-in.
    var cibaBindingMessage: String? { get }
}

/// The user's answer to a challenge.
public enum PushChallengeUserResponse: Sendable {
    /// The user has not answered yet.
    case userNotResponded
    /// The user approved the request.
    case userApproved
    /// The user denied the request.
    case userDenied
}

/// The kinds of request that an enrollment accepts.
public struct TransactionType: OptionSet, Sendable, Hashable {
    /// The set as a bit mask.
    public let rawValue: Int

    /// Creates a set from a bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Whether the set contains ``ciba``.
    public var supportsCIBA: Bool { contains(.ciba) }

    /// Sign-ins.
    public static let login = TransactionType(rawValue: 1)
    /// Backchannel requests (CIBA).
    public static let ciba = TransactionType(rawValue: 2)

    /// The names in the protocol.
    var names: [String] { (contains(.login) ? ["LOGIN"] : []) + (contains(.ciba) ? ["CIBA"] : []) }
}

/// A challenge's requirement for user verification.
public enum UserVerificationChallengeRequirement: String, Sendable {
    /// Not requested.
    case none
    /// Not wanted.
    case discouraged
    /// Wanted if the enrollment has a user verification key.
    case preferred
    /// Always required.
    case required
    /// A value that this module does not know.
    case unknown

    /// Parses `NONE`, `DISCOURAGED`, `PREFERRED` or `REQUIRED`; any other value is ``unknown``.
    public init(rawValue: String) {
        self =
            ["NONE": Self.none, "DISCOURAGED": Self.discouraged, "PREFERRED": Self.preferred, "REQUIRED": Self.required][rawValue]
            ?? .unknown
    }
}

/// A challenge's requirement for user interaction.
public enum _UserMediationType: String, Sendable {
    /// No interaction.
    case none
    /// Interaction if necessary.
    case optional
    /// Interaction is required.
    case required
    /// A value that this module does not know.
    case unknown

    /// Parses `NONE`, `OPTIONAL` or `REQUIRED`; any other value is ``unknown``.
    public init(rawValue: String) {
        self = ["NONE": Self.none, "OPTIONAL": Self.optional, "REQUIRED": Self.required][rawValue] ?? .unknown
    }
}
