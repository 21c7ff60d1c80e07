/// The part of a sign-in that the server rejected. `invalid_grant` means something different to the user in each part.
package enum SignInPart: Sendable, Hashable {
    /// The user name and the password.
    case password
    /// A one-time code.
    case code
    /// A passkey.
    case passkey
    /// The refresh of a session.
    case session
    /// Any other part, such as an authorization code.
    case other

    /// Reads the parameters of a request. Returns `nil` if it is not a token request.
    init?(parameters: [String: any APIRequestArgument]?) {
        guard let parameters, let grant = parameters["grant_type"]?.stringValue else { return nil }
        self =
            switch GrantType(name: grant) {
            case .password: .password
            case .otp, .otpMFA: .code
            // The user typed a code that the other device received, or approves on that device.
            case .oob, .oobMFA: parameters["binding_code"] == nil ? .other : .code
            case .webAuthn, .webAuthnMFA: .passkey
            case .refreshToken: .session
            default: .other
            }
    }
}

extension ErrorText {
    /// Creates the text of an OAuth 2.0 error. The server's description is for developers and in the server's language, so the text depends
    /// on the code and on the part of the sign-in.
    init(_ error: OAuth2ServerError) {
        // The limit of attempts per user is an `invalid_grant` with status 429.
        if let status = error.statusCode, status == 429 || status >= 500 {
            self.init(status: status)
            return
        }
        self =
            switch error.code {
            case .invalidGrant: Self.rejected(error.part)
            case .authorizationPending, .directAuthAuthorizationPending: .notApprovedYet
            case .slowDown: .tooMany
            case .expiredToken: .notApprovedInTime
            case .accessDenied: .denied
            case .oobRejected: Self.deniedOnOtherDevice
            case .invalidOTP: .wrongCode
            case .mfaRequired: Self.moreRequired
            case .invalidToken: .signInExpired
            case .serverError: .serviceProblem
            case .temporarilyUnavailable: .unavailable
            case .invalidClient, .invalidRequest, .invalidScope, .unsupportedResponseType, .unsupportedResponseMode, .unauthorizedClient,
                .invalidChallengeTypesSupported:
                .appSetup
            case .other(let name): Self.byName[name] ?? .refused
            }
    }

    private static func rejected(_ part: SignInPart?) -> ErrorText {
        switch part {
        case .password: .wrongPassword
        case .code: .wrongCode
        case .passkey: .passkeyRefused
        case .session: .signedOut
        case .other: .signInExpired
        case nil: notAccepted
        }
    }

    private static let byName: [String: ErrorText] = [
        "login_required": .notSignedIn, "interaction_required": inputRequired, "consent_required": inputRequired,
        "account_selection_required": inputRequired, "registration_required": .notPermitted, "insufficient_scope": .notPermitted,
        "insufficient_user_authentication": moreRequired, "invalid_dpop_proof": unprovenDevice, "use_dpop_nonce": unprovenDevice,
        "unsupported_grant_type": .appSetup, "unsupported_token_type": .appSetup, "invalid_request_object": .appSetup,
        "request_not_supported": .appSetup, "request_uri_not_supported": .appSetup, "invalid_request_uri": .appSetup,
        "invalid_target": .appSetup, "invalid_binding_message": .appSetup, "unknown_user_id": unknownUser,
        "transaction_failed": .incomplete,
    ]

    private static let notAccepted = ErrorText(
        "Your sign-in was not accepted.", de: "Ihre Anmeldung wurde nicht angenommen.", next: .signInAgain)
    private static let deniedOnOtherDevice = ErrorText(
        "The sign-in was denied on your other device.", de: "Die Anmeldung wurde auf Ihrem anderen Gerät abgelehnt.", next: .startAgain)
    private static let moreRequired = ErrorText(
        "A further verification is required.", de: "Eine weitere Bestätigung ist erforderlich.", next: .signInAgain)
    private static let inputRequired = ErrorText(
        "Your input is needed to sign in.", de: "Für die Anmeldung wird eine Eingabe von Ihnen benötigt.", next: .signInAgain)
    private static let unprovenDevice = ErrorText(
        "Your sign-in could not be confirmed for this device.", de: "Ihre Anmeldung konnte für dieses Gerät nicht bestätigt werden.",
        next: .checkClockAndSignIn)
    private static let unknownUser = ErrorText(
        "There is no account with this user name.", de: "Es gibt kein Konto mit diesem Benutzernamen.",
        next: LocalizedText("Check the user name, then try again.", de: "Prüfen Sie den Benutzernamen und versuchen Sie es erneut."))
}
