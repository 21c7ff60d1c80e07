internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension DeviceAuthenticatorError {
    /// The reason for an error, finer than its case. It is not an enum, because further reasons may be added.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The reason's name.
        public let rawValue: String

        /// Creates a reason from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The challenge has expired.
        public static let expired = Reason(rawValue: "expired")
        /// The challenge was already answered, here or on another device.
        public static let alreadyAnswered = Reason(rawValue: "alreadyAnswered")
        /// The app that requested the sign-in has cancelled it.
        public static let cancelled = Reason(rawValue: "cancelled")
        /// The challenge is not from the org or was modified.
        public static let untrustedChallenge = Reason(rawValue: "untrustedChallenge")
        /// The approval needs a number, but the app provided no number, or a number that is not among the choices.
        public static let numberNotPicked = Reason(rawValue: "numberNotPicked")
        /// The app released the consent step without an answer.
        public static let notAnswered = Reason(rawValue: "notAnswered")
        /// The enrollment, device or user was deleted on the server. The enrollment on this device is kept; the app decides whether to
        /// delete it.
        public static let enrollmentGone = Reason(rawValue: "enrollmentGone")
        /// The enrollment, device or user is suspended on the server.
        public static let enrollmentSuspended = Reason(rawValue: "enrollmentSuspended")
        /// The enrollment is not on this device.
        public static let enrollmentUnknown = Reason(rawValue: "enrollmentUnknown")
        /// A private key is missing or damaged.
        public static let keyMissing = Reason(rawValue: "keyMissing")
        /// The user cancelled the verification.
        public static let userVerificationCancelled = Reason(rawValue: "userVerificationCancelled")
        /// The user could not be verified.
        public static let userVerificationFailed = Reason(rawValue: "userVerificationFailed")
        /// The device has no means to verify the user.
        public static let userVerificationUnavailable = Reason(rawValue: "userVerificationUnavailable")
        /// The policy requires a user verification key.
        public static let userVerificationRequired = Reason(rawValue: "userVerificationRequired")
        /// No response was received from the server.
        public static let network = Reason(rawValue: "network")
        /// The access token is invalid.
        public static let tokenRefused = Reason(rawValue: "tokenRefused")
        /// The access token lacks the required scope.
        public static let notPermitted = Reason(rawValue: "notPermitted")
        /// The server does not know the challenge or resource.
        public static let notFound = Reason(rawValue: "notFound")
        /// A rate limit was reached.
        public static let tooManyRequests = Reason(rawValue: "tooManyRequests")
        /// The text is not an enrollment code, or the server rejected its ticket: expired, consumed, for another app, or of a sign-in that
        /// has ended.
        public static let enrollmentLinkRefused = Reason(rawValue: "enrollmentLinkRefused")
        /// The server rejected the request because this device's clock is wrong. The description contains the difference.
        public static let clockWrong = Reason(rawValue: "clockWrong")
        /// The device has not been unlocked since it started, so keys and enrollments cannot be read. They are unchanged; retry after the
        /// user has unlocked the device.
        public static let deviceLocked = Reason(rawValue: "deviceLocked")
        /// Stored data cannot be read or written.
        public static let storage = Reason(rawValue: "storage")
        /// Any other reason; see the description.
        public static let other = Reason(rawValue: "other")
    }

    /// The reason for the error. For a rejected challenge (400 `E0000001`), the member `reason` in `errorCauses` decides: `expired`,
    /// `answered` or `cancelled`. Without that member, the words of the cause's `errorSummary` decide.
    public var reason: Reason {
        switch self {
        case .serverAPIError(let result, let model): Self.reason(of: result, model)
        case .networkError: .network
        case .securityError(let error): Self.reason(of: error)
        case .storageError(.deviceLocked): .deviceLocked
        case .storageError(.itemNotFound): .enrollmentUnknown
        case .storageError: .storage
        case .genericError(let text): LocalFailure.reasons[text] ?? .other
        case .accountNotFoundForChallenge: .enrollmentUnknown
        case .internalError, .pushNotRecognized, .noVerificationMethodsToEnroll: .other
        }
    }

    private static func reason(of error: SecurityError) -> Reason {
        switch error {
        case .jwtError(LocalFailure.expiredText): .expired
        case .jwtError: .untrustedChallenge
        case .keyCorrupted: .keyMissing
        case .localAuthenticationCancelled: .userVerificationCancelled
        case .localAuthenticationFailed: .userVerificationFailed
        case .localAuthenticationPasscodeNotSet: .userVerificationUnavailable
        case .failedToSignPayload, .keyGenFailed, .generalEncryptionError, .jwkError, .dataEncryptionDecryptionError: .other
        }
    }

    private static func reason(of result: HTTPURLResult, _ model: ServerAPIErrorModel?) -> Reason {
        if let code = model?.errorCode {
            if code.isResourceDeleted { return .enrollmentGone }
            if code.isResourceSuspended { return .enrollmentSuspended }
            switch code {
            case .biometricKeyEnrollmentComplianceError: return .userVerificationRequired
            case .invalidToken: return .tokenRefused
            case .resourceNotFound: return .notFound
            case .unknown("E0000006"): return .notPermitted
            case .unknown("E0000047"): return .tooManyRequests
            case .unknown("E0000157"): return .alreadyAnswered
            default: break
            }
        }
        let causes = model?.errorCauses ?? []
        if let stated = causes.lazy.compactMap({ $0["reason"] }).compactMap({ statedReasons[$0] }).first { return stated }
        // A server that rejects the times of an answer says "expired" about the answer, not about the challenge.
        if result.error is DeviceClockError, [400, 401].contains(result.response?.statusCode) { return .clockWrong }
        let texts = causes.compactMap { $0["errorSummary"]?.lowercased() }
        if let worded = reasonWords.first(where: { word in texts.contains { $0.contains(word.0) } }) { return worded.1 }
        if let failure = result.error as? SecurityError { return reason(of: failure) }
        switch result.response?.statusCode {
        case 401: return .tokenRefused
        case 403: return .notPermitted
        case 404: return .notFound
        case 429: return .tooManyRequests
        default: return .other
        }
    }

    private static let statedReasons: [String: Reason] = [
        "expired": .expired, "answered": .alreadyAnswered, "cancelled": .cancelled,
    ]
    private static let reasonWords: [(String, Reason)] = [
        ("expired", .expired), ("cancelled", .cancelled), ("canceled", .cancelled), ("answered", .alreadyAnswered),
    ]
}

