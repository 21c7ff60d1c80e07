internal import Crypto

/// A proof that the sender of a request has a private key (RFC 9449, section 4): a token of one use, signed by the key that it names.
///
/// ```swift
/// let proof = try DPoPProof(verifying: header)
/// try proof.check(method: "POST", uri: "https://id.example.com/oauth2/v1/token", now: now)
/// ```
///
/// A value of this type is genuine: its form is right and the key in its header signed it. What it is good for is its caller's to
/// judge: ``check(method:uri:accessToken:window:now:)`` compares it with the request, ``thumbprint`` tells whose it is, and whoever
/// accepts it sees to its ``nonce`` and that ``jwtID`` is never accepted again within the window. `Sendable`; takes no lock.
public struct DPoPProof: Sendable {
    /// The algorithms that proofs are signed with, all of them asymmetric, in the order of metadata.
    public static let algorithms: [JWSAlgorithm] = [.rs256, .rs384, .rs512, .es256, .es384, .es512]
    /// Seconds that a proof is accepted for before and after its `iat`, where nobody says otherwise.
    public static let standardWindow: Double = 300
    /// The longest proof that is looked at, in bytes: room for an RSA key of 8192 bits and its signature.
    public static let maximumSize = 8 << 10
    private static let longestID = 200

    /// The public key that signed it.
    public let key: JSONWebKey
    /// The key's thumbprint (RFC 7638), the `jkt` of what is bound to it.
    public let thumbprint: String
    /// The method of the request that it is for (`htm`).
    public let method: String
    /// The URL of the request that it is for, as it was written (`htu`).
    public let uri: String
    /// Its id, unique for its key (`jti`).
    public let jwtID: String
    /// When it was made (`iat`), in seconds since 1970.
    public let issuedAt: Double
    /// The server's nonce that it carries (`nonce`), if any.
    public let nonce: String?
    /// The hash of the access token that it goes with (`ath`), if any.
    public let accessTokenHash: String?

    /// Verifies a proof by the key in its header (RFC 9449, section 4.3, steps 2 to 7).
    ///
    /// - Parameters:
    ///   - compact: The value of the `DPoP` header.
    ///   - algorithms: The accepted algorithms; HMAC is never among them.
    /// - Throws: ``JOSEError/Code/tooLarge``, ``JOSEError/Code/tooDeep`` or ``JOSEError/Code/malformed`` if it is no token;
    ///   ``JOSEError/Code/wrongType`` if its `typ` is not `dpop+jwt`; ``JOSEError/Code/unsupportedAlgorithm`` or
    ///   ``JOSEError/Code/algorithmNotAllowed``; ``JOSEError/Code/invalidKey`` if it has no key that fits, or one with a private part;
    ///   ``JOSEError/Code/badSignature``; ``JOSEError/Code/missingClaim`` or ``JOSEError/Code/invalidClaim``.
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

    /// The key of the header, which has nothing of a private one.
    private static func publicKey(_ json: JSONValue?) throws(JOSEError) -> JSONWebKey {
        guard let members = json?.objectValue, let json else {
            throw JOSEError(.invalidKey, "The proof's header has no key (jwk).")
        }
        // By their names, for a damaged private key is one that leaked, too.
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

    /// What a server remembers of a proof so that it accepts none twice: a hash of its key and its id.
    ///
    /// - Returns: The 32 bytes of a SHA-256.
    public func fingerprint() -> [UInt8] { Array(SHA256.hash(data: Array("\(thumbprint)\u{0}\(jwtID)".utf8))) }

    // MARK: - Judging

    /// Compares the proof with the request that it came with (RFC 9449, section 4.3, steps 8 to 11, the nonce apart).
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - uri: The URL that the request was sent to, as its sender knows it; query and fragment are of no meaning.
    ///   - accessToken: The access token that the request carries; nil for a request for one. With it, `ath` has to be its hash.
    ///   - window: Seconds that `iat` may lie before and after `now`, above 0.
    ///   - now: The time to judge by.
    /// - Throws: ``JOSEError/Code/invalidClaim`` if method, URL or access token is another one, ``JOSEError/Code/missingClaim`` if
    ///   there is no `ath`, ``JOSEError/Code/expired`` or ``JOSEError/Code/issuedInFuture`` if `iat` is out of the window.
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

    /// The `ath` that goes with an access token: SHA-256 over it, in base64url (RFC 9449, section 4.2).
    ///
    /// - Parameter token: The access token.
    /// - Returns: 43 characters.
    public static func hash(ofAccessToken token: String) -> String {
        var hash = SHA256()
        var token = token
        token.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return Base64URL.encode(Array(hash.finalize()))
    }

    /// Whether a text has the form of a thumbprint in base64url, as `dpop_jkt` and `jkt` have it.
    ///
    /// - Parameter text: Any text.
    /// - Returns: Whether it decodes to the 32 bytes of a SHA-256.
    public static func isThumbprint(_ text: String) -> Bool {
        // A text that is no base64url is no thumbprint either.
        text.utf8.count == 43 && (try? Base64URL.decode(text))?.count == 32
    }
}

extension DPoPProof: Redacted {
    /// The key and what it is for; never a nonce or a hash.
    public var description: String { "DPoPProof(\(thumbprint), \(method))" }
}
