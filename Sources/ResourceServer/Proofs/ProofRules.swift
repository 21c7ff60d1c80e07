public import Foundation
public import JOSE

/// What a resource server asks of proofs of possession (RFC 9449 section 7): of access tokens that are bound to a key.
public struct ProofRules: Sendable {
    /// The origin that clients reach the API by, `https://api.example.com`, and the path before its own, if a proxy takes one off. Proofs are
    /// compared with it, never with what a request's `Host` header says. Nil for an API that is only called on the machine that it
    /// runs on: then the request's own `http://localhost:{port}`, `127.0.0.1` or `[::1]` is good, and proofs for any other host are refused.
    public var origin: String?
    /// Seconds that a proof is accepted for after it was made, 1 to 600. One from the future is accepted up to five seconds before.
    public var window: TimeInterval
    /// The nonces that proofs must carry; nil demands none. Instances that share the load share their secret.
    public var nonces: DPoPNonces?
    /// The most proofs that are remembered, so that none is accepted twice, at least 1, and a sixteenth of them for each key. A request that
    /// would go beyond is answered 503.
    public var capacity: Int

    /// Says what is asked of proofs.
    ///
    /// - Parameters:
    ///   - origin: The origin that clients reach the API by; nil for an API that is only called on its own machine.
    ///   - window: Seconds that a proof is accepted for after it was made, 1 to 600.
    ///   - nonces: The nonces that proofs must carry; nil demands none.
    ///   - capacity: The most proofs that are remembered, each for the window and some seconds; 200,000 take about 20 MB. A key has a
    ///     sixteenth of them.
    public init(
        origin: String? = nil, window: TimeInterval = DPoPProof.standardWindow, nonces: DPoPNonces? = nil, capacity: Int = 200_000
    ) {
        self.origin = origin.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        self.window = min(max(window, 1), 600)
        self.nonces = nonces
        self.capacity = max(capacity, 1)
    }
}
