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

    /// Returns the text of a rule, for the list of rules and for the list of violations.
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
        lead: "Your password must be changed. Choose a new one to continue to {app}.",
        rules: "Password requirements:",
        new: "New password",
        again: "Confirm new password",
        change: "Change password",
        differ: "The passwords do not match. Enter the new password twice.",
        refused: "Choose a different password:",
        characters: "At least {count} characters",
        length: "At most 256 characters",
        lowercase: "Lowercase letters: at least {count}",
        uppercase: "Uppercase letters: at least {count}",
        digits: "Digits: at least {count}",
        symbols: "Symbols, such as - or !: at least {count}",
        uncommon: "Not a common password",
        unexposed: "Not exposed in a data breach",
        varied: "Not just a few repeated characters",
        withoutLogin: "Does not contain your user name",
        withoutNames: "Does not contain your name",
        otherThanNow: "Different from your current password",
        unused: "Different from your last {count} passwords",
        kept: "The current password must be at least {count} minutes old")

    static let german = PasswordTexts(
        title: "Neues Passwort wählen",
        lead: "Ihr Passwort muss geändert werden. Wählen Sie ein neues, um mit {app} weiterzumachen.",
        rules: "Anforderungen an das Passwort:",
        new: "Neues Passwort",
        again: "Neues Passwort bestätigen",
        change: "Passwort ändern",
        differ: "Die Passwörter stimmen nicht überein. Geben Sie das neue Passwort zweimal ein.",
        refused: "Wählen Sie ein anderes Passwort:",
        characters: "Mindestens {count} Zeichen",
        length: "Höchstens 256 Zeichen",
        lowercase: "Kleinbuchstaben: mindestens {count}",
        uppercase: "Großbuchstaben: mindestens {count}",
        digits: "Ziffern: mindestens {count}",
        symbols: "Sonderzeichen wie - oder !: mindestens {count}",
        uncommon: "Kein häufiges Passwort",
        unexposed: "Nicht durch ein Datenleck bekannt",
        varied: "Nicht nur wenige wiederholte Zeichen",
        withoutLogin: "Enthält nicht Ihren Benutzernamen",
        withoutNames: "Enthält nicht Ihren Namen",
        otherThanNow: "Anders als Ihr jetziges Passwort",
        unused: "Anders als Ihre letzten {count} Passwörter",
        kept: "Das jetzige Passwort muss mindestens {count} Minuten alt sein")
}
