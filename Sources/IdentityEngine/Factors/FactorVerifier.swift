/// What a factor rests on; two factors count as two only if they differ in this.
enum FactorClass: String, Sendable, Codable {
    case knowledge, possession, inherence
    /// What a person once said of themselves. Weaker than a password, and no more than that; it counts beside one only because the
    /// organization chose to ask for it.
    case recollection
}

/// What a person answered.
enum FactorResponse: Sendable {
    case password(String)
    /// Of an authenticator app, or one that was sent.
    case code(String)
    /// The link that came with a code was opened, and there the person said that it is them.
    case confirmedLink
    /// To a security question.
    case answer(String)
}

/// What an answer came to.
enum FactorVerdict: Sendable, Equatable {
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
protocol FactorVerifier: Sendable {
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
