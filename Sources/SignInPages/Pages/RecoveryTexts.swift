internal import Foundation
internal import IdentityCore

/// The texts about account recovery; a part of ``PageTexts``.
struct RecoveryTexts: Sendable {
    /// The texts that differ between a forgotten password and a locked account.
    struct Kind: Sendable {
        /// The label of the link on the sign-in page.
        var link: String
        var title: String
        var lead: String
        /// The text after the user requested a mail.
        var mailed: String
        var byLink: Link
    }

    /// The texts of a mailed link's page and of the final page.
    struct Link: Sendable {
        var title: String
        var lead: String
        var goOn: String
        var doneTitle: String
        var done: String
    }

    var password: Kind
    var unlock: Kind
    /// The texts for an account that an administrator created.
    var activation: Link

    var bySMS: String
    var byCall: String
    var byMail: String
    /// The text on the page of a mailed link; `{login}` is replaced by the user name.
    package var account: String
    var mailedTitle: String
    var back: String
    var signIn: String
    var toApplication: String

    var codeTitle: String
    /// The lead after a text message. It is identical for known and unknown user names.
    var textLead: String
    /// The lead after a call. It is identical for known and unknown user names.
    var callLead: String
    var code: String
    var codeHint: String
    var useCode: String
    var sendAnother: String
    var callAgain: String

    var questionTitle: String
    var questionLead: String
    var answer: String
    var goOnWithAnswer: String
    var newLead: String
    /// The title of the form for a first password.
    var firstTitle: String
    /// The lead of the form for a first password.
    var firstLead: String
    var setPassword: String

    var wrongCode: String
    var wrongAnswer: String
    var sentJustNow: String
    var badLink: String
}

extension RecoveryTexts {
    static let english = RecoveryTexts(
        password: Kind(
            link: "Forgot your password?",
            title: "Forgot your password?",
            lead: "Enter your user name and choose how to verify your identity.",
            mailed:
                "If an account with this name exists and has an email address, we sent a link to it. The link is valid for one hour and works once.",
            byLink: Link(
                title: "Forgot your password?",
                lead: "Continue to set a new password for your account.",
                goOn: "Set a new password",
                doneTitle: "Password changed",
                done: "Sign in with your new password. You were signed out everywhere else.")),
        unlock: Kind(
            link: "Account locked? Unlock it",
            title: "Unlock your account",
            lead: "An account is locked after too many wrong attempts. Enter your user name and choose how to verify your identity.",
            mailed:
                "If an account with this name exists, is locked and has an email address, we sent a link to it. The link is valid for one hour and works once.",
            byLink: Link(
                title: "Unlock your account",
                lead: "Continue to unlock your account.",
                goOn: "Unlock the account",
                doneTitle: "Account unlocked",
                done: "You can sign in with your password again.")),
        activation: Link(
            title: "Set up your account",
            lead: "An account was created for you. Continue to set it up.",
            goOn: "Set up the account",
            doneTitle: "Your account is set up",
            done: "You can now sign in with your password. The sign-in asks for anything else that is needed."),
        bySMS: "Text me",
        byCall: "Call me",
        byMail: "Email me",
        account: "Account: {login}",
        mailedTitle: "Check your email",
        back: "Back to sign-in",
        signIn: "Go to sign-in",
        toApplication: "Go back to the application that you want to use, and sign in there.",
        codeTitle: "Enter the code",
        textLead: "If an account with this name exists and has a phone number, we sent a text message with a code to it.",
        callLead: "If an account with this name exists and has a phone number, you will get a call with a code.",
        code: "Code you received",
        codeHint: "Six digits, valid for five minutes.",
        useCode: "Continue",
        sendAnother: "Resend code",
        callAgain: "Call again",
        questionTitle: "Answer your question",
        questionLead: "You chose this question and its answer:",
        answer: "Your answer",
        goOnWithAnswer: "Continue",
        newLead: "Choose a new password for your account.",
        firstTitle: "Choose a password",
        firstLead: "You will sign in with this password.",
        setPassword: "Set password",
        wrongCode: "The code is wrong or expired. Try again, or request a new one.",
        wrongAnswer: "The answer is wrong. Try again.",
        sentJustNow: "A message was sent moments ago. Wait 30 seconds and try again.",
        badLink:
            "This link is invalid or expired, or was already used. Request a new one on the sign-in page, or ask your administrator."
    )

