extension ErrorText {
    /// Creates the text of an error response in the format of the server's own API.
    ///
    /// The summaries of the server are for developers and in the server's language, so the text depends on the code. Only the causes of a
    /// rejected password are added, because the user needs the organization's rules to choose another password, and no code identifies
    /// them.
    /// - Parameters:
    ///   - apiCode: The error code, such as `E0000004`; `nil` if the response has none.
    ///   - causes: The summaries of the causes.
    ///   - status: The HTTP status, if known.
    package init(apiCode: String?, causes: [String] = [], status: Int?) {
        guard let apiCode, let text = Self.byAPICode[apiCode] else {
            self = status.map(ErrorText.init(status:)) ?? .refused
            return
        }
        let rules = causes.filter { !$0.isEmpty }.joined(separator: " ")
        guard ["E0000014", "E0000080"].contains(apiCode), !rules.isEmpty else {
            self = text
            return
        }
        // The causes already say what to do next.
        self.init("\(text.description.english) \(rules)", de: "\(text.description.german) \(rules)")
    }

    private static let byAPICode: [String: ErrorText] = sessionErrors.merging(passwordErrors) { $1 }.merging(codeErrors) { $1 }

    private static let sessionErrors: [String: ErrorText] = [
        "E0000001": ErrorText(
            "Some of the information is not valid.", de: "Einige Angaben sind ungültig.",
            next: LocalizedText("Check what you entered, then try again.", de: "Prüfen Sie Ihre Eingaben und versuchen Sie es erneut.")),
        "E0000003": .appSetup,
        "E0000004": .wrongPassword,
        "E0000006": .notPermitted,
        "E0000007": ErrorText(
            "This is no longer available.", de: "Dies ist nicht mehr verfügbar.", next: .startAgain),
        "E0000008": .appSetup,
        "E0000009": .serviceProblem,
        "E0000010": .unavailable,
        "E0000011": .signInExpired,
        "E0000015": ErrorText(
            "Your organization has not turned this on.",
            de: "Ihre Organisation hat diese Funktion nicht aktiviert.", next: .contactSupport),
        "E0000016": ErrorText("This account is already active.", de: "Dieses Konto ist bereits aktiv.", next: .signIn),
        "E0000022": .appSetup,
        "E0000028": .appSetup,
        "E0000047": .tooMany,
        "E0000069": ErrorText(
            "Your account is locked after too many failed attempts.", de: "Ihr Konto ist nach zu vielen Fehlversuchen gesperrt.",
            next: LocalizedText(
                "Try again later, or contact support.", de: "Versuchen Sie es später erneut oder wenden Sie sich an den Support.")),
        "E0000070": .notApprovedYet,
        "E0000073": .denied,
        "E0000079": .stepNotPossible,
        "E0000085": ErrorText(
            "Your organization does not allow this sign-in.",
            de: "Ihre Organisation erlaubt diese Anmeldung nicht.", next: .contactSupport),
        "E0000149": .appSetup,
        "E0000157": ErrorText("The sign-in request was already answered.", de: "Die Anmeldeanfrage wurde bereits beantwortet."),
    ]

    private static let passwordErrors: [String: ErrorText] = [
        "E0000014": passwordKept,
        "E0000017": ErrorText("Your password was not reset.", de: "Ihr Passwort wurde nicht zurückgesetzt.", next: .startOver),
        "E0000032": ErrorText(
            "Your account can't be unlocked here.", de: "Ihr Konto kann hier nicht entsperrt werden.", next: .contactSupport),
        "E0000034": ErrorText(
            "Your password can't be reset here.", de: "Ihr Passwort kann hier nicht zurückgesetzt werden.", next: .contactSupport),
        "E0000035": ErrorText(
            "Your password can't be changed here.", de: "Ihr Passwort kann hier nicht geändert werden.", next: .contactSupport),
        "E0000064": ErrorText(
            "Your password has expired.", de: "Ihr Passwort ist abgelaufen.",
            next: LocalizedText("Choose a new password.", de: "Wählen Sie ein neues Passwort.")),
        "E0000080": passwordKept,
        "E0000087": ErrorText("The answer is wrong.", de: "Die Antwort ist falsch.", next: .tryAgain),
        "E0000095": ErrorText(
            "This account can't be recovered.", de: "Dieses Konto kann nicht wiederhergestellt werden.",
            next: LocalizedText("Check the user name, then try again.", de: "Prüfen Sie den Benutzernamen und versuchen Sie es erneut.")),
        "E0000097": ErrorText(
            "There is no verified phone number for your account.", de: "Für Ihr Konto ist keine bestätigte Telefonnummer hinterlegt.",
            next: .tryAnotherWay),
        "E0000105": usedLink,
        "E0000110": usedLink,
        "E0000119": ErrorText("Your account is locked.", de: "Ihr Konto ist gesperrt.", next: .contactSupport),
        "E0000126": ErrorText(
            "You can't recover your account here.", de: "Sie können Ihr Konto hier nicht wiederherstellen.", next: .contactSupport),
    ]

