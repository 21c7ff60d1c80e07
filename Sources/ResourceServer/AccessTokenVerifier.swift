public import Foundation
public import JOSE

/// A verifier of access tokens for a resource server.
///
/// ```swift
/// let verifier = AccessTokenVerifier(issuer: "https://id.example.com/oauth2/default", clientID: "0oa…")
/// let token = try await verifier.verify(text, scopes: ["messages.read"])
/// ```
/// The verifier rejects other tokens of the issuer with ``AccessTokenError/Code/wrongType``. These are tokens with a `typ` other than
/// `at+jwt` or `JWT`, tokens with claims of an ID token or a logout token, and tokens without claims of an access token. It accepts a token
/// without a `typ`, because Okta sets none.
/// By default, the verifier checks tokens locally: the signature with the issuer's published keys, and the claims `iss`, `aud`, `cid`,
/// `exp`, `nbf` and `iat`. It caches the keys. It fetches them again when a token names an unknown key, or after
/// ``Configuration/maximumKeyAge``. A revoked token remains valid until its `exp`. To detect revocation earlier, use
/// ``Mode/introspection(_:)``: the verifier then asks the issuer about each token.
/// The verifier is `Sendable` and serves concurrent tasks. If the keys are cached, ``verifyNow(_:scopes:authentication:)`` verifies
/// a token without waiting or suspending.
public final class AccessTokenVerifier: Sendable {
    /// The method that verifies tokens.
    public enum Mode: Sendable {
        /// Checks the signature and the claims.
        case local
        /// Asks the issuer about the token (RFC 7662), authenticated as this client.
        case introspection(IntrospectionClient)
    }

    /// The credentials of the resource server for introspection.
    public struct IntrospectionClient: Sendable, CustomStringConvertible {
        let id: String
        let secret: String

        /// Creates the credentials. The secret is sent with HTTP Basic authentication.
        public init(id: String, secret: String) {
            self.id = id
            self.secret = secret
        }

        /// The ID, without the secret.
        public var description: String { "IntrospectionClient(\(id))" }
    }

    /// The requirements for tokens.
    public struct Configuration: Sendable {
        /// The exact `iss` of the tokens. It is also the base URL of the issuer's metadata.
        public var issuer: String
        /// The required audience. `aud` must be this text or an array that contains it.
        public var audience: String
        /// The required client (`cid`); `nil` accepts every client.
        public var clientID: String?
        /// The scopes that every token must have.
        public var requiredScopes: [String]
        /// The tolerated clock difference in seconds, 0 to 300.
        public var leeway: TimeInterval
        /// The accepted signature algorithms.
        public var algorithms: Set<JWSAlgorithm>
        /// The minimum number of seconds between two key fetches for unknown key IDs or after a failure.
        public var keyRefetchInterval: TimeInterval
        /// The age in seconds at which the keys are fetched again, 60 to 86,400. Until then, the verifier trusts a key that the issuer has
        /// withdrawn.
        public var maximumKeyAge: TimeInterval
        /// The method that verifies tokens.
        public var mode: Mode
        /// The rules for proofs of key-bound tokens.
        public var proofs: ProofRules

