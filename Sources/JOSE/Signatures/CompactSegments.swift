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
