public import JOSE

/// A session of the organization (authn reference, 4.16).
public struct OktaSession: Codable, Hashable, Sendable {
    /// The session's id. With it anybody is this person: keep it out of logs.
    public let id: String?
    /// The name that the person signed in with.
    public let login: String?
    /// The user's id.
    public let userId: String?
    /// When it ends, as the server wrote it.
    public let expiresAt: String?
    /// `ACTIVE`, or why it is not.
    public let status: String?
    /// How the person proved who they are (RFC 8176).
    public let amr: [String]?
}

extension OktaSession: Redacted {
    /// Whose session it is, without its id.
    public var description: String { "OktaSession(\(login ?? "nobody"))" }
}
