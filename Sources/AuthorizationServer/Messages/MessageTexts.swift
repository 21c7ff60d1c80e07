internal import IdentityCore

/// All texts of mails, texts and calls in one language, as a value so that a missing text does not compile. Placeholders: `{name}` is the
/// organization, `{app}` the application, `{code}` the code, `{minutes}` its lifetime, `{person}` the user's given name.
struct MessageTexts: Sendable {
    /// Texts for one purpose.
    struct Purpose: Sendable {
        var subject: String
        var title: String
        /// Text above the code.
        var lead: String
        /// Label of the link.
        var link: String
        /// Complete text message, without the link that may follow.
        var short: String
    }

    /// Language tag (RFC 5646).
    var language: String
    var greeting: String
    var greetingWithoutName: String
    var expiry: String
    /// For lifetimes of 2 to 48 hours; `{hours}`.
    var expiryInHours: String
    /// For lifetimes of 2 days and more; `{days}`.
    var expiryInDays: String
    var warning: String
    /// Text of a call; `{digits}` is the code, digit by digit.
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
        expiry: "It is good for {minutes} minutes, and once.", expiryInHours: "It is good for {hours} hours, and once.",
        expiryInDays: "It is good for {days} days, and once.",
        warning: "If this was not you, tell nobody, and change your password: somebody may know it.",
        spoken: "Hello. Your code for {name} is: {digits}. Again: {digits}. Goodbye.",
        signIn: Purpose(
            subject: "Your code to sign in", title: "Sign in to {app}",
            lead: "Somebody, most likely you, signs in to {app}. This is the code:",
            link: "It is me", short: "{code} is your code to sign in to {app}. {name} never asks you for it."),
        enrollment: Purpose(
            subject: "Confirm this address", title: "Set up codes by mail",
            lead: "From now on, codes for {name} come to this address. Confirm it with this code:", link: "Confirm",
            short: "{code} confirms this number at {name}."),
        recovery: Purpose(
            subject: "Set a new password", title: "Set a new password", lead: "Somebody, most likely you, forgot the password at {name}.",
            link: "Set a new password", short: "{code} is your code to set a new password at {name}."),
        unlock: Purpose(
            subject: "Unlock your account", title: "Unlock your account", lead: "Your account at {name} was locked after wrong passwords.",
            link: "Unlock the account", short: "{code} is your code to unlock your account at {name}."),
        activation: Purpose(
            subject: "Set up your phone", title: "Set up your phone",
            lead: "Open this on the phone that you want to confirm sign-ins with.", link: "Set up this phone",
            short: "Set up this phone for {name}:"),
        welcome: Purpose(
            subject: "Set up your account", title: "Welcome to {name}", lead: "An account was made for you. Set it up to sign in with it.",
            link: "Set up the account", short: "Set up your account at {name}:"))

    static let german = MessageTexts(
        language: "de", greeting: "Guten Tag {person},", greetingWithoutName: "Guten Tag,",
        expiry: "Er gilt {minutes} Minuten lang und einmal.", expiryInHours: "Er gilt {hours} Stunden lang und einmal.",
        expiryInDays: "Er gilt {days} Tage lang und einmal.",
        warning: "Waren das nicht Sie, sagen Sie den Code niemandem und ändern Sie Ihr Passwort: Vielleicht kennt es jemand.",
        spoken: "Guten Tag. Ihr Code für {name} lautet: {digits}. Noch einmal: {digits}. Auf Wiederhören.",
        signIn: Purpose(
            subject: "Ihr Code zum Anmelden", title: "Anmelden bei {app}",
            lead: "Jemand, wohl Sie selbst, meldet sich bei {app} an. Der Code ist:",
            link: "Ich bin es", short: "{code} ist Ihr Code zum Anmelden bei {app}. {name} fragt Sie nie danach."),
        enrollment: Purpose(
            subject: "Diese Adresse bestätigen", title: "Codes per E-Mail einrichten",
            lead: "Codes für {name} kommen künftig an diese Adresse. Bestätigen Sie sie mit dem Code:", link: "Bestätigen",
            short: "{code} bestätigt diese Nummer bei {name}."),
        recovery: Purpose(
            subject: "Neues Passwort setzen", title: "Neues Passwort setzen",
            lead: "Jemand, wohl Sie selbst, hat das Passwort bei {name} vergessen.", link: "Neues Passwort setzen",
            short: "{code} ist Ihr Code für ein neues Passwort bei {name}."),
        unlock: Purpose(
            subject: "Konto entsperren", title: "Konto entsperren", lead: "Ihr Konto bei {name} wurde nach falschen Passwörtern gesperrt.",
            link: "Konto entsperren", short: "{code} ist Ihr Code zum Entsperren Ihres Kontos bei {name}."),
        activation: Purpose(
            subject: "Telefon einrichten", title: "Telefon einrichten",
            lead: "Öffnen Sie dies auf dem Telefon, mit dem Sie Anmeldungen bestätigen wollen.", link: "Dieses Telefon einrichten",
            short: "Dieses Telefon für {name} einrichten:"),
        welcome: Purpose(
            subject: "Konto einrichten", title: "Willkommen bei {name}",
            lead: "Für Sie wurde ein Konto angelegt. Richten Sie es ein, um sich damit anzumelden.", link: "Konto einrichten",
            short: "Ihr Konto bei {name} einrichten:"))
}