    private static let codeErrors: [String: ErrorText] = [
        "E0000067": unavailableMethod,
        "E0000068": ErrorText(
            "The code or answer is wrong.", de: "Der Code oder die Antwort ist falsch.",
            next: LocalizedText("Check it, then try again.", de: "Prüfen Sie Ihre Eingabe und versuchen Sie es erneut.")),
        "E0000074": unavailableMethod,
        "E0000082": ErrorText(
            "This code was already used.", de: "Dieser Code wurde bereits verwendet.",
            next: LocalizedText("Wait for the next code, and enter that.", de: "Warten Sie auf den nächsten Code und geben Sie diesen ein.")
        ),
        "E0000083": ErrorText(
            "The code has expired.", de: "Der Code ist abgelaufen.", next: .currentCode),
        "E0000098": ErrorText(
            "The phone number is not valid.", de: "Die Telefonnummer ist ungültig.",
            next: LocalizedText(
                "Enter it with the country code, such as +49.", de: "Geben Sie sie mit der Landesvorwahl ein, zum Beispiel +49.")),
        "E0000099": ErrorText(
            "Phone numbers from this country are not supported.", de: "Telefonnummern aus diesem Land werden nicht unterstützt.",
            next: LocalizedText("Use a number from another country.", de: "Verwenden Sie eine Nummer aus einem anderen Land.")),
        "E0000109": sentRecently("A text message was just sent to you.", de: "Es wurde gerade eine SMS an Sie gesendet."),
        "E0000113": ErrorText(
            "One more code is needed.", de: "Es wird ein weiterer Code benötigt.",
            next: LocalizedText("Wait for the next code, and enter that.", de: "Warten Sie auf den nächsten Code und geben Sie diesen ein.")
        ),
        "E0000118": sentRecently("An email was just sent to you.", de: "Es wurde gerade eine E-Mail an Sie gesendet."),
        "E0000121": ErrorText(
            "The phone extension is not valid.", de: "Die Durchwahl ist ungültig.",
            next: LocalizedText("Enter digits only.", de: "Geben Sie nur Ziffern ein.")),
        "E0000133": sentRecently("You were just called.", de: "Sie wurden gerade angerufen."),
        "E0000138": notSent,
        "E0000139": notSent,
    ]

    private static let passwordKept = ErrorText(
        "Your password was not changed.", de: "Ihr Passwort wurde nicht geändert.",
        next: LocalizedText("Check what you entered, then try again.", de: "Prüfen Sie Ihre Eingaben und versuchen Sie es erneut."))
    private static let usedLink = ErrorText(
        "This link has expired or was already used.", de: "Dieser Link ist abgelaufen oder wurde bereits verwendet.",
        next: LocalizedText("Request a new one.", de: "Fordern Sie einen neuen an."))
    private static let unavailableMethod = ErrorText(
        "This way to verify is not available right now.", de: "Diese Art der Bestätigung ist gerade nicht verfügbar.", next: .tryAnotherWay)
    private static let notSent = ErrorText(
        "The code could not be sent.", de: "Der Code konnte nicht gesendet werden.", next: .tryAnotherWay)

    private static func sentRecently(_ english: String, de german: String) -> ErrorText {
        ErrorText(
            english, de: german,
            next: LocalizedText(
                "Wait a moment before you request another code.", de: "Warten Sie einen Moment, bevor Sie einen weiteren Code anfordern."))
    }
}

extension LocalizedText {
    fileprivate static let startOver = LocalizedText("Start again.", de: "Beginnen Sie von vorn.")
    fileprivate static let tryAnotherWay = LocalizedText(
        "Try another way, or try again later.", de: "Versuchen Sie es auf andere Weise oder später erneut.")
}
