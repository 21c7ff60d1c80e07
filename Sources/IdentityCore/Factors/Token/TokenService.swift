internal import JOSE

/// Whose a token is that another system knows.
package enum TokenProvider: String, Sendable, Codable, CaseIterable {
    /// RSA SecurID.
    case rsa = "RSA"
    /// Symantec VIP.
    case symantec = "SYMANTEC"
}

/// A code of such a token, to be judged.
package struct TokenCode: Sendable, Redacted {
    /// Whose the token is.
    package var provider: TokenProvider
    /// What the other system knows it by.
    package var credentialID: String
    /// The name that the person signs in with.
    package var login: String
    /// As it was typed; with RSA, after the PIN.
    package var passCode: String
    /// The code after it, where a token is set up that shows two; nil otherwise.
    package var nextPassCode: String?

    package init(provider: TokenProvider, credentialID: String, login: String, passCode: String, nextPassCode: String? = nil) {
        self.provider = provider
        self.credentialID = credentialID
        self.login = login
        self.passCode = passCode
        self.nextPassCode = nextPassCode
    }

    /// The provider; never a code.
    package var description: String { "TokenCode(\(provider.rawValue))" }
}

/// What a code came to.
package enum TokenVerdict: Sendable, Equatable {
    /// It is right, and used up.
    case right
    /// It is wrong, was used, or the token is not the person's.
    case wrong
    /// The person must do something at the other system first, such as choosing a PIN.
    case needsMore
}

/// Judges the codes of tokens that another system knows. Conforming types are safe from any task.
package protocol TokenService: Sendable {
    /// Judges a code.
    ///
    /// - Parameter code: The code.
    /// - Returns: What it came to.
    /// - Throws: What keeps it from telling; the person is told to try again. It must not take longer than a request may.
    func judge(_ code: TokenCode) async throws -> TokenVerdict
}

/// What the server keeps of a token that another system knows.
package struct TokenMethod: Sendable, Equatable, Codable {
    package var provider: TokenProvider
    /// What the other system knows it by.
    package var credentialID: String

    package init(provider: TokenProvider, credentialID: String) {
        self.provider = provider
        self.credentialID = credentialID
    }
}

/// Stands for a token whose code the service has judged already: asked once, however often the step around it is tried.
package struct TokenVerifier: FactorVerifier {
    package let token: TokenMethod

    package init(token: TokenMethod) {
        self.token = token
    }

    package var kind: FactorKind { .token }
    package var factorClass: FactorClass { .possession }
    package var methods: [String] { ["otp"] }

    package func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) -> FactorVerdict { .failed }
}
