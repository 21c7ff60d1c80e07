extension Token {
    private struct Validators {
        var idToken: any IDTokenValidator = StandardIDTokenValidator()
        var accessToken: any TokenHashValidator = StandardTokenHashValidator(claim: .accessTokenHash)
        var deviceSecret: any TokenHashValidator = StandardTokenHashValidator(claim: .custom("ds_hash"))
    }

    private static let validators = Locked(Validators())

    /// What ID tokens are checked with, everywhere in the process.
    ///
    /// A ``StandardIDTokenValidator`` is given the client's clock and the issuer's algorithms before it checks.
    public static var idTokenValidator: any IDTokenValidator {
        get { validators.withLock { $0.idToken } }
        set { validators.withLock { $0.idToken = newValue } }
    }

    /// What access tokens are checked with against the ID token's hash, everywhere in the process.
    public static var accessTokenValidator: any TokenHashValidator {
        get { validators.withLock { $0.accessToken } }
        set { validators.withLock { $0.accessToken = newValue } }
    }

    /// What device secrets are checked with against the ID token's hash, everywhere in the process.
    public static var deviceSecretValidator: any TokenHashValidator {
        get { validators.withLock { $0.deviceSecret } }
        set { validators.withLock { $0.deviceSecret = newValue } }
    }

    /// Checks the ID token (OpenID Connect Core 1.0, 3.1.3.7), the hashes in it, and its signature. Without an ID token it checks nothing.
    ///
    /// - Parameters:
    ///   - client: The client that the token is for. Its issuer's discovery document and keys are fetched if need be.
    ///   - context: What the sign-in asked for.
    /// - Throws: ``JWTError`` for a token that is not acceptable, ``APIClientError`` if the issuer's keys can't be fetched.
    public func validate(using client: OAuth2Client, with context: any IDTokenValidatorContext) async throws {
        try await client.validate(self, context: context)
    }

    /// Gets tokens for a refresh token from elsewhere.
    ///
    /// - Parameters:
    ///   - refreshToken: The refresh token.
    ///   - scope: The scopes to ask for; nil for those of the refresh token.
    ///   - client: The client that the refresh token was issued to.
    /// - Returns: The tokens, validated.
    /// - Throws: ``APIClientError``, or ``JWTError`` if the ID token is not acceptable.
    public static func from(refreshToken: String, scope: [String]? = nil, using client: OAuth2Client) async throws -> Token {
        let configuration = try await client.openIdConfiguration()
        let request = RefreshRequest(
            openIdConfiguration: configuration, clientConfiguration: client.configuration, refreshToken: refreshToken, scope: scope)
        let token = try await client.exchange(token: request).result
        guard token.refreshToken == nil else { return token }
        var members = token.json.objectValue ?? [:]
        members["refresh_token"] = .string(refreshToken)
        return try Token(id: token.id, issuedAt: token.issuedAt, context: token.context, response: .object(members))
    }

    /// Gets tokens for a refresh token from elsewhere.
    ///
    /// - Parameters:
    ///   - refreshToken: The refresh token.
    ///   - scope: The scopes to ask for; nil for those of the refresh token.
    ///   - client: The client that the refresh token was issued to.
    ///   - completion: Is called once, on no particular thread.
    public static func from(
        refreshToken: String, scope: [String]? = nil, using client: OAuth2Client,
        completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await from(refreshToken: refreshToken, scope: scope, using: client) }
    }
}
