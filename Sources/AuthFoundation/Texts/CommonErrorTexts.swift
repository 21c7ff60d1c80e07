package import Foundation
internal import JOSE

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The next steps that several errors have in common.
extension LocalizedText {
    package static let tryAgain = LocalizedText("Try again.", de: "Versuchen Sie es erneut.")
    package static let tryLater = LocalizedText("Try again later.", de: "Versuchen Sie es später erneut.")
    package static let waitMinutes = LocalizedText(
        "Wait a few minutes, then try again.", de: "Warten Sie einige Minuten und versuchen Sie es erneut.")
    package static let signInAgain = LocalizedText("Sign in again.", de: "Melden Sie sich erneut an.")
    static let signIn = LocalizedText("Sign in.", de: "Melden Sie sich an.")
    package static let startAgain = LocalizedText("Start the sign-in again.", de: "Starten Sie die Anmeldung erneut.")
    package static let anotherWay = LocalizedText("Sign in another way.", de: "Melden Sie sich auf andere Weise an.")
    package static let againOrAnotherWay = LocalizedText(
        "Try again, or sign in another way.", de: "Versuchen Sie es erneut oder melden Sie sich auf andere Weise an.")
    static let currentCode = LocalizedText("Enter the current code.", de: "Geben Sie den aktuellen Code ein.")
    static let checkClockAndSignIn = LocalizedText(
        "Check the date and time of this device, then sign in again.",
        de: "Prüfen Sie Datum und Uhrzeit dieses Geräts und melden Sie sich erneut an.")
    package static let contactSupport = LocalizedText("Contact support.", de: "Wenden Sie sich an den Support.")
    package static let contactDeveloper = LocalizedText(
        "Contact the app's developer.", de: "Wenden Sie sich an den Anbieter der App.")
    package static let updateApp = LocalizedText("Update the app.", de: "Aktualisieren Sie die App.")
    package static let setClock = LocalizedText(
        "Set the date and time of this device, then try again.",
        de: "Stellen Sie Datum und Uhrzeit dieses Geräts richtig ein und versuchen Sie es erneut.")
    package static let checkNetwork = LocalizedText(
        "Check your internet connection, then try again.", de: "Prüfen Sie Ihre Internetverbindung und versuchen Sie es erneut.")
    package static let checkSpace = LocalizedText(
        "Check that this device has free space, then try again.",
        de: "Prüfen Sie, ob auf diesem Gerät noch Speicherplatz frei ist, und versuchen Sie es erneut.")
}

/// The texts that several errors have in common.
extension ErrorText {
    package static let somethingWrong = ErrorText("Something went wrong.", de: "Etwas ist schiefgelaufen.", next: .tryLater)
    package static let cancelled = ErrorText("The action was cancelled.", de: "Der Vorgang wurde abgebrochen.")

    /// For errors that only the app's developer or the operator of the server can repair.
    package static let appSetup = ErrorText(
        "This app is not set up correctly for sign-in.", de: "Diese App ist nicht richtig für die Anmeldung eingerichtet.",
        next: .contactDeveloper)

    // MARK: Network

    package static let offline = ErrorText(
        "You are offline.", de: "Sie sind offline.",
        next: LocalizedText(
            "Connect to the internet, then try again.", de: "Stellen Sie eine Internetverbindung her und versuchen Sie es erneut."))
    package static let unreachable = ErrorText(
        "The sign-in service can't be reached.", de: "Der Anmeldedienst ist nicht erreichbar.", next: .checkNetwork)
    package static let interrupted = ErrorText(
        "The connection was interrupted.", de: "Die Verbindung wurde unterbrochen.", next: .tryAgain)
    package static let timedOut = ErrorText(
        "The sign-in service did not answer in time.", de: "Der Anmeldedienst hat nicht rechtzeitig geantwortet.", next: .checkNetwork)
    package static let insecure = ErrorText(
        "There is no secure connection to the sign-in service.",
        de: "Es kann keine sichere Verbindung zum Anmeldedienst hergestellt werden.",
        next: LocalizedText(
            "Try another network, or contact support.",
            de: "Versuchen Sie es in einem anderen Netzwerk oder wenden Sie sich an den Support."))

