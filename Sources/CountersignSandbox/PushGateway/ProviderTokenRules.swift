internal import Foundation
internal import JOSE

/// What a push service asks of provider tokens (device-authenticator reference 9.2): signature, team, age, and how often they change.
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

    /// How old a token may be.
    static let lifetime: TimeInterval = 60 * 60
    /// How far ahead the provider's clock may be.
    static let leeway: TimeInterval = 5 * 60
    /// How long a provider has to stay with one token.
    static let shortestRenewal: TimeInterval = 20 * 60

    /// By the key's id.
    private var providers: [String: Provider] = [:]
    /// The token that each connection uses.
    private var uses: [Int: Use] = [:]

    mutating func trust(teamID: String, keyID: String, publicKey: JSONWebKey, topics: Set<String>) throws {
        providers[keyID] = Provider(key: try VerificationKey(publicKey, algorithm: .es256), teamID: teamID, topics: topics)
    }

    mutating func forget(connection: Int) {
        uses[connection] = nil
    }

    /// Checks the header `authorization`.
    ///
    /// - Returns: The topics that the provider may push to, or what to answer.
    mutating func check(_ authorization: String?, connection: Int, now: Date) -> Result<Set<String>, Refusal> {
        guard let authorization else { return .failure(.init(.refused(403, "MissingProviderToken"))) }
        let invalid = Refusal(.refused(403, "InvalidProviderToken"))
        let parts = authorization.split(separator: " ", maxSplits: 1).map(String.init)
        // Anything that is wrong with the token is answered alike.
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

    /// One connection is for one team, and for one token at a time.
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

    /// An answer that ends the checks.
    struct Refusal: Error {
        let answer: PushGatewayAnswer

        init(_ answer: PushGatewayAnswer) { self.answer = answer }
    }
}
