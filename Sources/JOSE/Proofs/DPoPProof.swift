internal import Crypto

/// A DPoP proof (RFC 9449 §4): a single-use token that proves that the sender of a request holds a private key.
///
/// ```swift
/// let proof = try DPoPProof(verifying: header)
/// try proof.check(method: "POST", uri: "https://id.example.com/oauth2/v1/token", now: now)
/// ```
/// A value of this type has the right form and a valid signature by the key in its header. The type is `Sendable` and uses no lock.
/// The caller must still do three things:
/// - Compare the proof with the request: ``check(method:uri:accessToken:window:now:)``.
/// - Check that ``thumbprint`` is the expected key, and check ``nonce`` if the server requires one.
/// - Reject a repeated ``jwtID`` within the window.
public struct DPoPProof: Sendable {
    /// The algorithms that proofs may use, all asymmetric, in the order of the server metadata.
    public static let algorithms: [JWSAlgorithm] = [.rs256, .rs384, .rs512, .es256, .es384, .es512]
    /// The default number of seconds for which a proof is accepted before and after its `iat`.
    public static let standardWindow: Double = 300
    /// The maximum size of a proof in bytes: enough for an RSA key of 8192 bits and its signature.
    public static let maximumSize = 8 << 10
    private static let longestID = 200

    /// The public key that signed the proof.
    public let key: JSONWebKey
    /// The key's thumbprint (RFC 7638), which is the `jkt` of tokens that are bound to the key.
    public let thumbprint: String
    /// The HTTP method of the request (`htm`).
    public let method: String
    /// The URL of the request (`htu`), as the sender wrote it.
    public let uri: String
    /// The proof's ID (`jti`), unique for its key.
    public let jwtID: String
    /// The time at which the proof was made (`iat`), in seconds since 1970.
    public let issuedAt: Double
    /// The server's nonce (`nonce`); `nil` if the proof has none.
    public let nonce: String?
    /// The hash of the access token (`ath`); `nil` if the proof has none.
    public let accessTokenHash: String?

    /// Verifies the form and the signature of a proof with the key in its header (RFC 9449 §4.3, steps 2 to 7).
    /// - Parameters:
    ///   - compact: The value of the `DPoP` header.
    ///   - algorithms: The accepted algorithms. HMAC is always rejected.
    /// - Throws: ``JOSEError`` with one of these codes:
    ///   - ``JOSEError/Code/tooLarge``, ``JOSEError/Code/tooDeep`` or ``JOSEError/Code/malformed`` if the text is not a token.
    ///   - ``JOSEError/Code/criticalHeader`` if the header has `crit`; ``JOSEError/Code/wrongType`` if `typ` is not `dpop+jwt`.
    ///   - ``JOSEError/Code/unsupportedAlgorithm`` or ``JOSEError/Code/algorithmNotAllowed``.
    ///   - ``JOSEError/Code/invalidKey`` if the key is missing, does not match the algorithm, or has private members.
    ///   - ``JOSEError/Code/badSignature``, ``JOSEError/Code/missingClaim`` or ``JOSEError/Code/invalidClaim``.
    public init(verifying compact: String, algorithms: some Collection<JWSAlgorithm> = DPoPProof.algorithms) throws(JOSEError) {
        let isAccepted = { (algorithm: JWSAlgorithm) in algorithm.keyType != .oct && algorithms.contains(algorithm) }
        var compact = compact
        self = try compact.withUTF8 { Self.verify($0, isAccepted) }.get()
    }

    private static func verify(
        _ bytes: UnsafeBufferPointer<UInt8>, _ isAccepted: (JWSAlgorithm) -> Bool
    ) -> Result<DPoPProof, JOSEError> {
        do throws(JOSEError) {
            guard bytes.count <= maximumSize else {
                throw JOSEError(.tooLarge, "The proof is longer than \(maximumSize) bytes.")
            }
            return .success(try DPoPProof(CompactSegments(bytes), isAccepted))
        } catch {
            return .failure(error)
        }
    }

    private init(_ segments: CompactSegments, _ isAccepted: (JWSAlgorithm) -> Bool) throws(JOSEError) {
        guard let headerBytes = Base64URL.decode(buffer: segments.header), let signature = Base64URL.decode(buffer: segments.signature),
            let payload = Base64URL.decode(buffer: segments.payload)
        else { throw Base64URL.invalid }
        let header = try JOSEHeader(parsing: headerBytes)
        guard header.hasType("dpop+jwt") else { throw JOSEError(.wrongType, "The proof's type (typ) is not dpop+jwt.") }
        guard isAccepted(header.algorithm) else {
            throw JOSEError(.algorithmNotAllowed, "Proofs signed with \(header.algorithm.rawValue) are not accepted.")
        }
        key = try Self.publicKey(header.json["jwk"])
        let verification = try VerificationKey(key, algorithm: header.algorithm)
        let isGenuine = signature.withUnsafeBytes { verification.isValidSignature($0, for: segments.signingInput) }
        guard isGenuine else { throw JOSEError(.badSignature, "The proof's signature is not one by the key in its header.") }
        thumbprint = key.thumbprint

        let claims = try ClaimSet(parsing: payload)
        method = try Self.text("htm", of: claims)
        uri = try Self.text("htu", of: claims)
        guard let id = claims.jwtID, !id.isEmpty, id.utf8.count <= Self.longestID else {
            throw JOSEError(.missingClaim, "The proof needs an id (jti) of at most \(Self.longestID) bytes.")
        }
        jwtID = id
        guard let issuedAt = claims.issuedAt else { throw JOSEError(.missingClaim, "The proof does not say when it was made (iat).") }
        self.issuedAt = issuedAt
        nonce = try Self.optionalText("nonce", of: claims)
        accessTokenHash = try Self.optionalText("ath", of: claims)
    }