    static let german = RecoveryTexts(
        password: Kind(
            link: "Passwort vergessen?",
            title: "Passwort vergessen?",
            lead: "Geben Sie Ihren Benutzernamen ein und wählen Sie, wie Sie bestätigen, dass Sie es sind.",
            mailed:
                "Wenn ein Konto mit diesem Namen und eine E-Mail-Adresse dazu existieren, haben wir einen Link dorthin gesendet. Der Link ist eine Stunde gültig und funktioniert einmal.",
            byLink: Link(
                title: "Passwort vergessen?",
                lead: "Setzen Sie jetzt ein neues Passwort für Ihr Konto.",
                goOn: "Neues Passwort setzen",
                doneTitle: "Passwort geändert",
                done: "Melden Sie sich mit dem neuen Passwort an. Überall sonst wurden Sie abgemeldet.")),
        unlock: Kind(
            link: "Konto gesperrt? Entsperren",
            title: "Konto entsperren",
            lead:
                "Nach zu vielen falschen Versuchen wird ein Konto gesperrt. Geben Sie Ihren Benutzernamen ein und wählen Sie, wie Sie bestätigen, dass Sie es sind.",
            mailed:
                "Wenn ein Konto mit diesem Namen existiert, gesperrt ist und eine E-Mail-Adresse hat, haben wir einen Link dorthin gesendet. Der Link ist eine Stunde gültig und funktioniert einmal.",
            byLink: Link(
                title: "Konto entsperren",
                lead: "Entsperren Sie jetzt Ihr Konto.",
                goOn: "Konto entsperren",
                doneTitle: "Konto entsperrt",
                done: "Sie können sich wieder mit Ihrem Passwort anmelden.")),
        activation: Link(
            title: "Konto einrichten",
            lead: "Für Sie wurde ein Konto angelegt. Richten Sie es jetzt ein.",
            goOn: "Konto einrichten",
            doneTitle: "Ihr Konto ist eingerichtet",
            done: "Sie können sich jetzt mit Ihrem Passwort anmelden. Alles Weitere fragt die Anmeldung ab."),
        bySMS: "SMS an mich senden",
        byCall: "Mich anrufen",
        byMail: "E-Mail an mich senden",
        account: "Konto: {login}",
        mailedTitle: "Prüfen Sie Ihr Postfach",
        back: "Zurück zur Anmeldung",
        signIn: "Zur Anmeldung",
        toApplication: "Gehen Sie zurück zur Anwendung, die Sie benutzen wollen, und melden Sie sich dort an.",
        codeTitle: "Code eingeben",
        textLead:
            "Wenn ein Konto mit diesem Namen existiert und eine Telefonnummer hat, haben wir eine SMS mit einem Code dorthin gesendet.",
        callLead: "Wenn ein Konto mit diesem Namen existiert und eine Telefonnummer hat, erhalten Sie einen Anruf mit einem Code.",
        code: "Erhaltener Code",
        codeHint: "Sechs Ziffern, fünf Minuten gültig.",
        useCode: "Weiter",
        sendAnother: "Code erneut senden",
        callAgain: "Erneut anrufen",
        questionTitle: "Beantworten Sie Ihre Frage",
        questionLead: "Sie haben diese Frage und die Antwort gewählt:",
        answer: "Ihre Antwort",
        goOnWithAnswer: "Weiter",
        newLead: "Wählen Sie ein neues Passwort für Ihr Konto.",
        firstTitle: "Passwort wählen",
        firstLead: "Mit diesem Passwort melden Sie sich künftig an.",
        setPassword: "Passwort setzen",
        wrongCode: "Der Code ist falsch oder abgelaufen. Versuchen Sie es noch einmal oder fordern Sie einen neuen an.",
        wrongAnswer: "Die Antwort ist falsch. Versuchen Sie es noch einmal.",
        sentJustNow: "Gerade wurde schon eine Nachricht gesendet. Warten Sie 30 Sekunden und versuchen Sie es noch einmal.",
        badLink:
            "Dieser Link ist ungültig oder abgelaufen oder wurde schon verwendet. Fordern Sie auf der Anmeldeseite einen neuen an oder wenden Sie sich an Ihren Administrator."
    )

    func kind(isUnlock: Bool) -> Kind { isUnlock ? unlock : password }

    func link(of kind: RecoveryKind) -> Link {
        switch kind {
        case .password: password.byLink
        case .unlock: unlock.byLink
        case .activation: activation
        }
    }

    /// Returns the label of a channel's button.
    func label(of channel: CodeChannel) -> String {
        switch channel {
        case .sms: bySMS
        case .voice: byCall
        case .email: byMail
        }
    }
}
