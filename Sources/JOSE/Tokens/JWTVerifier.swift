#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A verifier of the signature, lifetime, issuer and audience of JSON Web Tokens (RFC 7519 §7.2).
///
/// ```swift
/// let verifier = JWTVerifier(
///     keys: keySet, algorithms: [.rs256, .es256], issuer: "https://id.example.com/oauth2/default", audience: ["api://default"])
/// let claims = try verifier.verify(token, now: now)
/// ```
/// The verifier decides which algorithms it accepts, and a key is used only with the algorithms that it permits. One verifier can verify on
/// many threads at once; it is synchronous and uses no lock. Create a new verifier when the keys change. If the same tokens arrive often,
/// use a ``VerifiedTokenCache``.
public struct JWTVerifier: Sendable {
    /// The accepted algorithms.
    public let algorithms: Set<JWSAlgorithm>
    /// The required issuer (`iss`); `nil` skips the check.
    public let issuer: String?
    /// The accepted audiences: `aud` must contain one of them. `nil` skips the check.
    public let audience: Set<String>?
    /// The tolerated clock difference, in seconds.
    public let leeway: Double
    /// The maximum size of a token, in bytes.
    public let maximumTokenSize: Int
    /// The required type in the header; `nil` skips the check.
    public let expectedType: String?
    /// Whether a token without a type, or with the generic type `JWT`, is accepted in addition to the expected type.
    public let acceptsGeneralType: Bool
    /// Whether a token without `exp` is rejected.
    public let requiresExpiration: Bool

    private let issuerBytes: [UInt8]?
    private let audienceBytes: [[UInt8]]?
    private let keyring: VerifierKeyring

    /// Creates a verifier.
    /// Keys that match none of the algorithms, are meant for encryption or are too weak are skipped. A token that names such a key is
    /// rejected with ``JOSEError/Code/unknownKey``.
    /// - Parameters:
    ///   - keys: The keys of the issuer.
    ///   - algorithms: The accepted algorithms. Choose those that the issuer uses, and never combine HMAC with other algorithms.
    ///   - issuer: The exact value of `iss`; `nil` skips the check.
    ///   - audience: The accepted audiences: `aud` must contain one of them. `nil` skips the check; an empty set rejects every token.
    ///   - leeway: The tolerated clock difference in seconds, at least 0; 60 by default.
    ///   - maximumTokenSize: The maximum size of a token in bytes; 16 KiB by default.
    ///   - expectedType: The required `typ`, such as `at+jwt`; `nil` skips the check. Case and the prefix `application/` are ignored.
    ///   - acceptsGeneralType: Whether to also accept a header without `typ` or with `typ` `JWT`; false by default.
    ///   - requiresExpiration: Whether to reject a token without `exp`; true by default.
    public init(
        keys: JSONWebKeySet,
        algorithms: Set<JWSAlgorithm>,
        issuer: String?,
        audience: Set<String>?,
        leeway: Double = 60,
        maximumTokenSize: Int = 16 << 10,
        expectedType: String? = nil,
        acceptsGeneralType: Bool = false,
        requiresExpiration: Bool = true
    ) {
        self.algorithms = algorithms
        self.issuer = issuer
        self.audience = audience
        self.leeway = max(leeway, 0)
        self.maximumTokenSize = maximumTokenSize
        self.expectedType = expectedType
        self.acceptsGeneralType = acceptsGeneralType
        self.requiresExpiration = requiresExpiration
        issuerBytes = issuer.map { Array($0.utf8) }
        audienceBytes = audience.map { $0.map { Array($0.utf8) } }
        keyring = VerifierKeyring(
            keys: keys, algorithms: algorithms, expectedType: expectedType, acceptsGeneralType: acceptsGeneralType)
    }

    /// Verifies a token in compact form and returns its claims.
    /// - Throws: ``JOSEError`` with one of these codes:
    ///   - ``JOSEError/Code/tooLarge``, ``JOSEError/Code/tooDeep`` or ``JOSEError/Code/malformed`` if the text is not an acceptable token.
    ///   - ``JOSEError/Code/unsupportedAlgorithm`` (also for `none`), ``JOSEError/Code/algorithmNotAllowed``,
    ///     ``JOSEError/Code/criticalHeader``, ``JOSEError/Code/wrongType``, ``JOSEError/Code/unknownKey`` or
    ///     ``JOSEError/Code/badSignature`` if the header or the signature is rejected.
    ///   - ``JOSEError/Code/missingClaim``, ``JOSEError/Code/invalidClaim``, ``JOSEError/Code/expired``, ``JOSEError/Code/notYetValid``,
    ///     ``JOSEError/Code/issuedInFuture``, ``JOSEError/Code/wrongIssuer`` or ``JOSEError/Code/wrongAudience`` if the claims are
    ///     rejected.
    public func verify(_ token: String, now: Date) throws(JOSEError) -> ClaimSet {
        var token = token
        let claims = try token.withUTF8 { verifySignature(of: $0) }.get()
        try check(claims, now: now)
        return claims
    }

    private func verifySignature(of token: UnsafeBufferPointer<UInt8>) -> Result<ClaimSet, JOSEError> {
        do throws(JOSEError) {
            guard token.count <= maximumTokenSize else {
                throw JOSEError(.tooLarge, "The token is longer than \(maximumTokenSize) bytes.")
            }
            let segments = try CompactSegments(token)
            let keys = try keyring.keys(forHeader: segments.header)
            guard let payload = Base64URL.decode(buffer: segments.payload) else { throw Base64URL.invalid }
            try keyring.verify(segments, with: keys)
            return .success(try ClaimSet(parsing: payload))
        } catch {
            return .failure(error)
        }
    }

    /// Checks lifetime, issuer and audience. A cached token needs these checks on every use.
    func check(_ claims: ClaimSet, now: Date) throws(JOSEError) {
        let now = now.timeIntervalSince1970
        if let expiresAt = claims.expiresAt {
            guard now < expiresAt + leeway else { throw JOSEError(.expired, "The token has expired; get a new one.") }
        } else if requiresExpiration {
            throw JOSEError(.missingClaim, "The token does not say when it expires (exp).")
        }
        if let notBefore = claims.notBefore, now < notBefore - leeway {
            throw JOSEError(.notYetValid, "The token is not valid yet; check the clocks.")
        }
        if let issuedAt = claims.issuedAt, now < issuedAt - leeway {
            throw JOSEError(.issuedInFuture, "The token was issued later than now; check the clocks.")
        }
        if let issuerBytes, !claims.hasIssuer(issuerBytes) {
            throw JOSEError(.wrongIssuer, "The token is not from the expected issuer.")
        }
        if let audienceBytes, !claims.hasAudience(of: audienceBytes) {
            throw JOSEError(.wrongAudience, "The token is not for the expected audience.")
        }
    }
}