/// Failures that this module detects; ``DeviceAuthenticatorError/reason-swift.property`` recognizes them by their texts.
enum LocalFailure {
    /// The text that Okta's SDK uses.
    static let expiredText = "Push challenge expired"
    static let expired = DeviceAuthenticatorError.securityError(.jwtError(expiredText))
    static let notVerified = DeviceAuthenticatorError.securityError(.jwtError("JWT verification failed"))

    /// The text that Okta's SDK uses.
    static let possessionKeyMissing = "Can't find crypto factor silent key in secure storage"
    static let numberNotPicked =
        "This request is approved by picking the number that the sign-in shows. Offer the step's numberChoices, and approve with one of them."
    static let notAnswered = "The request was neither approved nor denied: the consent step was not completed. Resolve the challenge again."

    static let deviceLocked = "The device has not been unlocked since it started. Unlock it and try again."

    static let noEnrollmentLink =
        "That is no code of a sign-in page. Scan the picture that the page shows, or paste its whole address."
    static let enrollmentLinkRefused =
        "The code is too old, was used before, or is for another app. Let the sign-in page show another, and scan that."

    static let reasons: [String: DeviceAuthenticatorError.Reason] = [
        possessionKeyMissing: .keyMissing, numberNotPicked: .numberNotPicked, notAnswered: .notAnswered,
        noEnrollmentLink: .enrollmentLinkRefused, enrollmentLinkRefused: .enrollmentLinkRefused,
    ]
}
