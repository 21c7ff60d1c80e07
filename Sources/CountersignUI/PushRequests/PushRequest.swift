internal import DeviceAuthenticator
public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A pending request for the user's approval. The details are those that the organization has signed.
public struct PushRequest: Sendable, Equatable, Identifiable {
    /// The id of a request, which is the same in a push and in a fetched request. Organizations choose the ids of their requests, so the id
    /// of the enrollment is a part of it.
    public struct ID: Sendable, Hashable {
        /// The id of the enrollment that the request is for.
        public let enrollmentID: String
        /// The id of the request at its organization.
        public let transactionID: String

        init(_ challenge: PushChallenge) {
            enrollmentID = challenge.enrollmentId
            transactionID = challenge.transactionId
        }
    }

    /// The id of the request.
    public let id: ID
    /// The host of the account's organization; `nil` if unknown. Two accounts can have the same user name.
    public let organization: String?
    /// The name of the user; `nil` if unknown.
    public let userName: String?
    /// The name of the app that the user signs in to; `nil` if unknown or until the request is verified.
    public let application: String?
    /// The location of the sign-in; `nil` if unknown or until the request is verified.
    public let place: String?
    /// The operating system of the sign-in; `nil` if unknown or until the request is verified.
    public let system: String?
    /// The message of a request without a sign-in (CIBA); `nil` for a sign-in.
    public let message: String?
    /// Whether this is a request without a sign-in (CIBA).
    public let isBackchannel: Bool
    /// The numbers of a number challenge; `nil` without one. The user approves with the number that the sign-in shows.
    public let numbers: [String]?
    /// The time at which the request was made.
    public let time: Date
    /// The time at which the request expires.
    public let expiresAt: Date
    /// Whether the signature of the request is verified.
    public let isVerified: Bool

    /// The id of the enrollment that the request is for.
    public var enrollmentID: String { id.enrollmentID }

    init(_ challenge: PushChallenge, of enrollment: (any AuthenticatorEnrollmentProtocol)?) {
        id = ID(challenge)
        organization = enrollment?.organization.url.host()
        userName = enrollment?.user.name
        application = challenge.appInstanceName
        place = challenge.clientLocation
        system = challenge.clientOS
        message = challenge.cibaBindingMessage
        isBackchannel = challenge.isCIBA
        numbers = challenge.numberChoices
        time = challenge.transactionTime
        expiresAt = challenge.expirationTime
        isVerified = challenge.isVerified
    }
}

/// The result of an answered request. Later versions may add results.
public struct PushRequestOutcome: RawRepresentable, Hashable, Sendable {
    /// The name of the result.
    public let rawValue: String

    /// Creates a result from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The user approved the request.
    public static let approved = PushRequestOutcome(rawValue: "approved")
    /// The user approved the request, but could not be verified. The organization is notified.
    public static let approvedUnverified = PushRequestOutcome(rawValue: "approvedUnverified")
    /// The user denied the request.
    public static let denied = PushRequestOutcome(rawValue: "denied")
    /// The user denied the request and reported it as suspicious.
    public static let reported = PushRequestOutcome(rawValue: "reported")
}

/// A problem with requests, with a text from `SignInTexts.message(for:)`. Two problems are equal if their codes are equal.
public struct PushRequestProblem: Sendable, Equatable {
    /// The kind of a problem. Later versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request was answered, such as with a wrong number, has expired or was cancelled.
        public static let over = Code(rawValue: "over")
        /// The user cancelled the verification or could not be verified. The request is no longer pending.
        public static let userNotVerified = Code(rawValue: "userNotVerified")
        /// The organization requires user verification, and the account has no key for it.
        public static let verificationMissing = Code(rawValue: "verificationMissing")
        /// The request is not from the organization.
        public static let untrusted = Code(rawValue: "untrusted")
        /// The account is not on this device, or the organization has removed or suspended it.
        public static let accountUnusable = Code(rawValue: "accountUnusable")
        /// The server cannot be reached. The request stays pending.
        public static let offline = Code(rawValue: "offline")
        /// Another failure, such as one of the server; see ``PushRequestProblem/underlying``. The request stays pending.
        public static let failed = Code(rawValue: "failed")
    }

    /// The kind of the problem.
    public let code: Code

    /// The error that caused the problem, for logs; `nil` for none.
    public let underlying: (any Error)?

    /// Creates a problem.
    public init(_ code: Code, underlying: (any Error)? = nil) {
        self.code = code
        self.underlying = underlying
    }

    /// - Parameter hasNumber: Whether the user picked a number. The server ends a request after a wrong number, and states no reason.
    init(_ error: any Error, hasNumber: Bool = false) {
        let code: Code =
            switch (error as? DeviceAuthenticatorError)?.reason {
            // The server has not processed the answer, so not even a failed user verification ends the request.
            case .some where Self.isServerFailure(error): .failed
            case .expired, .alreadyAnswered, .cancelled, .notFound: .over
            case .userVerificationCancelled, .userVerificationFailed, .userVerificationUnavailable: .userNotVerified
            case .userVerificationRequired: .verificationMissing
            case .untrustedChallenge: .untrusted
            case .enrollmentGone, .enrollmentSuspended, .enrollmentUnknown, .keyMissing: .accountUnusable
            case .network: .offline
            case .other where hasNumber && Self.isRejected(error): .over
            case nil where error is SecurityError: .untrusted
            default: .failed
            }
        self.init(code, underlying: error)
    }

    /// Whether the server rejected the content of an answer.
    private static func isRejected(_ error: any Error) -> Bool { status(of: error) == 400 }

    /// Whether the server failed or had too many requests.
    private static func isServerFailure(_ error: any Error) -> Bool { status(of: error).map { $0 >= 500 || $0 == 429 } ?? false }

    private static func status(of error: any Error) -> Int? {
        guard case .serverAPIError(let result, _)? = error as? DeviceAuthenticatorError else { return nil }
        return result.response?.statusCode
    }

    /// Whether the request is over. After any other error, the user can answer it again.
    var endsRequest: Bool { [.over, .userNotVerified, .verificationMissing, .untrusted, .accountUnusable].contains(code) }

    /// Whether the codes are equal.
    public static func == (left: PushRequestProblem, right: PushRequestProblem) -> Bool { left.code == right.code }
}
