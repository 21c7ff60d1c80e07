/// A question that a person may choose (authn reference, 4.15).
public struct SecurityQuestion: Codable, Hashable, Sendable {
    /// The key, which is sent when it is chosen.
    public let question: String?

    /// The text, which a person reads.
    public let questionText: String?
}
