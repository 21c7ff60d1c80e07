/// The rules for passwords: content, age and lockout.
package struct PasswordPolicy: Sendable, Equatable, Codable {
    /// The minimum number of each kind of character, 0 to 20. None by default, because length protects better than mixed characters.
    package struct Complexity: Sendable, Equatable, Codable {
        package var lowercase: Int
        package var uppercase: Int
        package var digits: Int
        /// Characters that are neither letter nor digit nor space.
        package var symbols: Int
        /// Whether the password must not contain the user's given and family names.
        package var excludesNames: Bool

        package init(lowercase: Int = 0, uppercase: Int = 0, digits: Int = 0, symbols: Int = 0, excludesNames: Bool = false) {
            (self.lowercase, self.uppercase, self.digits, self.symbols) = (lowercase, uppercase, digits, symbols)
            self.excludesNames = excludesNames
        }
    }

    /// The validity and reuse of passwords. Unlimited by default, because forced changes lead to weaker passwords.
    package struct Age: Sendable, Equatable, Codable {
        /// Days after which a password expires, 1 to 3,650; `nil` for never.
        package var maximumDays: Int?
        /// Days before expiry when warnings start, 0 to 365; 0 for no warning.
        package var warningDays: Int
        /// Minutes before the user may change a password again, 0 to 43,200. An expired password can always be changed.
        package var minimumMinutes: Int
        /// The number of recent passwords, including the current one, from which a new password must differ, 0 to 24. A new password must
        /// always differ from the current one.
        package var history: Int

        package init(maximumDays: Int? = nil, warningDays: Int = 0, minimumMinutes: Int = 0, history: Int = 0) {
            (self.maximumDays, self.warningDays, self.minimumMinutes, self.history) = (maximumDays, warningDays, minimumMinutes, history)
        }
    }

    /// The minimum number of characters, 8 to 72.
    package var minimumLength: Int
    /// The number of failed attempts that locks the account; 0 for never.
    package var lockoutAttempts: Int
    /// Minutes until a locked account unlocks by itself; `nil` for never.
    package var lockoutMinutes: Int?
    /// The binary logarithm of the scrypt cost, 10 to 20; 15 uses 32 MiB. Values below 14 are only for tests and the sandbox.
    package var scryptLogN: Int
    package var complexity: Complexity {
        get { kinds ?? Complexity() }
        set { kinds = newValue == Complexity() ? nil : newValue }
    }
    package var age: Age {
        get { times ?? Age() }
        set { times = newValue == Age() ? nil : newValue }
    }

    /// The storage of ``complexity``: `nil` for the default, and in records of earlier versions.
    private var kinds: Complexity?
    /// The storage of ``age``: `nil` for the default, and in records of earlier versions.
    private var times: Age?

    /// Creates a policy. The defaults are suitable for production.
    package init(
        minimumLength: Int = 8, lockoutAttempts: Int = 10, lockoutMinutes: Int? = 15, scryptLogN: Int = 15,
        complexity: Complexity = Complexity(), age: Age = Age()
    ) {
        (self.minimumLength, self.lockoutAttempts, self.lockoutMinutes) = (minimumLength, lockoutAttempts, lockoutMinutes)
        (self.scryptLogN, self.complexity, self.age) = (scryptLogN, complexity, age)
    }
}
