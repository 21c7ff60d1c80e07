public import JOSE

/// What a request carried to show that its sender has a key (RFC 9449 section 4.1), and what it has to be for; not yet checked.
///
/// A front door makes one where there is a `DPoP` header, or where the access token came by the scheme `DPoP`.
public struct PresentedProof: Sendable {
    /// The values of the `DPoP` header fields: exactly one, or the request is refused.
    public var values: [String]
    /// The method of the request.
    public var method: String
    /// The URL of the request as clients know it: the organization's origin and the path, whatever the `Host` header says.
    public var url: String

    /// Collects what a request carried.
    ///
    /// - Parameters:
    ///   - values: The values of the `DPoP` header fields.
    ///   - method: The method of the request.
    ///   - url: Its URL, of the configured origin.
    public init(values: [String], method: String, url: String) {
        self.values = values
        self.method = method
        self.url = url
    }
}

extension PresentedProof: Redacted {
    /// What it has to be for; never the proof.
    public var description: String { "PresentedProof(\(method) \(url))" }
}
