internal import JOSE

/// The external system that manages a token.
package enum TokenProvider: String, Sendable, Codable, CaseIterable {
    /// RSA SecurID.
    case rsa = "RSA"
    /// Symantec VIP.
    case symantec = "SYMANTEC"
}

/// A code of a token that an external system manages, to be verified.
package struct TokenCode: Sendable, Redacted {
    package var provider: TokenProvider
    /// The token's id in the external system.
    package var credentialID: String
    package var login: String
    /// The code as the user entered it; for RSA, with the PIN before it.
    package var passCode: String
    /// The next code, if the enrollment of a token requires two; otherwise `nil`.
    package var nextPassCode: String?

    package init(provider: TokenProvider, credentialID: String, login: String, passCode: String, nextPassCode: String? = nil) {
        (self.provider, self.credentialID, self.login, self.passCode) = (provider, credentialID, login, passCode)
        self.nextPassCode = nextPassCode
    }

    /// Contains the provider, not the codes.
    package var description: String { "TokenCode(\(provider.rawValue))" }
}

/// The result of verifying a code.
package enum TokenVerdict: Sendable, Equatable {
    /// The code is correct, and consumed.
    case right
    /// The code is wrong or was used, or the token is not the user's.
    case wrong
    /// The user must first complete a step in the external system, such as choosing a PIN.
    case needsMore
}

/// Verifies the codes of tokens that an external system manages. Conforming types are safe from any task.
package protocol TokenService: Sendable {
    /// Verifies a code, within the time limit of a request. Throws if no verdict is possible; the user is asked to try again.
    func judge(_ code: TokenCode) async throws -> TokenVerdict
}

/// The stored state of a token that an external system manages.
package struct TokenMethod: Sendable, Equatable, Codable {
    package var provider: TokenProvider
    /// The token's id in the external system.
    package var credentialID: String

    package init(provider: TokenProvider, credentialID: String) {
        self.provider = provider
        self.credentialID = credentialID
    }
}

/// A placeholder for a token whose code the service has already verified, so that a retried step does not verify it again.
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