    static let clockDoubtful = ErrorText(
        "The date and time of this device may be wrong.", de: "Datum und Uhrzeit dieses Geräts sind möglicherweise falsch.",
        next: .setClock)

    // MARK: Answers of the server

    package static let unexpectedAnswer = ErrorText(
        "The sign-in service gave an unexpected answer.", de: "Der Anmeldedienst hat unerwartet geantwortet.", next: .tryLater)
    /// For answers that may come from the sign-in page of a public network.
    package static let foreignAnswer = ErrorText(
        "The sign-in service gave an unexpected answer.", de: "Der Anmeldedienst hat unerwartet geantwortet.",
        next: LocalizedText(
            "Check whether your network asks you to sign in to it, then try again.",
            de: "Prüfen Sie, ob Ihr Netzwerk eine eigene Anmeldung verlangt, und versuchen Sie es erneut."))
    package static let serviceProblem = ErrorText(
        "The sign-in service has a problem.", de: "Beim Anmeldedienst ist ein Fehler aufgetreten.", next: .tryLater)
    package static let unavailable = ErrorText(
        "The sign-in service is not available right now.", de: "Der Anmeldedienst ist gerade nicht verfügbar.", next: .tryLater)
    package static let tooMany = ErrorText("Too many attempts.", de: "Zu viele Versuche.", next: .waitMinutes)
    package static let refused = ErrorText(
        "The sign-in service did not accept the request.", de: "Der Anmeldedienst hat die Anfrage nicht angenommen.", next: .tryLater)
    package static let unsupported = ErrorText(
        "The sign-in service does not offer this.", de: "Der Anmeldedienst bietet diese Funktion nicht an.", next: .contactDeveloper)
    package static let notPermitted = ErrorText(
        "You do not have permission for this.", de: "Sie haben dafür keine Berechtigung.", next: .contactSupport)

    // MARK: Sign-in

    package static let signedOut = ErrorText("You are signed out.", de: "Sie sind abgemeldet.", next: .signInAgain)
    package static let notSignedIn = ErrorText(
        "You are not signed in.", de: "Sie sind nicht angemeldet.", next: .signIn)
    package static let signInExpired = ErrorText(
        "Your sign-in has expired.", de: "Ihre Anmeldung ist abgelaufen.", next: .signInAgain)
    package static let notVerified = ErrorText(
        "The sign-in could not be verified.", de: "Die Anmeldung konnte nicht überprüft werden.", next: .signInAgain)
    package static let incomplete = ErrorText(
        "The sign-in could not be completed.", de: "Die Anmeldung konnte nicht abgeschlossen werden.", next: .startAgain)
    package static let notStarted = ErrorText("No sign-in is in progress.", de: "Es läuft keine Anmeldung.", next: .startAgain)
    package static let stepNotPossible = ErrorText(
        "This step is not possible right now.", de: "Dieser Schritt ist gerade nicht möglich.", next: .startAgain)
    package static let notApprovedInTime = ErrorText(
        "The sign-in was not approved in time.", de: "Die Anmeldung wurde nicht rechtzeitig bestätigt.", next: .startAgain)
    package static let denied = ErrorText(
        "The sign-in was denied.", de: "Die Anmeldung wurde abgelehnt.",
        next: LocalizedText(
            "Try again, or contact support.", de: "Versuchen Sie es erneut oder wenden Sie sich an den Support."))
    package static let wrongPassword = ErrorText(
        "The user name or password is wrong.", de: "Benutzername oder Passwort ist falsch.",
        next: LocalizedText("Check both, then try again.", de: "Prüfen Sie beides und versuchen Sie es erneut."))
    static let wrongCode = ErrorText(
        "The code is wrong or has expired.", de: "Der Code ist falsch oder abgelaufen.", next: .currentCode)
    static let notApprovedYet = ErrorText(
        "The sign-in has not been approved yet.", de: "Die Anmeldung wurde noch nicht bestätigt.",
        next: LocalizedText("Approve it on your other device.", de: "Bestätigen Sie sie auf Ihrem anderen Gerät."))
    package static let passkeyRefused = ErrorText(
        "The passkey was not accepted.", de: "Der Passkey wurde nicht akzeptiert.", next: .againOrAnotherWay)