        /// Creates the requirements for tokens.
        /// - Parameters:
        ///   - issuer: The `iss`: an https URL, or a plain http URL of this computer.
        ///   - clientID: The required client (`cid`); `nil` accepts every client.
        ///   - leeway: The tolerated clock difference in seconds, 0 to 300.
        ///   - algorithms: The accepted signature algorithms. HMAC algorithms are ignored.
        ///   - keyRefetchInterval: The minimum number of seconds between two key fetches for unknown key IDs or after a failure.
        ///   - maximumKeyAge: The age in seconds at which the keys are fetched again, 60 to 86,400. If this fetch fails, the old keys stay
        ///     in use, and the fetch is retried after `keyRefetchInterval`.
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
            // A published key set cannot contain a shared secret. Accepting HMAC would allow forged tokens.
            self.algorithms = algorithms.intersection(JWSAlgorithm.asymmetric)
            self.keyRefetchInterval = keyRefetchInterval
            self.maximumKeyAge = min(max(maximumKeyAge, 60), 86_400)
            self.mode = mode
            self.proofs = proofs
        }
    }

    /// The requirements for tokens.
    public let configuration: Configuration
    private let keys: IssuerKeys<LocalTokenCheck>
    private let introspection: TokenIntrospection
    private let proofs: ProofCheck
    private let now: @Sendable () -> Date

    /// Creates a verifier. Does not fetch anything yet.
    /// - Parameters:
    ///   - fetcher: The fetcher that sends the requests to the issuer.
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

    /// Creates a verifier with the audience `api://default`.
    /// - Parameter clientID: The required client (`cid`); `nil` accepts every client.
    public convenience init(issuer: String, clientID: String?) {
        self.init(Configuration(issuer: issuer, clientID: clientID))
    }

    /// Fetches the issuer's metadata and keys in advance, so that the first request does not wait for them.
    /// - Throws: ``AccessTokenError/Code/issuerUnavailable`` if the issuer cannot be reached or its metadata or keys are unusable.
    public func prepare() async throws {
        _ = try await keys.get()
    }

    /// Verifies a bearer token. If necessary, fetches the issuer's keys or asks the issuer about the token.
    /// - Parameters:
    ///   - scopes: Scopes that the token must have in addition to the required scopes.
    ///   - authentication: The required sign-in of the user; `nil` accepts every sign-in, and tokens without a user.
    /// - Throws: ``AccessTokenError``; ``AccessTokenError/Code/keyNotProved`` for a token that is bound to a key;
    ///   ``AccessTokenError/Code/insufficientAuthentication`` for a sign-in that does not meet `authentication`.
    public func verify(
        _ token: String, scopes: [String] = [], authentication: AuthenticationRequirement? = nil
    ) async throws -> AccessToken {
        let verified = try await genuine(token)
        try proofs.checkBearer(verified)
        return try checkGrant(of: verified, further: scopes, authentication: authentication)
    }

    /// Verifies a key-bound token and its proof (RFC 9449 §7). The proof cannot be used again.
    /// - Parameters:
    ///   - token: The token that the client sent with the scheme `DPoP`.
    ///   - proof: The proof that came with the token.
    ///   - scopes: Scopes that the token must have in addition to the required scopes.
    ///   - authentication: The required sign-in of the user; `nil` accepts every sign-in, and tokens without a user.
    /// - Throws: ``AccessTokenError``.
    public func verify(
        _ token: String, proof: RequestProof, scopes: [String] = [], authentication: AuthenticationRequirement? = nil
    ) async throws -> AccessToken {
        let verified = try await genuine(token)
        try proofs.check(proof, of: verified, text: token, now: now())
        return try checkGrant(of: verified, further: scopes, authentication: authentication)
    }

    /// Verifies everything except key binding and scopes.
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

    /// Verifies a bearer token with the cached keys, without waiting or suspending.
    /// - Parameters:
    ///   - scopes: Scopes that the token must have in addition to the required scopes.
    ///   - authentication: The required sign-in of the user; `nil` accepts every sign-in, and tokens without a user.
    /// - Throws: ``AccessTokenError``; ``AccessTokenError/Code/issuerUnavailable`` if no keys are cached (see ``prepare()``), or in
    ///   introspection mode; ``AccessTokenError/Code/keyNotProved`` for a token that is bound to a key.
    public func verifyNow(
        _ token: String, scopes: [String] = [], authentication: AuthenticationRequirement? = nil
    ) throws -> AccessToken {
        guard case .local = configuration.mode, let known = keys.knownNow() else {
            throw AccessTokenError(.issuerUnavailable, "The token can't be checked without asking the issuer first: await verify.")
        }
        do {
            let verified = try known.prepared.check(token, now: now())
            try proofs.checkBearer(verified)
            return try checkGrant(of: verified, further: scopes, authentication: authentication)
        } catch let error as LocalTokenCheck.UnknownKey {
            throw error.refusal
        }
    }

    /// Checks the sign-in and the scopes. The error for an insufficient sign-in also names missing scopes, so that one new sign-in is
    /// enough.
    private func checkGrant(
        of token: AccessToken, further scopes: [String], authentication: AuthenticationRequirement?
    ) throws(AccessTokenError) -> AccessToken {
        let required = configuration.requiredScopes + scopes
        let hasScopes = required.allSatisfy(token.has(scope:))
        if let authentication {
            try authentication.check(token, now: now(), leeway: configuration.leeway, missingScopes: hasScopes ? [] : required)
        }
        guard hasScopes else {
            throw AccessTokenError(
                .insufficientScope, "The access token lacks a scope: \(required.joined(separator: " ")).", requiredScopes: required)
        }
        return token
    }
}