    /// Reads the key of the header and rejects private members.
    private static func publicKey(_ json: JSONValue?) throws(JOSEError) -> JSONWebKey {
        guard let members = json?.objectValue, let json else {
            throw JOSEError(.invalidKey, "The proof's header has no key (jwk).")
        }
        // Checks the names of the members, because even a damaged private key has leaked.
        guard ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].allSatisfy({ members[$0] == nil }) else {
            throw JOSEError(
                .invalidKey, "The proof's key has private members. Send the public part only, and make a new key: this one is known now.")
        }
        return try JSONWebKey(json)
    }

    private static func text(_ name: String, of claims: ClaimSet) throws(JOSEError) -> String {
        guard let text = try optionalText(name, of: claims) else { throw JOSEError(.missingClaim, "The proof lacks the claim \(name).") }
        return text
    }

    private static func optionalText(_ name: String, of claims: ClaimSet) throws(JOSEError) -> String? {
        guard let value = claims[name] else { return nil }
        guard let text = value.stringValue else { throw JOSEError(.invalidClaim, "The proof's claim \(name) is no text.") }
        return text
    }

    /// Returns the SHA-256 hash of the proof's key and ID. Servers store it to reject repeated proofs.
    public func fingerprint() -> [UInt8] { Array(SHA256.hash(data: Array("\(thumbprint)\u{0}\(jwtID)".utf8))) }

    /// Compares the proof with its request (RFC 9449 §4.3, steps 8 to 11, without the nonce).
    /// - Parameters:
    ///   - uri: The request's URL as the sender knows it. Query and fragment are ignored.
    ///   - accessToken: The access token in the request, which `ath` must match; `nil` for a token request.
    ///   - window: The seconds by which `iat` may differ from `now`, above 0.
    ///   - now: The current time, in seconds since 1970.
    /// - Throws: ``JOSEError/Code/invalidClaim`` if method, URL or access token differ; ``JOSEError/Code/missingClaim`` if `ath` is
    ///   required and missing; ``JOSEError/Code/expired`` or ``JOSEError/Code/issuedInFuture`` if `iat` is outside the window.
    public func check(
        method: String, uri: String, accessToken: String? = nil, window: Double = DPoPProof.standardWindow, now: Double
    ) throws(JOSEError) {
        guard self.method == method else { throw JOSEError(.invalidClaim, "The proof is for another method (htm).") }
        guard RequestURI.isSame(self.uri, uri) else { throw JOSEError(.invalidClaim, "The proof is for another URL (htu).") }
        guard now <= issuedAt + window else {
            throw JOSEError(.expired, "The proof was made too long ago (iat). Make a new one for each request, and check the clock.")
        }
        guard issuedAt - window <= now else { throw JOSEError(.issuedInFuture, "The proof is from the future (iat); check the clock.") }
        guard let accessToken else { return }
        guard let accessTokenHash else { throw JOSEError(.missingClaim, "The proof lacks the hash of the access token (ath).") }
        guard accessTokenHash == Self.hash(ofAccessToken: accessToken) else {
            throw JOSEError(.invalidClaim, "The proof is for another access token (ath).")
        }
    }

    /// Returns the `ath` of an access token: its SHA-256 hash in base64url, 43 characters (RFC 9449 §4.2).
    public static func hash(ofAccessToken token: String) -> String {
        var hash = SHA256()
        var token = token
        token.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return Base64URL.encode(Array(hash.finalize()))
    }

    /// Whether a text has the form of a thumbprint (`dpop_jkt`, `jkt`): a SHA-256 hash in base64url.
    public static func isThumbprint(_ text: String) -> Bool {
        // Invalid base64url is not a thumbprint either.
        text.utf8.count == 43 && (try? Base64URL.decode(text))?.count == 32
    }
}

extension DPoPProof: Redacted {
    /// The key's thumbprint and the method; never a nonce or a hash.
    public var description: String { "DPoPProof(\(thumbprint), \(method))" }
}

extension DPoPProof {
    /// Makes a proof in the compact form of RFC 7515, with ES256.
    /// - Parameters:
    ///   - publicKey: The members of the public key, on P-256.
    ///   - sign: Signs the header and the payload.
    package static func make(
        method: String, uri: String, issuedAt: Int64, jwtID: String, nonce: String? = nil, accessToken: String? = nil, publicKey: JSONValue,
        sign: ([UInt8]) throws -> [UInt8]
    ) rethrows -> String {
        let header: JSONValue = ["typ": "dpop+jwt", "alg": "ES256", "jwk": publicKey]
        var claims: JSONValue = ["htm": .string(method), "htu": .string(uri), "iat": .integer(issuedAt), "jti": .string(jwtID)]
        claims["nonce"] = nonce.map(JSONValue.string)
        claims["ath"] = accessToken.map { .string(hash(ofAccessToken: $0)) }
        let signed = "\(Base64URL.encode(header.serialized())).\(Base64URL.encode(claims.serialized()))"
        return "\(signed).\(Base64URL.encode(try sign(Array(signed.utf8))))"
    }

    /// Verifies the proof of a request and compares it with that request.
    /// - Parameter values: The values of the `DPoP` header fields. A request must have exactly one.
    package init(
        ofRequest values: [String], method: String, uri: String, accessToken: String?, window: Double = DPoPProof.standardWindow,
        now: Double
    ) throws(JOSEError) {
        guard values.count == 1 else {
            throw JOSEError(
                .malformed, values.isEmpty ? "The request needs a proof in the header DPoP." : "The request has more than one DPoP header.")
        }
        try self.init(verifying: values[0])
        try check(method: method, uri: uri, accessToken: accessToken, window: window, now: now)
    }
}