    // MARK: Stored sessions

    package static let storedUnreadable = ErrorText(
        "Your saved sign-in can't be read.", de: "Ihre gespeicherte Anmeldung kann nicht gelesen werden.", next: .signInAgain)
    package static let storedDamaged = ErrorText(
        "Your saved sign-in is damaged.", de: "Ihre gespeicherte Anmeldung ist beschädigt.", next: .signInAgain)
    package static let storedByNewerApp = ErrorText(
        "A newer version of this app saved your sign-in.", de: "Ihre Anmeldung wurde von einer neueren Version dieser App gespeichert.",
        next: .updateApp)
    package static let notSaved = ErrorText(
        "Your sign-in could not be saved on this device.", de: "Ihre Anmeldung konnte auf diesem Gerät nicht gespeichert werden.",
        next: .tryAgain)
    package static let deviceLocked = ErrorText(
        "This device is locked.", de: "Dieses Gerät ist gesperrt.",
        next: LocalizedText("Unlock it, then try again.", de: "Entsperren Sie es und versuchen Sie es erneut."))
}

extension ErrorText {
    /// Creates the text of a transport error.
    init(_ error: URLError) {
        self =
            switch error.code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: .offline
            case .networkConnectionLost: .interrupted
            case .timedOut: .timedOut
            case .serverCertificateHasBadDate, .serverCertificateNotYetValid: .clockDoubtful
            case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .secureConnectionFailed: .insecure
            case .cancelled, .userCancelledAuthentication: .cancelled
            case .dataLengthExceedsMaximum, .cannotDecodeContentData, .cannotDecodeRawData, .cannotParseResponse, .badServerResponse:
                .foreignAnswer
            default: .unreachable
            }
    }

    /// Creates the text for a response with this status and without a known error code.
    package init(status: Int) {
        self =
            switch status {
            case 300..<400: .foreignAnswer
            case 401: .signInExpired
            case 403: .notPermitted
            case 429: .tooMany
            case 502...504: .unavailable
            case 500...: .serviceProblem
            default: .refused
            }
    }

    /// Creates the text for a device whose clock is wrong.
    /// - Parameter offset: The seconds by which the server's clock is ahead of the device's.
    package init(clockOffset offset: TimeInterval) {
        let amount = ClockAmount(offset)
        self.init(
            "The clock of this device is \(amount.english) \(offset > 0 ? "behind" : "ahead").",
            de: "Die Uhr dieses Geräts geht \(amount.german) \(offset > 0 ? "nach" : "vor").", next: .setClock)
    }
}

/// The difference of two clocks in words: minutes, hours or days.
package struct ClockAmount {
    package let english: String
    package let german: String

    /// - Parameter offset: The difference in seconds. The sign is ignored.
    package init(_ offset: TimeInterval) {
        let minutes = (abs(offset) / 60).rounded()
        let hours = (minutes / 60).rounded()
        if minutes < 2 {
            (english, german) = ("1 minute", "1 Minute")
        } else if minutes < 120 {
            (english, german) = ("\(Int(clamping: minutes)) minutes", "\(Int(clamping: minutes)) Minuten")
        } else if hours < 72 {
            (english, german) = ("\(Int(clamping: hours)) hours", "\(Int(clamping: hours)) Stunden")
        } else {
            let days = Int(clamping: (hours / 24).rounded())
            (english, german) = ("\(days) days", "\(days) Tage")
        }
    }
}
