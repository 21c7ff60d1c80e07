#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Verifies JSON Web Tokens (RFC 7519, section 7.2): signature, lifetime, issuer and audience.
///
/// ```swift
/// let verifier = JWTVerifier(
///     keys: keySet, algorithms: [.rs256, .es256], issuer: "https://id.example.com/oauth2/default", audience: ["api://default"])
/// let claims = try verifier.verify(token, now: now)
/// ```
///
/// The verifier says which algorithms it accepts, the token only which of them it was signed with; a key is used with its own
/// algorithms alone. Verifying is synchronous and takes no lock: one verifier serves all threads at once. Make a new one when
/// the keys change, and look up each token of many again in a ``VerifiedTokenCache``.
public struct JWTVerifier: Sendable {
    /// The accepted algorithms.
    public let algorithms: Set<JWSAlgorithm>
    /// The issuer that `iss` has to name; nil if it is not checked.
    public let issuer: String?
    /// The audiences of which `aud` has to contain one; nil if it is not checked.
    public let audience: Set<String>?
    /// How far the clocks may differ, in seconds.
    public let leeway: Double
    /// The longest accepted token, in bytes.
    public let maximumTokenSize: Int
    /// The type that the header has to name; nil if it is not checked.
    public let expectedType: String?
    /// Whether a token without a type, or with the general type `JWT`, is accepted beside the expected one.
    public let acceptsGeneralType: Bool
    /// Whether a token without `exp` is refused.
    public let requiresExpiration: Bool

    private let issuerBytes: [UInt8]?
    private let audienceBytes: [[UInt8]]?
    private let keyring: VerifierKeyring

    /// Makes a verifier.
    ///
    /// Keys of the set that fit none of the algorithms, are meant for encryption, or are too weak are passed over: a token that
    /// names one is refused as ``JOSEError/Code/unknownKey``.
    ///
    /// - Parameters:
    ///   - keys: The keys of the issuer.
    ///   - algorithms: The accepted algorithms. Take those that the issuer signs with, and never HMAC beside the others.
    ///   - issuer: The exact value of `iss`; nil does not check it.
    ///   - audience: The values of which `aud` has to contain one; nil does not check it, an empty set accepts none.
    ///   - leeway: How far the clocks may differ, in seconds from 0; by default 60.
    ///   - maximumTokenSize: The longest accepted token in bytes; by default 16 KiB.
    ///   - expectedType: The header's `typ`, such as `at+jwt`, in any case, with or without `application/`; nil does not check it.
    ///   - acceptsGeneralType: Whether a header without `typ`, or with the `typ` `JWT`, is accepted beside the expected one; by default not.
    ///   - requiresExpiration: Whether a token without `exp` is refused; by default it is.
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

    /// Verifies a token.
    ///
    /// - Parameters:
    ///   - token: The token in compact form.
    ///   - now: The time to judge its lifetime by.
    /// - Returns: The verified claims.
    /// - Throws: ``JOSEError/Code/tooLarge``, ``JOSEError/Code/tooDeep`` or ``JOSEError/Code/malformed`` if it is no acceptable token;
    ///   ``JOSEError/Code/unsupportedAlgorithm`` (also for `none`), ``JOSEError/Code/algorithmNotAllowed``,
    ///   ``JOSEError/Code/criticalHeader``, ``JOSEError/Code/wrongType``, ``JOSEError/Code/unknownKey`` or
    ///   ``JOSEError/Code/badSignature`` if its signature cannot be accepted; ``JOSEError/Code/missingClaim``,
    ///   ``JOSEError/Code/invalidClaim``, ``JOSEError/Code/expired``, ``JOSEError/Code/notYetValid``, ``JOSEError/Code/issuedInFuture``,
    ///   ``JOSEError/Code/wrongIssuer`` or ``JOSEError/Code/wrongAudience`` if its claims cannot.
    public func verify(_ token: String, now: Date) throws(JOSEError) -> ClaimSet {
        var token = token
        let claims = try token.withUTF8 { verifySignature(of: $0) }.get()
        try check(claims, now: now)
        return claims
    }

    /// Verifies the signature and reads the claims.
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

    /// Checks all that may be otherwise the next time: lifetime, issuer and audience.
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
