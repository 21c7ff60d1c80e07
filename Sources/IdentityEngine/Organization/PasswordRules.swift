internal import Foundation

/// What a new password must be (NIST SP 800-63B section 3.1.1.2): long enough, not well known, not the person's own name.
/// No rules about kinds of characters, which make passwords worse.
extension PasswordPolicy {
    /// What is wrong with a new password.
    ///
    /// - Parameters:
    ///   - password: The password that somebody wants.
    ///   - login: The name that they sign in with.
    /// - Returns: A sentence for the person; nil if the password will do.
    public func problem(withNewPassword password: String, login: String) -> String? {
        let text = password.precomposedStringWithCanonicalMapping
        if text.unicodeScalars.count < minimumLength { return "The password must have at least \(minimumLength) characters." }
        if text.utf8.count > PasswordVerifier.maximumBytes { return "The password is too long; 256 characters are enough." }
        let lower = text.lowercased()
        if commonPasswords.contains(lower) || commonPasswords.contains(String(lower.reversed())) {
            return "The password is one of the first that an attacker tries."
        }
        if Set(lower.unicodeScalars).count < 4 { return "The password repeats a few characters." }
        let name = User.key(forLogin: login)
        let person = name.split(separator: "@").first.map(String.init) ?? name
        if lower.contains(name) || (person.count >= 4 && lower.contains(person)) {
            return "The password must not contain the name that you sign in with."
        }
        return nil
    }
}

/// From eight characters on; shorter ones fall to the length.
private let commonPasswords: Set<String> = [
    "password", "password1", "password12", "password123", "passw0rd", "p@ssw0rd", "p@ssword", "12345678", "123456789", "1234567890",
    "qwertyui", "qwertyuiop", "qwerty123", "qwerty12", "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx", "q1w2e3r4", "asdfghjkl", "asdfghjk",
    "zxcvbnm1", "iloveyou", "iloveyou1", "sunshine", "princess", "football", "baseball", "superman", "starwars", "trustno1",
    "whatever", "computer", "internet", "michelle", "jennifer", "jonathan", "corvette", "mercedes", "midnight", "samantha",
    "welcome1", "welcome123", "changeme", "changeme1", "changeit", "letmein1", "letmein123", "admin123", "admin1234", "administrator",
    "abcd1234", "abcdefgh", "abc12345", "a1b2c3d4", "aa123456", "11223344", "87654321", "secret123", "test1234", "testtest",
    "default1", "password!", "monkey123", "dragon123", "master123", "summer2024", "winter2024", "spring2024", "autumn2024",
]
