package import Foundation

/// The class of a factor. Two factors count as two only if their classes differ. For example, a `knowledge` factor after a password is not
/// a second factor: the sign-in asks for another factor.
package enum FactorClass: String, Sendable, Codable {
    case knowledge, possession, inherence
    /// A fact about the user, such as the answer to a security question. Weaker than a password. It counts only in the classic API
    /// (``DoorRules/countsRecollection``), as a second factor that the organization chose to require.
    case recollection
}

/// The user's input for a factor.
package enum FactorResponse: Sendable {
    case password(String)
    /// A code that an authenticator app shows, or that the server sent.
    case code(String)
    /// The user opened the link that was sent with a code, and confirmed the sign-in there.
    case confirmedLink
    /// The answer to a security question.
    case answer(String)
    /// The signature of a passkey.
    case assertion(PasskeyAssertion)
}

/// The result of checking a response.
package enum FactorVerdict: Sendable, Equatable {
    /// The response is correct.
    /// - `passwordHash` replaces a stored hash with outdated parameters; otherwise `nil`.
    /// - `enrollment` replaces the stored enrollment, with the consumed response; `nil` for a password.
    /// - `sessionsEndedAt` is the account's value when a first factor was checked; `nil` for other factors. If the stored value differs,
    ///   all sessions of the user were ended in between.
    case proved(passwordHash: String?, enrollment: Enrollment? = nil, sessionsEndedAt: Date? = nil)
    /// The response is wrong, or the factor does not exist.
    case failed
    /// The response is wrong for this reason, which only the system log contains.
    case rejected(String)
    /// The response is wrong. The enrollment, which counts the wrong response, must be stored.
    case wrong(Enrollment)
}

/// Checks responses to one kind of factor. This is the asynchronous part of a sign-in: a verifier may take time to compute, but it neither
/// decides nor writes. ``SignInTransaction`` turns the verdict into an outcome. Conforming types are safe from any task.
package protocol FactorVerifier: Sendable {
    var kind: FactorKind { get }
    /// The class that a correct answer proves; see ``FactorClass`` for what a second factor must add.
    var factorClass: FactorClass { get }
    /// The `amr` values that the factor adds (RFC 8176).
    var methods: [String] { get }

    /// What the verdict depends on besides the user's factors, as text. A verdict is reused after a conflict only while it is equal.
    var inputs: String { get }

    /// Checks a response. `user` is `nil` for an unknown name; the duration of the check does not reveal this. Throws if no verdict is
    /// possible, for example ``PasswordHasher/Overloaded``.
    func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) async throws -> FactorVerdict
}

extension FactorVerifier {
    package var inputs: String { "" }
}

/// A kind of factor. Several kinds can have the same ``FactorClass``. Not an enum, so that stored kinds that this version does not know
/// still decode. ARCHITECTURE.md, “To add a factor”, lists the changes that a new kind needs.
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
    package static let question = FactorKind(rawValue: "question")
    /// An HOTP device.
    package static let hotp = FactorKind(rawValue: "hotp")
    /// A token that an external system manages.
    package static let token = FactorKind(rawValue: "token")
    /// A passkey or security key (WebAuthn).
    package static let passkey = FactorKind(rawValue: "webauthn")
    /// A saved recovery code.
    package static let savedCode = FactorKind(rawValue: "recovery_code")
    /// The activation token that an administrator gives to the user, in place of a password; never offered as a factor.
    static let activation = FactorKind(rawValue: "activation")

    /// Whether the user answers on another channel than the sign-in (NIST SP 800-63B section 5.1.3).
    package var isOutOfBand: Bool { [.push, .sms, .voice].contains(self) }
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

    /// The maximum length in bytes; a longer password is wrong, and only its beginning is hashed.
    static let maximumBytes = 1_024

    /// Returns the part of an oversized password that is hashed. Counts bytes, because one character can have any number of bytes.
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
