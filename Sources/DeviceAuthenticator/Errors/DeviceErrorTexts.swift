package import AuthFoundation
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension DeviceAuthenticatorError: ClientError {
    package var userText: ErrorText {
        switch self {
        case .serverAPIError(let result, let model): Self.text(of: result, model, reason: reason)
        case .networkError(let error):
            // The general text says less than the text for an unreachable service.
            ErrorText(of: error) == .somethingWrong ? .unreachable : ErrorText(of: error)
        case .securityError(let error): error.userText
        case .storageError(let error): error.userText
        case .genericError(LocalFailure.noEnrollmentLink): .noSetupCode
        case .genericError: ErrorText(reason: reason) ?? .somethingWrong
        case .internalError: .somethingWrong
        case .accountNotFoundForChallenge:
            ErrorText(
                "The sign-in request is for an account that is not on this device.",
                de: "Die Anmeldeanfrage gehört zu einem Konto, das nicht auf diesem Gerät eingerichtet ist.",
                next: LocalizedText(
                    "Add the account, or ignore the request.", de: "Fügen Sie das Konto hinzu oder ignorieren Sie die Anfrage."))
        case .pushNotRecognized:
            ErrorText("This notification is not a sign-in request.", de: "Diese Mitteilung ist keine Anmeldeanfrage.")
        case .noVerificationMethodsToEnroll:
            ErrorText(
                "Your organization does not send sign-in requests to devices.",
                de: "Ihre Organisation sendet keine Anmeldeanfragen an Geräte.", next: .contactSupport)
        }
    }

    private static func text(of result: HTTPURLResult, _ model: ServerAPIErrorModel?, reason: Reason) -> ErrorText {
        if reason == .clockWrong, let clock = result.error as? DeviceClockError { return clock.userText }
        if model?.errorCode == .phishingAttemptDetected { return .phishing }
        return ErrorText(reason: reason)
            ?? ErrorText(apiCode: model?.errorCode?.rawValue, status: result.response?.statusCode)
    }
}

extension ErrorText {
    /// Creates the text of a reason; `nil` if the reason does not say enough.
    init?(reason: DeviceAuthenticatorError.Reason) {
        switch reason {
        case .expired: self = .requestExpired
        case .alreadyAnswered:
            self.init("The sign-in request was already answered.", de: "Die Anmeldeanfrage wurde bereits beantwortet.")
        case .cancelled:
            self.init(
                "The sign-in was cancelled where you started it.", de: "Die Anmeldung wurde dort abgebrochen, wo Sie sie gestartet haben.")
        case .untrustedChallenge: self = .requestNotVerified
        case .numberNotPicked:
            self.init(
                "The matching number was not chosen.", de: "Die passende Zahl wurde nicht ausgewählt.",
                next: LocalizedText(
                    "Choose the number that is shown where you sign in.",
                    de: "Wählen Sie die Zahl aus, die dort angezeigt wird, wo Sie sich anmelden."))
        case .notAnswered:
            self.init(
                "The sign-in request was not answered.", de: "Die Anmeldeanfrage wurde nicht beantwortet.",
                next: LocalizedText(
                    "Open it again, then approve or deny it.", de: "Öffnen Sie sie erneut und bestätigen Sie sie oder lehnen Sie sie ab."))
        case .enrollmentGone:
            self.init(
                "This account is no longer set up on this device.", de: "Dieses Konto ist auf diesem Gerät nicht mehr eingerichtet.",
                next: .setUpAgain)
        case .enrollmentSuspended:
            self.init(
                "This account or device is suspended.", de: "Dieses Konto oder Gerät ist vorübergehend gesperrt.", next: .contactSupport)
        case .keyMissing: self = .accountDamaged
        case .userVerificationCancelled:
            self.init(
                "You cancelled the verification, so the sign-in was not approved.",
                de: "Sie haben die Bestätigung Ihrer Identität abgebrochen. Die Anmeldung wurde deshalb nicht bestätigt.", next: .startAgain
            )
        case .userVerificationFailed:
            self.init(
                "You could not be verified, so the sign-in was not approved.",
                de: "Ihre Identität konnte nicht bestätigt werden. Die Anmeldung wurde deshalb nicht bestätigt.", next: .startAgain)
        case .userVerificationUnavailable: self = .verificationUnavailable
        case .userVerificationRequired:
            self.init(
                "Your organization requires that this device verifies you.",
                de: "Ihre Organisation verlangt, dass dieses Gerät Ihre Identität prüft.",
                next: LocalizedText(
                    "Turn on verification for this account, then try again.",
                    de: "Aktivieren Sie die Identitätsprüfung für dieses Konto und versuchen Sie es erneut."))
        case .tokenRefused: self = .signInExpired
        case .notPermitted: self = .notPermitted
        case .notFound:
            self.init("This request is no longer available.", de: "Diese Anfrage ist nicht mehr verfügbar.", next: .startAgain)
        case .tooManyRequests: self = .tooMany
        case .enrollmentLinkRefused:
            self.init(
                "The setup code has expired or was already used.", de: "Der Einrichtungscode ist abgelaufen oder wurde bereits verwendet.",
                next: LocalizedText(
                    "Show a new code on the sign-in page, then scan it.",
                    de: "Lassen Sie auf der Anmeldeseite einen neuen Code anzeigen und scannen Sie ihn."))
        default: return nil
        }
    }

    static let requestExpired = ErrorText(
        "The sign-in request has expired.", de: "Die Anmeldeanfrage ist abgelaufen.", next: .startAgain)
    static let requestNotVerified = ErrorText(
        "The sign-in request could not be verified.", de: "Die Anmeldeanfrage konnte nicht überprüft werden.", next: .startAgain)
    static let noSetupCode = ErrorText(
        "This is not a setup code.", de: "Das ist kein Einrichtungscode.",
        next: LocalizedText("Scan the code that the sign-in page shows.", de: "Scannen Sie den Code, den die Anmeldeseite anzeigt."))
    static let phishing = ErrorText(
        "The sign-in was blocked because it looks fraudulent.", de: "Die Anmeldung wurde blockiert, weil sie betrügerisch wirkt.",
        next: .contactSupport)
    static let accountDamaged = ErrorText(
        "This account must be set up again on this device.", de: "Dieses Konto muss auf diesem Gerät neu eingerichtet werden.",
        next: .setUpAgain)
    static let verificationCancelled = ErrorText(
        "You cancelled the verification.", de: "Sie haben die Bestätigung Ihrer Identität abgebrochen.", next: .tryAgain)
    static let verificationFailed = ErrorText(
        "You could not be verified.", de: "Ihre Identität konnte nicht bestätigt werden.", next: .tryAgain)
    static let verificationUnavailable = ErrorText(
        "This device can't verify that it is you.", de: "Dieses Gerät kann Ihre Identität nicht prüfen.",
        next: LocalizedText(
            "Set up a passcode or a fingerprint on this device, then try again.",
            de: "Richten Sie auf diesem Gerät einen Code oder Fingerabdruck ein und versuchen Sie es erneut."))
    static let notSetUp = ErrorText(
        "This account could not be set up on this device.", de: "Dieses Konto konnte auf diesem Gerät nicht eingerichtet werden.",
        next: .tryAgain)
    static let dataUnreadable = ErrorText(
        "Data on this device could not be read or saved.",
        de: "Daten auf diesem Gerät konnten nicht gelesen oder gespeichert werden.", next: .checkSpace)
}

extension LocalizedText {
    static let setUpAgain = LocalizedText(
        "Remove the account here, then add it again.", de: "Entfernen Sie das Konto hier und fügen Sie es erneut hinzu.")
}
