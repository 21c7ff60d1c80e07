/// The response of the resource server.
struct MessageResponse: Codable, Sendable {
    let messages: [Message]
}

/// One message of the resource server.
public struct Message: Codable, Sendable, Equatable {
    /// The creation time in ISO 8601.
    public let date: String
    /// The text.
    public let text: String
}
