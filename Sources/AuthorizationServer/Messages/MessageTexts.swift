internal import IdentityCore

/// All texts of mails, texts and calls in one language, as a value so that a missing text does not compile. Placeholders: `{name}` is the
/// organization, `{app}` the application, `{code}` the code, `{minutes}` its lifetime, `{person}` the user's given name.
struct MessageTexts: Sendable {
    /// The texts for one purpose.
    struct Purpose: Sendable {
        var subject: String
        var title: String
        /// The text above the code.
        var lead: String
        /// The label of the link.
        var link: String
        /// The complete text message, without the link that may follow.
        var short: String
    }

    /// The language tag (RFC 5646).
    var language: String
    var greeting: String
    var greetingWithoutName: String
    var expiry: String
    /// The expiry sentence for lifetimes of 2 to 48 hours, with `{hours}`.
    var expiryInHours: String
    /// The expiry sentence for lifetimes of 2 days and more, with `{days}`.
    var expiryInDays: String
    var warning: String
    /// The text of a call; `{digits}` is the code, digit by digit.
    var spoken: String

    var signIn: Purpose
    var enrollment: Purpose
    var recovery: Purpose
    var unlock: Purpose
    var activation: Purpose
    var welcome: Purpose

    /// Returns the expiry sentence for a lifetime in seconds.
    func expiry(after seconds: Double) -> String { seconds < 7_200 ? expiry : seconds < 2 * 86_400 ? expiryInHours : expiryInDays }

    subscript(_ purpose: OutgoingMessage.Purpose) -> Purpose {
        switch purpose {
        case .signIn: signIn
        case .enrollment: enrollment
        case .recovery: recovery
        case .unlock: unlock
        case .activation: activation
        case .welcome: welcome
        }
    }

    /// Returns German for German language tags, otherwise English.
    static func preferred(by tag: String?) -> MessageTexts {
        let primary = tag?.lowercased().split(whereSeparator: { $0 == "-" || $0 == "_" }).first
        return primary == "de" ? .german : .english
    }
}

extension MessageTexts {
    static let english = MessageTexts(
        language: "en", greeting: "Hello {person},", greetingWithoutName: "Hello,",
        expiry: "It is valid for {minutes} minutes and works once.", expiryInHours: "It is valid for {hours} hours and works once.",
        expiryInDays: "It is valid for {days} days and works once.",
        warning: "If this was not you, do not share the code, and change your password.",
        spoken: "Hello. Your code for {name} is: {digits}. Again: {digits}. Goodbye.",
        signIn: Purpose(
            subject: "Your sign-in code", title: "Sign in to {app}",
            lead: "Use this code to sign in to {app}:",
            link: "Confirm sign-in", short: "{code} is your code to sign in to {app}. {name} never asks you for it."),
        enrollment: Purpose(
            subject: "Confirm this address", title: "Set up email codes",
            lead: "Sign-in codes for {name} will be sent to this address. Confirm it with this code:", link: "Confirm",
            short: "{code} confirms this number at {name}."),
        recovery: Purpose(
            subject: "Set a new password", title: "Set a new password", lead: "A password reset was requested for your account at {name}.",
            link: "Set a new password", short: "{code} is your code to set a new password at {name}."),
        unlock: Purpose(
            subject: "Unlock your account", title: "Unlock your account",
            lead: "Your account at {name} was locked after too many wrong passwords or codes.",
            link: "Unlock the account", short: "{code} is your code to unlock your account at {name}."),
        activation: Purpose(
            subject: "Set up your phone", title: "Set up your phone",
            lead: "Open this link on the phone that you want to use to approve sign-ins.", link: "Set up this phone",
            short: "Set up this phone for {name}:"),
        welcome: Purpose(
            subject: "Set up your account", title: "Welcome to {name}", lead: "An account was created for you. Set it up to sign in.",
            link: "Set up the account", short: "Set up your account at {name}:"))

    static let german = MessageTexts(
        language: "de", greeting: "Guten Tag {person},", greetingWithoutName: "Guten Tag,",
        expiry: "Er ist {minutes} Minuten gültig und kann nur einmal verwendet werden.",
        expiryInHours: "Er ist {hours} Stunden gültig und kann nur einmal verwendet werden.",
        expiryInDays: "Er ist {days} Tage gültig und kann nur einmal verwendet werden.",
        warning: "Wenn Sie das nicht waren, geben Sie den Code nicht weiter und ändern Sie Ihr Passwort.",
        spoken: "Guten Tag. Ihr Code für {name} lautet: {digits}. Noch einmal: {digits}. Auf Wiederhören.",
        signIn: Purpose(
            subject: "Ihr Anmeldecode", title: "Anmelden bei {app}",
            lead: "Mit diesem Code melden Sie sich bei {app} an:",
            link: "Anmeldung bestätigen", short: "{code} ist Ihr Code zum Anmelden bei {app}. {name} fragt Sie nie danach."),
        enrollment: Purpose(
            subject: "Diese Adresse bestätigen", title: "Codes per E-Mail einrichten",
            lead: "Anmeldecodes für {name} werden an diese Adresse gesendet. Bestätigen Sie sie mit diesem Code:", link: "Bestätigen",
            short: "{code} bestätigt diese Nummer bei {name}."),
        recovery: Purpose(
            subject: "Neues Passwort setzen", title: "Neues Passwort setzen",
            lead: "Für Ihr Konto bei {name} wurde ein neues Passwort angefordert.", link: "Neues Passwort setzen",
            short: "{code} ist Ihr Code für ein neues Passwort bei {name}."),
        unlock: Purpose(
            subject: "Konto entsperren", title: "Konto entsperren",
            lead: "Ihr Konto bei {name} wurde nach zu vielen falschen Eingaben gesperrt.",
            link: "Konto entsperren", short: "{code} ist Ihr Code zum Entsperren Ihres Kontos bei {name}."),
        activation: Purpose(
            subject: "Telefon einrichten", title: "Telefon einrichten",
            lead: "Öffnen Sie diesen Link auf dem Telefon, mit dem Sie Anmeldungen bestätigen möchten.", link: "Dieses Telefon einrichten",
            short: "Dieses Telefon für {name} einrichten:"),
        welcome: Purpose(
            subject: "Konto einrichten", title: "Willkommen bei {name}",
            lead: "Für Sie wurde ein Konto angelegt. Richten Sie es ein, um sich damit anzumelden.", link: "Konto einrichten",
            short: "Ihr Konto bei {name} einrichten:"))
}
