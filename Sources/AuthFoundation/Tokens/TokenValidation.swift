extension Token {
    private struct Validators {
        var idToken: any IDTokenValidator = StandardIDTokenValidator()
        var accessToken: any TokenHashValidator = StandardTokenHashValidator(claim: .accessTokenHash)
        var deviceSecret: any TokenHashValidator = StandardTokenHashValidator(claim: .custom("ds_hash"))
    }

    private static let validators = Locked(Validators())

    /// The process-wide validator of ID tokens. A ``StandardIDTokenValidator`` receives the client's clock and the issuer's algorithms
    /// before each validation.
    public static var idTokenValidator: any IDTokenValidator {
        get { validators.withLock { $0.idToken } }
        set { validators.withLock { $0.idToken = newValue } }
    }

    /// The process-wide validator of access tokens against the hash in the ID token.
    public static var accessTokenValidator: any TokenHashValidator {
        get { validators.withLock { $0.accessToken } }
        set { validators.withLock { $0.accessToken = newValue } }
    }

    /// The process-wide validator of device secrets against the hash in the ID token.
    public static var deviceSecretValidator: any TokenHashValidator {
        get { validators.withLock { $0.deviceSecret } }
        set { validators.withLock { $0.deviceSecret = newValue } }
    }

    /// Validates the ID token (OpenID Connect Core 1.0 §3.1.3.7), its hashes and its signature. If there is no ID token, there is nothing
    /// to validate.
    /// - Parameters:
    ///   - client: The client of the token. It fetches the issuer's discovery document and keys if needed.
    ///   - context: The parameters of the sign-in.
    /// - Throws: ``JWTError`` for an invalid token; ``APIClientError`` if the issuer's keys cannot be fetched.
    public func validate(using client: OAuth2Client, with context: any IDTokenValidatorContext) async throws {
        try await client.validate(self, context: context)
    }

    /// Exchanges a refresh token from another source for validated tokens.
    /// - Parameters:
    ///   - refreshToken: The refresh token.
    ///   - scope: The requested scopes, or `nil` for the scopes of the refresh token.
    ///   - client: The client to which the refresh token was issued.
    /// - Throws: ``APIClientError``, or ``JWTError`` if the ID token is invalid.
    public static func from(refreshToken: String, scope: [String]? = nil, using client: OAuth2Client) async throws -> Token {
        let configuration = try await client.openIdConfiguration()
        let request = RefreshRequest(
            openIdConfiguration: configuration, clientConfiguration: client.configuration, refreshToken: refreshToken, scope: scope)
        let token = try await client.exchange(token: request).result
        guard token.refreshToken == nil else { return token }
        var members = token.json.object ?? [:]
        members["refresh_token"] = refreshToken.jsonValue
        return try Token(id: token.id, issuedAt: token.issuedAt, context: token.context, response: JSON(members))
    }

    /// Exchanges a refresh token from another source for validated tokens.
    /// - Parameters:
    ///   - refreshToken: The refresh token.
    ///   - scope: The requested scopes, or `nil` for the scopes of the refresh token.
    ///   - client: The client to which the refresh token was issued.
    ///   - completion: Called once, on an unspecified thread.
    public static func from(
        refreshToken: String, scope: [String]? = nil, using client: OAuth2Client,
        completion: @escaping @Sendable (Result<Token, OAuth2Error>) -> Void
    ) {
        Completion.run(completion) { try await from(refreshToken: refreshToken, scope: scope, using: client) }
    }
}
