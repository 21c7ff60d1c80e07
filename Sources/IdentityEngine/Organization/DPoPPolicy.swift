/// What an organization asks of proofs of possession (RFC 9449).
public struct DPoPPolicy: Sendable, Equatable, Codable {
    /// Whether the token endpoint refuses a proof without a nonce of the server's. A nonce that is old or foreign is refused anyway.
    public var requiresNonce: Bool

    /// Describes the policy; what is left out is the safe default.
    ///
    /// - Parameter requiresNonce: Whether the token endpoint demands nonces.
    public init(requiresNonce: Bool = true) { self.requiresNonce = requiresNonce }
}
