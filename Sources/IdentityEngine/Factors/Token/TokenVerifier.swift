/// What the server keeps of a token that another system knows.
struct TokenMethod: Sendable, Equatable, Codable {
    var provider: TokenProvider
    /// What the other system knows it by.
    var credentialID: String
}

/// Stands for a token whose code the service has judged already: asked once, however often the step around it is tried.
struct TokenVerifier: FactorVerifier {
    let token: TokenMethod

    var kind: FactorKind { .token }
    var factorClass: FactorClass { .possession }
    var methods: [String] { ["otp"] }

    func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) -> FactorVerdict { .failed }
}
