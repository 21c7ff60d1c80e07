import Foundation

extension OAuth2Client {
    /// Validates the ID token of a new token, if it has one.
    /// - Parameter isRetried: Whether a fetch of new keys is repeated after a temporary failure.
    func validate(_ token: Token, context: any IDTokenValidatorContext, isRetried: Bool = true) async throws {
        guard let idToken = token.idToken else { return }
        try await checkClaims(of: idToken, context: context)
        if let accessToken = token.token(of: .accessToken) {
            try Token.accessTokenValidator.validate(accessToken, idToken: idToken)
        }
        if let deviceSecret = token.deviceSecret {
            try Token.deviceSecretValidator.validate(deviceSecret, idToken: idToken)
        }
        guard try idToken.validate(using: await jwks(containing: idToken.header.keyId, isRetried: isRetried)) else {
            throw JWTError.signatureInvalid
        }
    }

    /// Validates the ID token of a refresh against the previous ID token (OpenID Connect Core 1.0 §12.2). Sends at most one request for new
    /// keys, because the right to refresh the token can end while the new token is only in memory.
    func validate(_ token: Token, refreshedFrom old: Token) async throws {
        // If the response had no ID token, the old one was kept.
        guard let idToken = token.idToken, idToken != old.idToken else { return }
        let nonce: String? = idToken[.nonce]
        try await validate(token, context: RefreshContext(nonce: nonce), isRetried: false)
        guard let before = old.idToken else { return }
        guard idToken.issuer == before.issuer else { throw JWTError.invalidIssuer }
        guard idToken.subject == before.subject else { throw JWTError.invalidSubject }
        guard Set(idToken.audiences ?? []) == Set(before.audiences ?? []) else { throw JWTError.invalidAudience }
        guard nonce == nil || nonce == before.value(for: .nonce) else { throw JWTError.nonceMismatch }
        if let was = before.authTime, let now = idToken.authTime, was != now { throw JWTError.invalidAuthenticationTime }
    }

    private struct RefreshContext: IDTokenValidatorContext {
        let nonce: String?
    }

    private func checkClaims(of idToken: JWT, context: any IDTokenValidatorContext) async throws {
        let provider = try await openIdConfiguration()
        var validator = Token.idTokenValidator
        if var standard = validator as? StandardIDTokenValidator {
            standard.now = { [now] in now }
            standard.allowedAlgorithms.formUnion(Self.signatureAlgorithms.intersection(provider.idTokenSigningAlgValuesSupported))
            validator = standard
        }
        do {
            try validator.validate(token: idToken, issuer: provider.issuer, clientId: configuration.clientId, context: context)
        } catch let error as JWTError where error == .expired || error == .issuedAtTimeExceedsGraceInterval {
            guard let clockOffset, abs(clockOffset) > 60 else { throw error }
            throw ClockSkewError(offset: clockOffset, underlying: error)
        }
    }

    /// The algorithms that are accepted if the issuer announces them: never `none`, never a shared secret.
    private static let signatureAlgorithms: Set<JWK.Algorithm> = [
        .rs256, .rs384, .rs512, .ps256, .ps384, .ps512, .es256, .es384, .es512, .edDSA,
    ]
}
