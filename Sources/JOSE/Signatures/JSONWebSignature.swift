/// A parsed compact JWS that is not verified yet (RFC 7515 §7.1).
/// For tokens, use ``JWTVerifier``. Use this type to inspect a header first, or for payloads that are not claims. Trust its contents only
/// after ``verify(with:)`` succeeds.
public struct JSONWebSignature: Sendable {
    /// The header.
    public let header: JSONValue
    /// The algorithm in the header (`alg`). The verifier decides whether to accept it.
    public let algorithm: JWSAlgorithm
    /// The key ID in the header (`kid`); `nil` if there is none.
    public let keyID: String?
    /// The type in the header (`typ`); `nil` if there is none.
    public let type: String?
    /// The payload, not verified.
    public let payload: [UInt8]
    /// The signed bytes: header, dot and payload.
    public let signingInput: [UInt8]
    /// The signature.
    public let signature: [UInt8]

    /// Parses a compact JWS.
    /// - Parameter maximumSize: The maximum size of the text in bytes; 16 KiB by default.
    /// - Throws: ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/malformed``; ``JOSEError/Code/unsupportedAlgorithm``, also for `none`;
    ///   ``JOSEError/Code/tooDeep`` if the header is nested too deep; ``JOSEError/Code/criticalHeader`` if the header has `crit`.
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

    /// Verifies the signature.
    /// - Throws: ``JOSEError/Code/algorithmNotAllowed`` if the header's algorithm is not the key's algorithm;
    ///   ``JOSEError/Code/badSignature`` if the signature does not match.
    public func verify(with key: VerificationKey) throws(JOSEError) {
        guard key.algorithm == algorithm else {
            throw JOSEError(
                .algorithmNotAllowed, "The token is signed with \(algorithm.rawValue), the key is for \(key.algorithm.rawValue).")
        }
        guard key.isValidSignature(signature, for: signingInput) else { throw Self.badSignature }
    }

    /// Returns the unverified claims of the payload, for display or to select the verification key.
    /// - Throws: ``JOSEError/Code/malformed``, ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/tooDeep`` if the payload is not an
    ///   acceptable JSON object; ``JOSEError/Code/invalidClaim`` if a registered claim has the wrong type.
    public func unverifiedClaims() throws(JOSEError) -> ClaimSet { try ClaimSet(parsing: payload) }

    static let badSignature = JOSEError(.badSignature, "The signature of the token does not match.")
}

/// The three segments of a compact JWS (RFC 7515 §7.1).
struct CompactSegments {
    let header: UnsafeBufferPointer<UInt8>
    let payload: UnsafeBufferPointer<UInt8>
    let signature: UnsafeBufferPointer<UInt8>
    let signingInput: UnsafeRawBufferPointer

    init(_ token: UnsafeBufferPointer<UInt8>) throws(JOSEError) {
        guard let first = token.firstIndex(of: UInt8(ascii: ".")),
            let last = token.lastIndex(of: UInt8(ascii: ".")), last > first
        else { throw Self.wrongCount }
        header = UnsafeBufferPointer(rebasing: token[..<first])
        // The payload may contain dots here. Base64url decoding rejects them later.
        payload = UnsafeBufferPointer(rebasing: token[(first + 1)..<last])
        signature = UnsafeBufferPointer(rebasing: token[(last + 1)...])
        signingInput = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: token[..<last]))
        guard !header.isEmpty, !signature.isEmpty else { throw Self.empty }
    }

    static let wrongCount = JOSEError(.malformed, "A signed token has three segments, joined by dots (RFC 7515, section 7.1).")
    static let empty = JOSEError(.malformed, "The header or the signature of the token is empty; unsigned tokens are never accepted.")
}
