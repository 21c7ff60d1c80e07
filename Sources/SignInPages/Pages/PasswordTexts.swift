internal import Foundation
internal import IdentityCore

/// The texts about a new password; a part of ``PageTexts``. `{count}` stands for a number.
struct PasswordTexts: Sendable {
    var title: String
    var lead: String
    var rules: String
    var new: String
    var again: String
    var change: String
    var differ: String
    var refused: String

    var characters: String
    var length: String
    var lowercase: String
    var uppercase: String
    var digits: String
    var symbols: String
    var uncommon: String
    var unexposed: String
    var varied: String
    var withoutLogin: String
    var withoutNames: String
    var otherThanNow: String
    var unused: String
    var kept: String

    /// The text of a rule, for the list of rules and for the list of violations.
    func sentence(for rule: PasswordRule) -> String {
        func text(_ pattern: String, _ count: Int) -> String { pattern.replacing("{count}", with: String(count)) }
        return switch rule {
        case .characters(let count): text(characters, count)
        case .length: length
        case .lowercase(let count): text(lowercase, count)
        case .uppercase(let count): text(uppercase, count)
        case .digits(let count): text(digits, count)
        case .symbols(let count): text(symbols, count)
        case .uncommon: uncommon
        case .unexposed: unexposed
        case .varied: varied
        case .withoutLogin: withoutLogin
        case .withoutNames: withoutNames
        case .unused(let count): count > 1 ? text(unused, count) : otherThanNow
        case .kept(let minutes): text(kept, minutes)
        }
    }
}

extension PasswordTexts {
    static let english = PasswordTexts(
        title: "Choose a new password",
        lead: "Your password is no longer good. Choose another one, and the sign-in to {app} goes on.",
        rules: "A new password has:",
        new: "New password",
        again: "The same once more",
        change: "Change password",
        differ: "The two passwords are not the same. Enter the new one twice.",
        refused: "This password will not do:",
        characters: "at least {count} characters",
        length: "no more than 256 characters",
        lowercase: "lower-case letters: at least {count}",
        uppercase: "upper-case letters: at least {count}",
        digits: "digits: at least {count}",
        symbols: "other characters, as - or !: at least {count}",
        uncommon: "nothing that attackers try first",
        unexposed: "no password that was exposed in a data breach",
        varied: "more than a few characters over and over",
        withoutLogin: "no part that is your user name",
        withoutNames: "no part that is your name",
        otherThanNow: "another text than your present password",
        unused: "another text than your last {count} passwords",
        kept: "to wait: the present one must be kept for {count} minutes")

    static let german = PasswordTexts(
        title: "Neues Passwort wählen",
        lead: "Ihr Passwort gilt nicht mehr. Wählen Sie ein anderes, dann geht die Anmeldung bei {app} weiter.",
        rules: "Ein neues Passwort hat:",
        new: "Neues Passwort",
        again: "Noch einmal dasselbe",
        change: "Passwort ändern",
        differ: "Die beiden Passwörter sind nicht gleich. Geben Sie das neue zweimal ein.",
        refused: "Dieses Passwort geht nicht:",
        characters: "mindestens {count} Zeichen",
        length: "höchstens 256 Zeichen",
        lowercase: "Kleinbuchstaben: mindestens {count}",
        uppercase: "Großbuchstaben: mindestens {count}",
        digits: "Ziffern: mindestens {count}",
        symbols: "andere Zeichen, wie - oder !: mindestens {count}",
        uncommon: "nichts, was Angreifer zuerst versuchen",
        unexposed: "kein Passwort, das durch ein Datenleck bekannt wurde",
        varied: "mehr als wenige Zeichen immer wieder",
        withoutLogin: "keinen Teil, der Ihr Benutzername ist",
        withoutNames: "keinen Teil, der Ihr Name ist",
        otherThanNow: "einen anderen Text als Ihr jetziges Passwort",
        unused: "einen anderen Text als Ihre letzten {count} Passwörter",
        kept: "zu warten: das jetzige muss {count} Minuten behalten werden")
}
