public import Foundation
public import JOSE

/// Checks access tokens for a resource server.
///
/// ```swift
/// let verifier = AccessTokenVerifier(issuer: "https://id.example.com/oauth2/default", clientID: "0oa…")
/// let token = try await verifier.verify(text, scopes: ["messages.read"])
/// ```
///
/// The verifier refuses other tokens of the issuer: a token with another `typ` than `at+jwt` or `JWT`, and a token that has the claims of an ID
/// token or a logout token, or lacks those of an access token (``AccessTokenError/Code/wrongType``). A token without a `typ`, as Okta issues
/// it, is accepted.
///
/// Locally (the default), a token is checked by its signature, with the keys that the issuer publishes, and by its claims: `iss`, `aud`,
/// `cid`, `exp`, `nbf`, `iat`. The keys are fetched once, kept, and fetched again when a token names one that is not among them, and when
/// they are as old as ``Configuration/maximumKeyAge``. A token that was revoked stays good until its `exp`; where that is too long, use
/// ``Mode/introspection(_:)``, which asks the issuer each time.
///
/// `Sendable`; one verifier serves all tasks. Once the keys are known, ``verifyNow(_:scopes:)`` neither waits nor suspends, and holds no lock
/// while it computes.
public final class AccessTokenVerifier: Sendable {
    /// How a token is checked.
    public enum Mode: Sendable {
        /// By its signature and claims.
        case local
        /// By asking the issuer (RFC 7662), as this client.
        case introspection(IntrospectionClient)
    }

    /// The client that a verifier asks the issuer as.
    public struct IntrospectionClient: Sendable, CustomStringConvertible {
        let id: String
        let secret: String

        /// Names the client.
        ///
        /// - Parameters:
        ///   - id: Its client id.
        ///   - secret: Its client secret, sent by HTTP Basic authentication.
        public init(id: String, secret: String) {
            self.id = id
            self.secret = secret
        }

        /// The id, without the secret.
        public var description: String { "IntrospectionClient(\(id))" }
    }

    /// What a token must be.
    public struct Configuration: Sendable {
        /// The `iss`, exactly; also where metadata and keys are found.
        public var issuer: String
        /// The `aud`, or one of them.
        public var audience: String
        /// The `cid`; nil for any client.
        public var clientID: String?
        /// The scopes that every token must have.
        public var requiredScopes: [String]
        /// Seconds that the issuer's clock may be off, 0 to 300.
        public var leeway: TimeInterval
        /// The signature algorithms to accept, whatever a token says.
        public var algorithms: Set<JWSAlgorithm>
        /// Seconds at least between two fetches of the keys, whether because of unknown key ids or because a fetch failed.
        public var keyRefetchInterval: TimeInterval
        /// Seconds after which the keys are fetched again, 60 to 86400: so long can a key be trusted that the issuer withdrew.
        public var maximumKeyAge: TimeInterval
        /// How a token is checked.
        public var mode: Mode
        /// What is asked of proofs, with tokens that are bound to a key.
        public var proofs: ProofRules

        /// Says what a token must be.
        ///
        /// - Parameters:
        ///   - issuer: The `iss`, an https URL; plain http is accepted for this machine.
        ///   - clientID: The `cid`; nil for any client.
        ///   - audience: The `aud`.
        ///   - requiredScopes: The scopes that every token must have.
        ///   - leeway: Seconds that the issuer's clock may be off, 0 to 300.
        ///   - algorithms: The signature algorithms to accept; asymmetric ones only.
        ///   - keyRefetchInterval: Seconds at least between two fetches of the keys, because of unknown key ids or after a failure.
        ///   - maximumKeyAge: Seconds after which the keys are fetched again, 60 to 86400. If the issuer is away then, the old ones stay
        ///     good, and it is asked again each `keyRefetchInterval`.
        ///   - mode: How a token is checked.
        ///   - proofs: What is asked of proofs, with tokens that are bound to a key.
        public init(
            issuer: String, clientID: String? = nil, audience: String = "api://default", requiredScopes: [String] = [],
            leeway: TimeInterval = 60,
            algorithms: Set<JWSAlgorithm> = [.rs256, .es256], keyRefetchInterval: TimeInterval = 30, maximumKeyAge: TimeInterval = 3_600,
            mode: Mode = .local, proofs: ProofRules = ProofRules()
        ) {
            self.issuer = issuer
            self.clientID = clientID
            self.audience = audience
            self.requiredScopes = requiredScopes
            self.leeway = min(max(leeway, 0), 300)
            // A shared secret can't come from a published key set; accepting HMAC would only open a way to forge.
            self.algorithms = algorithms.intersection(JWSAlgorithm.asymmetric)
            self.keyRefetchInterval = keyRefetchInterval
            self.maximumKeyAge = min(max(maximumKeyAge, 60), 86_400)
            self.mode = mode
            self.proofs = proofs
        }
    }

