/// What the resource server answers.
struct MessageResponse: Codable, Sendable {
    let messages: [Message]
}

/// One message of the resource server.
public struct Message: Codable, Sendable, Equatable {
    /// When it was written, in ISO 8601.
    public let date: String
    /// What it says.
    public let text: String
}
