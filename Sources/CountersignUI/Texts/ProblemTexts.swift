internal import AuthFoundation
internal import Foundation

extension SignInTexts {
    /// The messages of problems: what happened, then what to do.
    public struct Problems: Sendable, Hashable {
        /// The user name or the password is wrong, or the account is locked.
        public var wrongCredentials: String
        /// The code is wrong or has expired.
        public var wrongCode: String
        /// Too many attempts.
        public var tooManyAttempts: String
        /// The request was denied on the other device.
        public var denied: String
        /// The request on the other device was not answered in time.
        public var notAnswered: String
        /// A policy refuses the sign-in, or a second factor is missing.
        public var notAllowed: String
        /// The account does not have the chosen factor.
        public var factorUnavailable: String
        /// The sign-in took too long.
        public var tooLate: String
        /// The device has no passkey of the account.
        public var noPasskey: String
        /// The passkey could not be used.
        public var passkeyFailed: String
        /// The browser could not be used.
        public var browserFailed: String
        /// The server requires a step that the app does not have.
        public var unsupportedStep: String
        /// The server cannot be reached.
        public var offline: String
        /// The server failed.
        public var serverFailed: String
        /// The settings of the app or the server are wrong.
        public var misconfigured: String
        /// The user was not verified, so the session stays locked.
        public var notUnlocked: String
        /// The storage of the device cannot be used.
        public var storageFailed: String
        /// Another failure.
        public var failed: String

        init(_ text: (_ key: String, _ builtIn: LocalizedText) -> String) {
            wrongCredentials = text(
                "problems.wrongCredentials",
                LocalizedText(
                    "The user name or the password is incorrect. Check both and try again.",
                    de: "Der Benutzername oder das Passwort ist falsch. Prüfen Sie beides und versuchen Sie es erneut."))
            wrongCode = text(
                "problems.wrongCode",
                LocalizedText(
                    "The code is incorrect or has expired. Enter another code.",
                    de: "Der Code ist falsch oder abgelaufen. Geben Sie einen anderen Code ein."))
            tooManyAttempts = text(
                "problems.tooManyAttempts",
                LocalizedText(
                    "Too many attempts. Wait a moment, then try again.",
                    de: "Zu viele Versuche. Warten Sie einen Moment und versuchen Sie es dann erneut."))
            denied = text(
                "problems.denied",
                LocalizedText(
                    "The request was denied on your phone. Send it again, or try another way.",
                    de: "Die Anfrage wurde auf Ihrem Telefon abgelehnt. Senden Sie sie erneut, oder wählen Sie eine andere Methode."))
            notAnswered = text(
                "problems.notAnswered",
                LocalizedText(
                    "The request was not answered in time. Send it again, or try another way.",
                    de: "Die Anfrage wurde nicht rechtzeitig beantwortet. Senden Sie sie erneut, oder wählen Sie eine andere Methode."))
            notAllowed = text(
                "problems.notAllowed",
                LocalizedText(
                    "This account can't sign in here. It may need a second factor. Ask your administrator.",
                    de:
                        "Dieses Konto kann sich hier nicht anmelden. Eventuell fehlt ein zweiter Faktor. Fragen Sie Ihre Administration."
                ))
            factorUnavailable = text(
                "problems.factorUnavailable",
                LocalizedText(
                    "Your account is not set up for this. Try another way.",
                    de: "Ihr Konto ist dafür nicht eingerichtet. Wählen Sie eine andere Methode."))
            tooLate = text(
                "problems.tooLate",
                LocalizedText("The sign-in took too long. Start again.", de: "Die Anmeldung hat zu lange gedauert. Beginnen Sie von vorn."))
            noPasskey = text(
                "problems.noPasskey",
                LocalizedText(
                    "This device has no passkey for your account. Sign in another way.",
                    de: "Auf diesem Gerät gibt es keinen Passkey für Ihr Konto. Melden Sie sich anders an."))
            passkeyFailed = text(
                "problems.passkeyFailed",
                LocalizedText(
                    "The passkey could not be used. Try again, or sign in another way.",
                    de: "Der Passkey konnte nicht verwendet werden. Versuchen Sie es erneut, oder melden Sie sich anders an."))
            browserFailed = text(
                "problems.browserFailed",
                LocalizedText(
                    "The sign-in in the browser failed. Try again.",
                    de: "Die Anmeldung im Browser ist fehlgeschlagen. Versuchen Sie es erneut."))
            unsupportedStep = text(
                "problems.unsupportedStep",
                LocalizedText(
                    "The sign-in requires a step that this app does not support. Update the app.",
                    de: "Die Anmeldung verlangt einen Schritt, den diese App nicht unterstützt. Aktualisieren Sie die App."))
            offline = text(
                "problems.offline",
                LocalizedText(
                    "The server can't be reached. Check your connection and try again.",
                    de: "Der Server ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es erneut."))
            serverFailed = text(
                "problems.serverFailed",
                LocalizedText(
                    "The server has a problem. Try again later.",
                    de: "Auf dem Server ist ein Fehler aufgetreten. Versuchen Sie es später erneut."))
            misconfigured = text(
                "problems.misconfigured",
                LocalizedText(
                    "This app is not set up correctly. Contact its support.",
                    de: "Diese App ist nicht richtig eingerichtet. Wenden Sie sich an den Support der App."))
            notUnlocked = text(
                "problems.notUnlocked",
                LocalizedText(
                    "You could not be verified. Try again.", de: "Sie konnten nicht verifiziert werden. Versuchen Sie es erneut."))
            storageFailed = text(
                "problems.storageFailed",
                LocalizedText(
                    "The sign-in can't be stored on this device. Restart the app.",
                    de: "Die Anmeldung kann auf diesem Gerät nicht gespeichert werden. Starten Sie die App neu."
                ))
            failed = text(
                "problems.failed",
                LocalizedText("Something went wrong. Try again.", de: "Etwas ist schiefgelaufen. Versuchen Sie es erneut."))
        }
    }

    /// Returns the message of a problem.
    public func message(for problem: SignInProblem) -> String {
        switch problem.code {
        case .wrongCredentials: problems.wrongCredentials
        case .wrongCode: problems.wrongCode
        case .tooManyAttempts: problems.tooManyAttempts
        case .denied: problems.denied
        case .notAnswered: problems.notAnswered
        case .notAllowed: problems.notAllowed
        case .factorUnavailable: problems.factorUnavailable
        case .tooLate: problems.tooLate
        case .noPasskey: problems.noPasskey
        case .passkeyFailed: problems.passkeyFailed
        case .browserFailed: problems.browserFailed
        case .unsupportedStep: problems.unsupportedStep
        case .offline: problems.offline
        case .serverFailed: problems.serverFailed
        case .misconfigured: problems.misconfigured
        case .notUnlocked: problems.notUnlocked
        case .storageFailed: problems.storageFailed
        default: problems.failed
        }
    }
}
