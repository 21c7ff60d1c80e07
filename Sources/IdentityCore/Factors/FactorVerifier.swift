/// What a factor rests on; two factors count as two only if they differ in this.
package enum FactorClass: String, Sendable, Codable {
    case knowledge, possession, inherence
    /// What a person once said of themselves. Weaker than a password, and no more than that; it counts beside one only because the
    /// organization chose to ask for it.
    case recollection
}

/// What a person answered.
package enum FactorResponse: Sendable {
    case password(String)
    /// Of an authenticator app, or one that was sent.
    case code(String)
    /// The link that came with a code was opened, and there the person said that it is them.
    case confirmedLink
    /// To a security question.
    case answer(String)
}

/// What an answer came to.
package enum FactorVerdict: Sendable, Equatable {
    /// It is right; `passwordHash` replaces the stored one if its parameters are out of date, `enrollment` the stored one if the answer
    /// is used up.
    case proved(passwordHash: String?, enrollment: Enrollment? = nil)
    /// It is wrong, or there is nothing that it could be right against.
    case failed
    /// It is wrong, which the stored enrolment counts.
    case wrong(Enrollment)
}

/// Checks one kind of factor.
///
/// The asynchronous part of a sign-in: it computes or calls out, decides nothing beyond its verdict and writes nothing.
/// ``SignInTransaction`` turns the verdict into an outcome. Conforming types are safe from any task.
package protocol FactorVerifier: Sendable {
    /// What it checks.
    var kind: FactorKind { get }
    /// What the factor rests on.
    var factorClass: FactorClass { get }
    /// What it adds to `amr` (RFC 8176).
    var methods: [String] { get }

    /// Checks an answer. Takes as long for nobody as for somebody.
    ///
    /// - Parameters:
    ///   - response: What the person answered.
    ///   - user: The person; nil if the name that they gave is nobody's.
    ///   - policy: The password policy.
    /// - Returns: Whether the answer is right.
    /// - Throws: What keeps it from telling, such as ``PasswordHasher/Overloaded``.
    func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) async throws -> FactorVerdict
}

/// A kind of factor.
///
/// Open, so that a factor is added by one file: its kind, its class, its verifier.
package struct FactorKind: RawRepresentable, Hashable, Sendable, Codable {
    package var rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static let password = FactorKind(rawValue: "password")
    package static let push = FactorKind(rawValue: "push")
    package static let totp = FactorKind(rawValue: "totp")
    package static let sms = FactorKind(rawValue: "sms")
    package static let voice = FactorKind(rawValue: "voice")
    package static let email = FactorKind(rawValue: "email")
    static let question = FactorKind(rawValue: "question")
    /// A device whose codes follow a counter.
    static let hotp = FactorKind(rawValue: "hotp")
    /// A token that another system knows.
    package static let token = FactorKind(rawValue: "token")
    /// The token that an administrator gave, in place of a password; nobody is asked for it.
    static let activation = FactorKind(rawValue: "activation")

    /// The grants by which a client can present the factor as the second one; what `supported_challenge_types` lists.
    package var secondFactorGrantTypes: [String] {
        switch self {
        case .push, .sms, .voice: [GrantType.secondFactorOOB]
        case .email: [GrantType.mailedCode]
        case .question: [GrantType.securityQuestion]
        case .hotp, .token: [GrantType.hardwareCode]
        case .totp: [GrantType.secondFactorOTP]
        default: []
        }
    }
}

/// Checks passwords against their scrypt hashes.
package struct PasswordVerifier: FactorVerifier {
    package let environment: EngineEnvironment
    /// The origin of the request, which decides its place in the hashing queue.
    package let origin: RequestOrigin

    package init(environment: EngineEnvironment, origin: RequestOrigin) {
        self.environment = environment
        self.origin = origin
    }

    package var kind: FactorKind { .password }
    package var factorClass: FactorClass { .knowledge }
    package var methods: [String] { ["pwd"] }

    /// More than any person types; what is longer is wrong without being hashed at its length.
    static let maximumBytes = 1_024

    /// What is hashed of a password that nobody has. Cut by bytes: one character can have any number of them.
    static func beginning(of password: String) -> String { String(decoding: password.utf8.prefix(64), as: UTF8.self) }

    package func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) async throws -> FactorVerdict {
        guard case .password(let password) = response else { return .failed }
        let hasher = environment.passwordHasher
        let share = HashingShare(origin, of: user)
        guard let hash = user?.passwordHash, password.utf8.count <= Self.maximumBytes else {
            try await hasher.verifyNobody(Self.beginning(of: password), logN: policy.scryptLogN, for: share)
            return .failed
        }
        guard try await hasher.verify(password, against: hash, spending: policy.scryptLogN, for: share) else { return .failed }
        guard PasswordHasher.needsRehash(hash, logN: policy.scryptLogN) else { return .proved(passwordHash: nil) }
        let salt = try environment.random.bytes(16)
        return .proved(passwordHash: try await hasher.hash(password, logN: policy.scryptLogN, salt: salt, for: share))
    }
}