    /// What a token must be.
    public let configuration: Configuration
    private let keys: IssuerKeys<LocalTokenCheck>
    private let introspection: TokenIntrospection
    private let proofs: ProofCheck
    private let now: @Sendable () -> Date

    /// Makes a verifier; nothing is fetched yet.
    ///
    /// - Parameters:
    ///   - configuration: What a token must be.
    ///   - fetcher: How the issuer is reached.
    ///   - now: The wall clock.
    public init(
        _ configuration: Configuration, fetcher: any ResourceFetcher = URLSessionFetcher(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.now = now
        keys = IssuerKeys(
            issuer: configuration.issuer, fetcher: fetcher, refetchInterval: configuration.keyRefetchInterval,
            maximumAge: configuration.maximumKeyAge, now: now
        ) {
            LocalTokenCheck(configuration: configuration, keys: $0)
        }
        introspection = TokenIntrospection(configuration: configuration, fetcher: fetcher)
        proofs = ProofCheck(configuration.proofs)
    }

    /// Makes a verifier from what its users know, with the audience `api://default`.
    ///
    /// - Parameters:
    ///   - issuer: The issuer's URL.
    ///   - clientID: The `cid` that tokens must have; nil for any client.
    public convenience init(issuer: String, clientID: String?) {
        self.init(Configuration(issuer: issuer, clientID: clientID))
    }

    /// Fetches metadata and keys, so that the first request need not wait for them.
    ///
    /// - Throws: ``AccessTokenError/Code/issuerUnavailable``.
    public func prepare() async throws {
        _ = try await keys.get()
    }

    /// Checks a bearer token, asking the issuer for its keys, or about the token, where that is needed.
    ///
    /// - Parameters:
    ///   - token: The token, as the client sent it.
    ///   - scopes: What it must have beside the required scopes; all of them.
    /// - Returns: What the token says.
    /// - Throws: ``AccessTokenError``; ``AccessTokenError/Code/keyNotProved`` for a token that is bound to a key.
    public func verify(_ token: String, scopes: [String] = []) async throws -> AccessToken {
        let verified = try await genuine(token)
        try proofs.checkBearer(verified)
        return try checkScopes(of: verified, further: scopes)
    }

    /// Checks a token that is bound to a key, and the proof that came with it (RFC 9449 section 7). The proof is used up by that.
    ///
    /// - Parameters:
    ///   - token: The token, as the client sent it with the scheme `DPoP`.
    ///   - proof: What the request carried beside it.
    ///   - scopes: What it must have beside the required scopes; all of them.
    /// - Returns: What the token says.
    /// - Throws: ``AccessTokenError``.
    public func verify(_ token: String, proof: RequestProof, scopes: [String] = []) async throws -> AccessToken {
        let verified = try await genuine(token)
        try proofs.check(proof, of: verified, text: token, now: now())
        return try checkScopes(of: verified, further: scopes)
    }

    /// Checks all but how the token came and its scopes.
    private func genuine(_ token: String) async throws -> AccessToken {
        let known = try await keys.get()
        if case .introspection(let client) = configuration.mode {
            return try await introspection.check(token, at: known.introspectionEndpoint, as: client, now: now())
        }
        do {
            return try known.prepared.check(token, now: now())
        } catch let error as LocalTokenCheck.UnknownKey {
            guard let newer = try await keys.newer(than: known) else { throw error.refusal }
            do {
                return try newer.prepared.check(token, now: now())
            } catch let error as LocalTokenCheck.UnknownKey {
                throw error.refusal
            }
        }
    }

    /// Checks a bearer token with the keys that are known, without waiting or suspending.
    ///
    /// - Parameters:
    ///   - token: The token, as the client sent it.
    ///   - scopes: What it must have beside the required scopes; all of them.
    /// - Returns: What the token says.
    /// - Throws: ``AccessTokenError``; ``AccessTokenError/Code/issuerUnavailable`` if no keys are known yet (``prepare()`` fetches them), or
    ///   the verifier must ask the issuer about each token.
    public func verifyNow(_ token: String, scopes: [String] = []) throws -> AccessToken {
        guard case .local = configuration.mode, let known = keys.knownNow() else {
            throw AccessTokenError(.issuerUnavailable, "The token can't be checked without asking the issuer first: await verify.")
        }
        do {
            let verified = try known.prepared.check(token, now: now())
            try proofs.checkBearer(verified)
            return try checkScopes(of: verified, further: scopes)
        } catch let error as LocalTokenCheck.UnknownKey {
            throw error.refusal
        }
    }

    private func checkScopes(of token: AccessToken, further scopes: [String]) throws(AccessTokenError) -> AccessToken {
        let required = configuration.requiredScopes + scopes
        guard required.allSatisfy(token.has(scope:)) else {
            throw AccessTokenError(
                .insufficientScope, "The access token lacks a scope: \(required.joined(separator: " ")).", requiredScopes: required)
        }
        return token
    }
}
