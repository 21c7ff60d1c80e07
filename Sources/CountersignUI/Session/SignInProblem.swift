internal import AuthFoundation
internal import BrowserSignin
internal import Foundation
internal import OktaDirectAuth

/// A problem that the screen shows, with a text from `SignInTexts.message(for:)`. Two problems are equal if their codes are equal.
public struct SignInProblem: Sendable, Equatable {
    /// The kind of a problem. Later versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The user name or the password is wrong, or the account is locked. Servers do not tell these apart.
        public static let wrongCredentials = Code(rawValue: "wrongCredentials")
        /// The code is wrong or has expired. The user can enter another one.
        public static let wrongCode = Code(rawValue: "wrongCode")
        /// The user or the app has tried too often. Wait, then start again.
        public static let tooManyAttempts = Code(rawValue: "tooManyAttempts")
        /// The user denied the request on the other device.
        public static let denied = Code(rawValue: "denied")
        /// The user did not answer the request on the other device in time.
        public static let notAnswered = Code(rawValue: "notAnswered")
        /// A policy refuses the sign-in, or the user must set up a second factor first.
        public static let notAllowed = Code(rawValue: "notAllowed")
        /// The user cannot use this factor.
        public static let factorUnavailable = Code(rawValue: "factorUnavailable")
        /// The sign-in took too long and must start again.
        public static let tooLate = Code(rawValue: "tooLate")
        /// There is no passkey for the account on this device.
        public static let noPasskey = Code(rawValue: "noPasskey")
        /// The passkey could not be used, or the server refused it.
        public static let passkeyFailed = Code(rawValue: "passkeyFailed")
        /// The browser session failed.
        public static let browserFailed = Code(rawValue: "browserFailed")
        /// The server requires a step for which the app has no screen.
        public static let unsupportedStep = Code(rawValue: "unsupportedStep")
        /// The server cannot be reached.
        public static let offline = Code(rawValue: "offline")
        /// The server failed.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// The settings of the app or of its client at the server are wrong. ``SignInProblem/underlying`` says which.
        public static let misconfigured = Code(rawValue: "misconfigured")
        /// The user was not verified, so the session stays locked.
        public static let notUnlocked = Code(rawValue: "notUnlocked")
        /// The storage of the device cannot be used.
        public static let storageFailed = Code(rawValue: "storageFailed")
        /// Another failure; see ``SignInProblem/underlying``.
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

    /// Whether the codes are equal.
    public static func == (left: SignInProblem, right: SignInProblem) -> Bool { left.code == right.code }
}

/// The error of a step that ends with a problem of its own.
struct SignInFailure: Error {
    let problem: SignInProblem

    init(_ code: SignInProblem.Code, underlying: (any Error)? = nil) { problem = SignInProblem(code, underlying: underlying) }
}

extension SignInProblem {
    /// Creates the problem of an error at a step; `nil` if the user cancelled a sheet.
    init?(_ error: any Error, at step: SignInStep.Kind) {
        switch error {
        case let failure as SignInFailure: self = failure.problem
        case PasskeyError.cancelled, BrowserSigninError.userCancelledLogin: return nil
        case PasskeyError.noPasskey: self.init(.noPasskey, underlying: error)
        case is PasskeyError: self.init(.passkeyFailed, underlying: error)
        case is OAuth2Client.PropertyListConfigurationError: self.init(.misconfigured, underlying: error)
        case is VaultError, is KeychainError, is TokenError: self.init(.storageFailed, underlying: error)
        case BrowserSigninError.serverError(let refusal): self.init(refusal, at: step)
        case let error as BrowserSigninError: self.init(.browserFailed, underlying: error)
        default: self.init(DirectAuthenticationFlowError(error), at: step)
        }
    }

    private init(_ error: DirectAuthenticationFlowError, at step: SignInStep.Kind) {
        switch error {
        case .server(let refusal): self.init(refusal, at: step)
        case .network(let failure): self.init(failure)
        case .pollingTimeoutExceeded: self.init(.notAnswered, underlying: error)
        case .flowNotStarted, .inconsistentContextState, .missingArguments: self.init(.tooLate, underlying: error)
        case .invalidContinuationContext, .bindingCodeMissing: self.init(.unsupportedStep, underlying: error)
        case .oauth2(.redirectUriRequired), .oauth2(.missingOpenIdConfiguration): self.init(.misconfigured, underlying: error)
        case .oauth2, .other: self.init(.failed, underlying: error)
        }
    }

    private init(_ failure: APIClientError) {
        switch failure {
        case _ where !failure.isTransient: self.init(.failed, underlying: failure)
        case .statusCode(429): self.init(.tooManyAttempts, underlying: failure)
        case .httpError(let error as OktaAPIError) where error.statusCode.map { $0 < 500 } ?? true:
            self.init(.tooManyAttempts, underlying: failure)
        case .statusCode, .httpError(is OktaAPIError): self.init(.serverFailed, underlying: failure)
        default: self.init(.offline, underlying: failure)
        }
    }

    private init(_ refusal: OAuth2ServerError, at step: SignInStep.Kind) {
        let code: Code =
            switch (refusal.code, step) {
            case _ where refusal.statusCode == 429: .tooManyAttempts
            case _ where refusal.statusCode.map { $0 >= 500 } ?? false: .serverFailed
            case (.invalidGrant, .code), (.invalidOTP, _): .wrongCode
            case (.invalidGrant, .passkey): .passkeyFailed
            case (.invalidGrant, .credentials): .wrongCredentials
            case (.invalidGrant, _): .tooLate
            // The server refuses to start the factor, or its request was denied on the other device.
            case (.accessDenied, _) where refusal.statusCode == 403: .factorUnavailable
            case (.accessDenied, .push), (.oobRejected, _): .denied
            case (.accessDenied, .factors), (.accessDenied, .code): .tooLate
            case (.accessDenied, _): .notAllowed
            case (.expiredToken, _): .notAnswered
            case (.serverError, _), (.temporarilyUnavailable, _): .serverFailed
            case (.invalidClient, _), (.invalidRequest, _), (.invalidScope, _), (.unauthorizedClient, _): .misconfigured
            default: .failed
            }
        self.init(code, underlying: refusal)
    }
}
