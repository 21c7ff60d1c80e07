public import JOSE

/// The proof that came with an access token by the scheme `DPoP`, and the request that it has to be for; not yet checked.
public struct RequestProof: Sendable, Redacted {
    /// The values of the `DPoP` header fields: exactly one, or the request is refused.
    public var values: [String]
    /// The request's method.
    public var method: String
    /// The request's URL as its sender knows it.
    public var url: String

    /// Collects what a request carried.
    ///
    /// - Parameters:
    ///   - values: The values of the `DPoP` header fields.
    ///   - method: The request's method.
    ///   - url: The request's URL as its sender knows it; not what its `Host` header says.
    public init(values: [String], method: String, url: String) {
        self.values = values
        self.method = method
        self.url = url
    }

    /// What it has to be for; never the proof.
    public var description: String { "RequestProof(\(method) \(url))" }
}
