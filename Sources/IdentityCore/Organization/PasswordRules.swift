internal import Crypto
internal import Foundation

/// A rule for new passwords, which pages list and errors report. The number in a character rule is the minimum.
package enum PasswordRule: Sendable, Equatable, Codable {
    case characters(Int)
    /// The maximum length.
    case length
    case lowercase(Int)
    case uppercase(Int)
    case digits(Int)
    /// Characters that are neither letter nor digit nor space.
    case symbols(Int)
    /// The password must not be a common password.
    case uncommon
    /// The password must not be known from a data breach.
    case unexposed
    /// The password must not be a repetition of a few characters.
    case varied
    /// The password must not contain the user name.
    case withoutLogin
    /// The password must not contain the user's given or family name.
    case withoutNames
    /// Differs from the user's last passwords, including the current one.
    case unused(last: Int)
    /// The current password is at least this old.
    case kept(minutes: Int)

    /// The error message for the user, in English.
    package var violation: String {
        switch self {
        case .characters(let count): "The password must have at least \(count) characters."
        case .length: "The password is too long; 256 characters are enough."
        case .lowercase(let count): "The password must have at least \(count) lower-case letter\(count == 1 ? "" : "s")."
        case .uppercase(let count): "The password must have at least \(count) upper-case letter\(count == 1 ? "" : "s")."
        case .digits(let count): "The password must have at least \(count) digit\(count == 1 ? "" : "s")."
        case .symbols(let count):
            "The password must have at least \(count) character\(count == 1 ? " that is" : "s that are") no letter, digit or space."
        case .uncommon: "The password is one of the first that an attacker tries."
        case .unexposed: "The password was exposed in a data breach. Choose a different one."
        case .varied: "The password repeats a few characters."
        case .withoutLogin: "The password must not contain the name that you sign in with."
        case .withoutNames: "The password must not contain your name."
        case .unused(let count):
            count > 1 ? "The password must be none of your last \(count)." : "The password must be another one than you have now."
        case .kept(let minutes): "The password was changed less than \(minutes) minute\(minutes == 1 ? "" : "s") ago. Try it later."
        }
    }
}

/// The rules for new passwords (NIST SP 800-63B section 3.1.1.2), and the additional rules of the policy.
extension PasswordPolicy {
    /// The rules to show before the user chooses a new password. Rules against trivial passwords are shown only when violated.
    package var rules: [PasswordRule] {
        let kinds: [PasswordRule] = [
            .lowercase(complexity.lowercase), .uppercase(complexity.uppercase), .digits(complexity.digits), .symbols(complexity.symbols),
        ]
        return [.characters(minimumLength)] + kinds.filter(\.asksForSome) + [.withoutLogin]
            + (complexity.excludesNames ? [.withoutNames] : []) + [.unused(last: max(age.history, 1))]
    }

    /// Returns the rules that a new password violates, regardless of earlier passwords; empty if it is acceptable.
    package func violations(byNewPassword password: String, login: String, names: [String] = []) -> [PasswordRule] {
        // An oversized password is not analyzed further.
        guard password.utf8.count <= PasswordVerifier.maximumBytes else { return [.length] }
        let text = password.precomposedStringWithCanonicalMapping
        let lower = text.lowercased()
        var violated: [PasswordRule] = []
        if text.unicodeScalars.count < minimumLength { violated.append(.characters(minimumLength)) }
        func count(_ isOne: (Character) -> Bool) -> Int { text.count(where: isOne) }
        if count(\.isLowercase) < complexity.lowercase { violated.append(.lowercase(complexity.lowercase)) }
        if count(\.isUppercase) < complexity.uppercase { violated.append(.uppercase(complexity.uppercase)) }
        if count(\.isNumber) < complexity.digits { violated.append(.digits(complexity.digits)) }
        let symbols = count { !$0.isLetter && !$0.isNumber && !$0.isWhitespace }
        if symbols < complexity.symbols { violated.append(.symbols(complexity.symbols)) }
        if commonPasswords.contains(lower) || commonPasswords.contains(String(lower.reversed())) { violated.append(.uncommon) }
        if Set(lower.unicodeScalars).count < 4 { violated.append(.varied) }
        let name = User.key(forLogin: login)
        let person = name.split(separator: "@").first.map(String.init) ?? name
        if lower.contains(name) || (person.count >= 4 && lower.contains(person)) { violated.append(.withoutLogin) }
        let own = names.map { User.key(forLogin: $0) }.filter { $0.count >= 3 }
        if complexity.excludesNames, own.contains(where: lower.contains) { violated.append(.withoutNames) }
        return violated
    }

    /// Returns the first violation of a new password as a sentence for the user; `nil` if it is acceptable.
    package func problem(withNewPassword password: String, login: String, names: [String] = []) -> String? {
        violations(byNewPassword: password, login: login, names: names).first?.violation
    }
}

extension PasswordRule {
    fileprivate var asksForSome: Bool {
        switch self {
        case .lowercase(let count), .uppercase(let count), .digits(let count), .symbols(let count): count > 0
        default: true
        }
    }
}

/// A lookup of passwords that were exposed in data breaches. Safe from any task.
package protocol BreachedPasswordSource: Sendable {
    /// Returns, in bounded time, whether the password with this SHA-1 digest (20 bytes) is known. If the lists are unavailable, the
    /// password counts as unknown.
    func contains(sha1: [UInt8]) async -> Bool
}

extension Engine {
    /// Whether a new password is known from a data breach. Called when a password is set, never at sign-in, and outside store transactions.
    func isBreached(_ password: String) async -> Bool {
        guard let source = environment.breachedPasswords else { return false }
        // Published lists use SHA-1; the digest protects nothing here.
        let digest = Insecure.SHA1.hash(data: Data(password.precomposedStringWithCanonicalMapping.utf8))
        return await source.contains(sha1: Array(digest))
    }
}

/// Common passwords of eight or more characters; shorter ones violate the minimum length.
let commonPasswords: Set<String> = [
    "password", "password1", "password12", "password123", "passw0rd", "p@ssw0rd", "p@ssword", "12345678", "123456789", "1234567890",
    "qwertyui", "qwertyuiop", "qwerty123", "qwerty12", "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx", "q1w2e3r4", "asdfghjkl", "asdfghjk",
    "zxcvbnm1", "iloveyou", "iloveyou1", "sunshine", "princess", "football", "baseball", "superman", "starwars", "trustno1",
    "whatever", "computer", "internet", "michelle", "jennifer", "jonathan", "corvette", "mercedes", "midnight", "samantha",
    "welcome1", "welcome123", "changeme", "changeme1", "changeit", "letmein1", "letmein123", "admin123", "admin1234", "administrator",
    "abcd1234", "abcdefgh", "abc12345", "a1b2c3d4", "aa123456", "11223344", "87654321", "secret123", "test1234", "testtest",
    "default1", "password!", "monkey123", "dragon123", "master123", "summer2024", "winter2024", "spring2024", "autumn2024",
]
