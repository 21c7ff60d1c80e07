/// Checks passwords against their scrypt hashes.
struct PasswordVerifier: FactorVerifier {
    let environment: EngineEnvironment
    /// The origin of the request, which decides its place in the hashing queue.
    let origin: RequestOrigin

    var kind: FactorKind { .password }
    var factorClass: FactorClass { .knowledge }
    var methods: [String] { ["pwd"] }

    /// More than any person types; what is longer is wrong without being hashed at its length.
    static let maximumBytes = 1_024

    /// What is hashed of a password that nobody has. Cut by bytes: one character can have any number of them.
    static func beginning(of password: String) -> String { String(decoding: password.utf8.prefix(64), as: UTF8.self) }

    func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) async throws -> FactorVerdict {
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
