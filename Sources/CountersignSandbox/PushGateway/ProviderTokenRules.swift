internal import Foundation
internal import JOSE

/// The push service's rules for provider tokens (device-authenticator reference 9.2): signature, team, age and renewal frequency.
struct ProviderTokenRules {
    private struct Provider {
        let key: VerificationKey
        let teamID: String
        let topics: Set<String>
    }

    private struct Use {
        let token: String
        let teamID: String
        let since: Date
    }

    /// The maximum age of a token, in seconds.
    static let lifetime: TimeInterval = 60 * 60
    /// The accepted clock skew of a provider, in seconds.
    static let leeway: TimeInterval = 5 * 60
    /// The minimum time between two tokens on a connection, in seconds.
    static let shortestRenewal: TimeInterval = 20 * 60

    /// By key ID.
    private var providers: [String: Provider] = [:]
    /// The token that each connection uses.
    private var uses: [Int: Use] = [:]

    mutating func trust(teamID: String, keyID: String, publicKey: JSONWebKey, topics: Set<String>) throws {
        providers[keyID] = Provider(key: try VerificationKey(publicKey, algorithm: .es256), teamID: teamID, topics: topics)
    }

    mutating func forget(connection: Int) {
        uses[connection] = nil
    }

    /// Checks the header `authorization`. Returns the topics that the provider may push to, or a refusal.
    mutating func check(_ authorization: String?, connection: Int, now: Date) -> Result<Set<String>, Refusal> {
        guard let authorization else { return .failure(.init(.refused(403, "MissingProviderToken"))) }
        let invalid = Refusal(.refused(403, "InvalidProviderToken"))
        let parts = authorization.split(separator: " ", maxSplits: 1).map(String.init)
        // Every other defect of the token gets the same response.
        guard parts.count == 2, parts[0].lowercased() == "bearer", let signature = try? JSONWebSignature(parsing: parts[1]),
            signature.algorithm == .es256, let keyID = signature.keyID, let provider = providers[keyID],
            (try? signature.verify(with: provider.key)) != nil, let claims = try? signature.unverifiedClaims(),
            claims.issuer == provider.teamID, let issuedAt = claims.issueDate
        else { return .failure(invalid) }
        let age = now.timeIntervalSince(issuedAt)
        guard age <= Self.lifetime else { return .failure(.init(.refused(403, "ExpiredProviderToken"))) }
        guard age >= -Self.leeway else { return .failure(invalid) }
        return use(parts[1], of: provider, on: connection, now: now)
    }

    /// Enforces that a connection belongs to one team, and uses one token at a time.
    private mutating func use(_ token: String, of provider: Provider, on connection: Int, now: Date) -> Result<Set<String>, Refusal> {
        if let use = uses[connection], use.token != token {
            guard use.teamID == provider.teamID else { return .failure(.init(.refused(403, "InvalidProviderToken"))) }
            guard now.timeIntervalSince(use.since) >= Self.shortestRenewal else {
                return .failure(.init(.refused(429, "TooManyProviderTokenUpdates")))
            }
        }
        if uses[connection]?.token != token { uses[connection] = Use(token: token, teamID: provider.teamID, since: now) }
        return .success(provider.topics)
    }

    /// A response that ends the checks.
    struct Refusal: Error {
        let answer: PushGatewayAnswer

        init(_ answer: PushGatewayAnswer) { self.answer = answer }
    }
}
