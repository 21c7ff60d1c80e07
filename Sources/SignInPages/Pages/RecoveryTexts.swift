internal import Foundation
internal import IdentityCore

/// The texts about account recovery; a part of ``PageTexts``.
struct RecoveryTexts: Sendable {
    /// The texts that differ between a forgotten password and a locked account.
    struct Kind: Sendable {
        /// On the sign-in page.
        var link: String
        var title: String
        var lead: String
        /// After the request for a mail.
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
    /// For an account that an administrator created.
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
    /// The same for known and unknown user names.
    var textLead: String
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
    /// For a first password.
    var firstTitle: String
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
            lead: "Enter your user name, and choose how to confirm that it is you.",
            mailed:
                "If there is an account with this name, and mail can be sent to it, a mail with a link is on its way. The link is good for an hour, and once.",
            byLink: Link(
                title: "Forgot your password?",
                lead: "Go on to set a new password for your account.",
                goOn: "Set a new password",
                doneTitle: "Your password is changed",
                done: "From now on, sign in with your new password. Wherever you were signed in with the old one, you are signed out.")),
        unlock: Kind(
            link: "Account locked? Unlock it",
            title: "Unlock your account",
            lead: "After too many wrong attempts an account is locked. Enter your user name, and choose how to confirm that it is you.",
            mailed:
                "If there is an account with this name, and it is locked, and mail can be sent to it, a mail with a link is on its way. The link is good for an hour, and once.",
            byLink: Link(
                title: "Unlock your account",
                lead: "Go on to unlock your account.",
                goOn: "Unlock the account",
                doneTitle: "Your account is unlocked",
                done: "You can sign in with your password again.")),
        activation: Link(
            title: "Set up your account",
            lead: "An account was made for you. Go on to set it up.",
            goOn: "Set up the account",
            doneTitle: "Your account is set up",
            done: "You can sign in with your password now. What else is needed is asked for there."),
        bySMS: "Send me a text message",
        byCall: "Call me",
        byMail: "Send me a mail",
        account: "Account: {login}",
        mailedTitle: "Look into your mailbox",
        back: "Back to sign-in",
        signIn: "Go to sign-in",
        toApplication: "Go back to the application that you want to use, and sign in there.",
        codeTitle: "Enter the code",
        textLead: "If there is an account with this name, and a telephone that belongs to it, a text message with a code is on its way.",
        callLead: "If there is an account with this name, and a telephone that belongs to it, it is called, and told a code.",
        code: "Code that you received",
        codeHint: "Six digits, good for five minutes.",
        useCode: "Go on",
        sendAnother: "Send another code",
        callAgain: "Call again",
        questionTitle: "Answer your question",
        questionLead: "You chose this question, and its answer, yourself:",
        answer: "Your answer",
        goOnWithAnswer: "Go on",
        newLead: "Choose another password for your account.",
        firstTitle: "Choose a password",
        firstLead: "You sign in with it from now on, and with nothing that you were given before.",
        setPassword: "Set password",
        wrongCode: "The code is wrong, or too old. Try again, or ask for another one.",
        wrongAnswer: "The answer is not the one that you gave. Try again.",
        sentJustNow: "A message was asked for a moment ago. Wait half a minute and try again.",
        badLink:
            "This link is not good, or not any more: it was used, is too old, or another one took its place. Ask for a new one where you sign in, or whoever made the account for you."
    )

    static let german = RecoveryTexts(
        password: Kind(
            link: "Passwort vergessen?",
            title: "Passwort vergessen?",
            lead: "Geben Sie Ihren Benutzernamen ein und wählen Sie, wie Sie bestätigen, dass Sie es sind.",
            mailed:
                "Gibt es ein Konto mit diesem Namen und eine Adresse dazu, ist eine E-Mail mit einem Link unterwegs. Der Link gilt eine Stunde lang und einmal.",
            byLink: Link(
                title: "Passwort vergessen?",
                lead: "Setzen Sie jetzt ein neues Passwort für Ihr Konto.",
                goOn: "Neues Passwort setzen",
                doneTitle: "Ihr Passwort ist geändert",
                done: "Melden Sie sich ab jetzt mit dem neuen Passwort an. Wo Sie mit dem alten angemeldet waren, sind Sie abgemeldet.")),
        unlock: Kind(
            link: "Konto gesperrt? Entsperren",
            title: "Konto entsperren",
            lead:
                "Nach zu vielen falschen Versuchen wird ein Konto gesperrt. Geben Sie Ihren Benutzernamen ein und wählen Sie, wie Sie bestätigen, dass Sie es sind.",
            mailed:
                "Gibt es ein Konto mit diesem Namen, ist es gesperrt und gibt es eine Adresse dazu, ist eine E-Mail mit einem Link unterwegs. Der Link gilt eine Stunde lang und einmal.",
            byLink: Link(
                title: "Konto entsperren",
                lead: "Entsperren Sie jetzt Ihr Konto.",
                goOn: "Konto entsperren",
                doneTitle: "Ihr Konto ist entsperrt",
                done: "Sie können sich wieder mit Ihrem Passwort anmelden.")),
        activation: Link(
            title: "Konto einrichten",
            lead: "Für Sie wurde ein Konto angelegt. Richten Sie es jetzt ein.",
            goOn: "Konto einrichten",
            doneTitle: "Ihr Konto ist eingerichtet",
            done: "Sie können sich jetzt mit Ihrem Passwort anmelden. Was sonst nötig ist, wird dort erfragt."),
        bySMS: "SMS an mich senden",
        byCall: "Mich anrufen",
        byMail: "E-Mail an mich senden",
        account: "Konto: {login}",
        mailedTitle: "Sehen Sie in Ihr Postfach",
        back: "Zurück zur Anmeldung",
        signIn: "Zur Anmeldung",
        toApplication: "Gehen Sie zurück zur Anwendung, die Sie benutzen wollen, und melden Sie sich dort an.",
        codeTitle: "Code eingeben",
        textLead: "Gibt es ein Konto mit diesem Namen und ein Telefon dazu, ist eine SMS mit einem Code unterwegs.",
        callLead: "Gibt es ein Konto mit diesem Namen und ein Telefon dazu, wird es angerufen und bekommt einen Code angesagt.",
        code: "Code, den Sie bekommen haben",
        codeHint: "Sechs Ziffern, fünf Minuten gültig.",
        useCode: "Weiter",
        sendAnother: "Anderen Code senden",
        callAgain: "Noch einmal anrufen",
        questionTitle: "Beantworten Sie Ihre Frage",
        questionLead: "Diese Frage und ihre Antwort haben Sie selbst gewählt:",
        answer: "Ihre Antwort",
        goOnWithAnswer: "Weiter",
        newLead: "Wählen Sie ein anderes Passwort für Ihr Konto.",
        firstTitle: "Passwort wählen",
        firstLead: "Damit melden Sie sich künftig an, und mit nichts, was Sie vorher bekommen haben.",
        setPassword: "Passwort setzen",
        wrongCode: "Der Code ist falsch oder zu alt. Versuchen Sie es noch einmal oder fordern Sie einen anderen an.",
        wrongAnswer: "Das ist nicht die Antwort, die Sie gegeben haben. Versuchen Sie es noch einmal.",
        sentJustNow: "Eben wurde schon eine Nachricht angefordert. Warten Sie eine halbe Minute und versuchen Sie es noch einmal.",
        badLink:
            "Dieser Link gilt nicht oder nicht mehr: Er wurde benutzt, ist zu alt, oder ein anderer hat ihn ersetzt. Fordern Sie dort einen neuen an, wo Sie sich anmelden, oder bei dem, der das Konto für Sie angelegt hat."
    )

    func kind(isUnlock: Bool) -> Kind { isUnlock ? unlock : password }

    func link(of kind: RecoveryKind) -> Link {
        switch kind {
        case .password: password.byLink
        case .unlock: unlock.byLink
        case .activation: activation
        }
    }

    /// The label of a channel's button.
    func label(of channel: CodeChannel) -> String {
        switch channel {
        case .sms: bySMS
        case .voice: byCall
        case .email: byMail
        }
    }
}
