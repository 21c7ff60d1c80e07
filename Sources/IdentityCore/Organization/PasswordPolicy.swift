/// What passwords must be, how long they are good, and what happens when they are guessed at.
package struct PasswordPolicy: Sendable, Equatable, Codable {
    /// Which kinds of characters a password must have. None by default: long passwords are better than mixed ones.
    package struct Complexity: Sendable, Equatable, Codable {
        /// Fewest lower-case letters, 0 to 20.
        package var lowercase: Int
        /// Fewest upper-case letters, 0 to 20.
        package var uppercase: Int
        /// Fewest digits, 0 to 20.
        package var digits: Int
        /// Fewest characters that are neither letter nor digit nor space, 0 to 20.
        package var symbols: Int
        /// Whether the person's given and family names must not be in it.
        package var excludesNames: Bool

        /// Asks for kinds of characters; none unless said otherwise.
        package init(lowercase: Int = 0, uppercase: Int = 0, digits: Int = 0, symbols: Int = 0, excludesNames: Bool = false) {
            self.lowercase = lowercase
            self.uppercase = uppercase
            self.digits = digits
            self.symbols = symbols
            self.excludesNames = excludesNames
        }
    }

    /// How long passwords are good, and when they can be used again. For ever by default: who must change passwords chooses worse ones.
    package struct Age: Sendable, Equatable, Codable {
        /// Days after which a password must be changed, 1 to 3,650; nil for never.
        package var maximumDays: Int?
        /// Days before its end from which on a person can be warned, 0 to 365; 0 for no warning.
        package var warningDays: Int
        /// Minutes that a password must be kept before the person may change it again, 0 to 43,200. What is due can always be changed.
        package var minimumMinutes: Int
        /// How many of a person's last passwords, the present one among them, cannot be their next, 0 to 24. Never the present one where
        /// it is due.
        package var history: Int

        /// Sets times; passwords are good for ever unless said otherwise.
        package init(maximumDays: Int? = nil, warningDays: Int = 0, minimumMinutes: Int = 0, history: Int = 0) {
            self.maximumDays = maximumDays
            self.warningDays = warningDays
            self.minimumMinutes = minimumMinutes
            self.history = history
        }
    }

    /// Fewest characters, 8 to 72.
    package var minimumLength: Int
    /// Failed attempts after which the account is locked; 0 for never.
    package var lockoutAttempts: Int
    /// Minutes until a locked account opens by itself; nil for never.
    package var lockoutMinutes: Int?
    /// The scrypt cost as a power of two, 14 to 20: 15 takes 32 MiB. (Tests and the sandbox go down to 10.)
    package var scryptLogN: Int
    /// Which kinds of characters a password must have.
    package var complexity: Complexity {
        get { kinds ?? Complexity() }
        set { kinds = newValue == Complexity() ? nil : newValue }
    }
    /// How long passwords are good.
    package var age: Age {
        get { times ?? Age() }
        set { times = newValue == Age() ? nil : newValue }
    }

    /// Nil for the default, and in records of before there was a choice.
    private var kinds: Complexity?
    /// Nil for the default, and in records of before there was a choice.
    private var times: Age?

    /// Makes a policy; the defaults are for production.
    package init(
        minimumLength: Int = 8, lockoutAttempts: Int = 10, lockoutMinutes: Int? = 15, scryptLogN: Int = 15,
        complexity: Complexity = Complexity(), age: Age = Age()
    ) {
        self.minimumLength = minimumLength
        self.lockoutAttempts = lockoutAttempts
        self.lockoutMinutes = lockoutMinutes
        self.scryptLogN = scryptLogN
        self.complexity = complexity
        self.age = age
    }
}
