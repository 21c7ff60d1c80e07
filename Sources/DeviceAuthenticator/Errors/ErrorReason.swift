internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension DeviceAuthenticatorError {
    /// Why something failed, finer than the case: what an app decides by.
    ///
    /// Further reasons may come, which is why this is no enum.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The reason's name.
        public let rawValue: String

        /// A reason by its name.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The challenge has expired, by this device's clock or by the server's.
        public static let expired = Reason(rawValue: "expired")
        /// The challenge was answered before, here or on another device.
        public static let alreadyAnswered = Reason(rawValue: "alreadyAnswered")
        /// The app that wanted to sign in has given up.
        public static let cancelled = Reason(rawValue: "cancelled")
        /// The challenge is not one of the org's, or was changed.
        public static let untrustedChallenge = Reason(rawValue: "untrustedChallenge")
        /// A number has to be picked to approve, and none was, or one that is not among the choices.
        public static let numberNotPicked = Reason(rawValue: "numberNotPicked")
        /// The consent step was given up without an answer.
        public static let notAnswered = Reason(rawValue: "notAnswered")
        /// Enrollment, device or user are gone on the server. The local copy is kept: the app decides.
        public static let enrollmentGone = Reason(rawValue: "enrollmentGone")
        /// Enrollment, device or user are suspended on the server.
        public static let enrollmentSuspended = Reason(rawValue: "enrollmentSuspended")
        /// The enrollment is not on this device.
        public static let enrollmentUnknown = Reason(rawValue: "enrollmentUnknown")
        /// A private key is gone or damaged.
        public static let keyMissing = Reason(rawValue: "keyMissing")
        /// The person cancelled the verification.
        public static let userVerificationCancelled = Reason(rawValue: "userVerificationCancelled")
        /// The person could not be verified.
        public static let userVerificationFailed = Reason(rawValue: "userVerificationFailed")
        /// The device has nothing to verify the person with.
        public static let userVerificationUnavailable = Reason(rawValue: "userVerificationUnavailable")
        /// The policy asks for a user verification key.
        public static let userVerificationRequired = Reason(rawValue: "userVerificationRequired")
        /// No answer came from the server.
        public static let network = Reason(rawValue: "network")
        /// The access token is not valid.
        public static let tokenRefused = Reason(rawValue: "tokenRefused")
        /// The access token lacks the scope.
        public static let notPermitted = Reason(rawValue: "notPermitted")
        /// The server does not know the challenge or resource.
        public static let notFound = Reason(rawValue: "notFound")
        /// The server asks to wait.
        public static let tooManyRequests = Reason(rawValue: "tooManyRequests")
        /// The QR code of a sign-in page is none, too old, used, another app's, or of a sign-in that is over.
        public static let enrollmentLinkRefused = Reason(rawValue: "enrollmentLinkRefused")
        /// The server refused the request because this device's clock is wrong. The text says by how much.
        public static let clockWrong = Reason(rawValue: "clockWrong")
        /// Stored data can't be read or written.
        public static let storage = Reason(rawValue: "storage")
        /// Anything else; the text says more.
        public static let other = Reason(rawValue: "other")
    }

    /// Why it failed.
    ///
    /// Of a server's refusal of a challenge (400 `E0000001`), the member `reason` of one of the `errorCauses` tells: `expired`, `answered`
    /// or `cancelled`; of a server that has no such member, the words of the cause's `errorSummary`.
    public var reason: Reason {
        switch self {
        case .serverAPIError(let result, let model): Self.reason(of: result, model)
        case .networkError: .network
        case .securityError(let error): Self.reason(of: error)
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
        let texts = causes.compactMap { $0["errorSummary"]?.lowercased() }
        if let worded = reasonWords.first(where: { word in texts.contains { $0.contains(word.0) } }) { return worded.1 }
        if let failure = result.error as? SecurityError { return reason(of: failure) }
        if result.error is DeviceClockError, [400, 401].contains(result.response?.statusCode) { return .clockWrong }
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

/// Failures that this module itself finds, with the texts by which ``DeviceAuthenticatorError/reason-swift.property`` knows them.
enum LocalFailure {
    /// Published text.
    static let expiredText = "Push challenge expired"
    static let expired = DeviceAuthenticatorError.securityError(.jwtError(expiredText))
    static let notVerified = DeviceAuthenticatorError.securityError(.jwtError("JWT verification failed"))

    /// Published text.
    static let possessionKeyMissing = "Can't find crypto factor silent key in secure storage"
    static let numberNotPicked =
        "This request is approved by picking the number that the sign-in shows. Offer the step's numberChoices, and approve with one of them."
    static let notAnswered = "The request was neither approved nor denied: the consent step was given up. Resolve the challenge again."

    static let noEnrollmentLink =
        "That is no code of a sign-in page. Scan the picture that the page shows, or paste its whole address."
    static let enrollmentLinkRefused =
        "The code is too old, was used before, or is for another app. Let the sign-in page show another, and scan that."

    static let reasons: [String: DeviceAuthenticatorError.Reason] = [
        possessionKeyMissing: .keyMissing, numberNotPicked: .numberNotPicked, notAnswered: .notAnswered,
        noEnrollmentLink: .enrollmentLinkRefused, enrollmentLinkRefused: .enrollmentLinkRefused,
    ]
}
