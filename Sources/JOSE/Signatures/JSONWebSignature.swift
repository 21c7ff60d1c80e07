/// A signature in compact form that was taken apart, but not verified (RFC 7515, section 7.1).
///
/// For tokens, use ``JWTVerifier``. This is for what has to look at a header first, and for payloads that are no claims. Nothing
/// in it may be trusted before ``verify(with:)`` returned.
public struct JSONWebSignature: Sendable {
    /// The header.
    public let header: JSONValue
    /// The algorithm that the header names (`alg`); what is accepted is for the verifier to say.
    public let algorithm: JWSAlgorithm
    /// The key that the header names (`kid`).
    public let keyID: String?
    /// The type that the header names (`typ`).
    public let type: String?
    /// The payload, not verified.
    public let payload: [UInt8]
    /// What is signed.
    public let signingInput: [UInt8]
    /// The signature.
    public let signature: [UInt8]

    /// Takes a compact form apart.
    ///
    /// - Parameters:
    ///   - compact: Header, payload and signature in base64url, joined by dots.
    ///   - maximumSize: The longest text to accept, in bytes; by default 16 KiB.
    /// - Throws: ``JOSEError/Code/tooLarge``, ``JOSEError/Code/malformed``, ``JOSEError/Code/unsupportedAlgorithm`` (also for `none`), or
    ///   ``JOSEError/Code/criticalHeader`` if the header has `crit`.
    public init(parsing compact: String, maximumSize: Int = 16 << 10) throws(JOSEError) {
        var compact = compact
        self = try compact.withUTF8 { Self.parse($0, maximumSize: maximumSize) }.get()
    }

    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>, maximumSize: Int) -> Result<JSONWebSignature, JOSEError> {
        do throws(JOSEError) {
            guard bytes.count <= maximumSize else { throw JOSEError(.tooLarge, "The token is longer than \(maximumSize) bytes.") }
            return .success(try JSONWebSignature(CompactSegments(bytes)))
        } catch {
            return .failure(error)
        }
    }

    private init(_ segments: CompactSegments) throws(JOSEError) {
        guard let headerBytes = Base64URL.decode(buffer: segments.header), let payload = Base64URL.decode(buffer: segments.payload),
            let signature = Base64URL.decode(buffer: segments.signature)
        else { throw Base64URL.invalid }
        let header = try JOSEHeader(parsing: headerBytes)
        self.header = header.json
        algorithm = header.algorithm
        keyID = header.keyID
        type = header.type
        self.payload = payload
        self.signature = signature
        signingInput = Array(segments.signingInput)
    }

    /// Checks the signature.
    ///
    /// - Parameter key: The key; its algorithm must be the header's.
    /// - Throws: ``JOSEError/Code/algorithmNotAllowed`` if the header names another algorithm than the key's,
    ///   ``JOSEError/Code/badSignature`` if the signature does not match.
    public func verify(with key: VerificationKey) throws(JOSEError) {
        guard key.algorithm == algorithm else {
            throw JOSEError(
                .algorithmNotAllowed, "The token is signed with \(algorithm.rawValue), the key is for \(key.algorithm.rawValue).")
        }
        guard key.isValidSignature(signature, for: signingInput) else { throw Self.badSignature }
    }

    /// The claims of the payload, not verified: for display, or to find out whose key to verify with.
    ///
    /// - Returns: The claims.
    /// - Throws: ``JOSEError/Code/malformed`` if the payload is no JSON object, ``JOSEError/Code/invalidClaim`` if a registered
    ///   claim has the wrong type.
    public func unverifiedClaims() throws(JOSEError) -> ClaimSet { try ClaimSet(parsing: payload) }

    static let badSignature = JOSEError(.badSignature, "The signature of the token does not match.")
}

/// Where the three segments of a compact JWS lie (RFC 7515, section 7.1).
struct CompactSegments {
    let header: UnsafeBufferPointer<UInt8>
    let payload: UnsafeBufferPointer<UInt8>
    let signature: UnsafeBufferPointer<UInt8>
    /// Header and payload with the dot between them: what is signed.
    let signingInput: UnsafeRawBufferPointer

    /// Splits a token at its dots.
    init(_ token: UnsafeBufferPointer<UInt8>) throws(JOSEError) {
        guard let first = token.firstIndex(of: UInt8(ascii: ".")),
            let last = token.lastIndex(of: UInt8(ascii: ".")), last > first
        else { throw Self.wrongCount }
        header = UnsafeBufferPointer(rebasing: token[..<first])
        // A dot within the payload is no base64url: decoding refuses it.
        payload = UnsafeBufferPointer(rebasing: token[(first + 1)..<last])
        signature = UnsafeBufferPointer(rebasing: token[(last + 1)...])
        signingInput = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: token[..<last]))
        guard !header.isEmpty, !signature.isEmpty else { throw Self.empty }
    }

    static let wrongCount = JOSEError(.malformed, "A signed token has three segments, joined by dots (RFC 7515, section 7.1).")
    static let empty = JOSEError(.malformed, "The header or the signature of the token is empty; unsigned tokens are never accepted.")
}
