public import Foundation

/// A claim can't be read.
public enum ClaimError: Error, LocalizedError, Equatable, Sendable {
    /// A claim or member that is required is missing or of another type.
    case missingRequiredValue(key: String)

    /// What is missing.
    public var errorDescription: String? {
        switch self {
        case .missingRequiredValue(let key): "The value “\(key)” is required and is missing or of the wrong type."
        }
    }
}

/// A member of a server's answer is of another type than the protocol says.
///
/// It is thrown inside ``APIClientError/cannotParseResponse(error:)``.
public struct MistypedMemberError: Error, LocalizedError, Equatable, Sendable {
    /// The member's name.
    public let key: String

    /// What the protocol asks for.
    public let expected: String

    /// What the server sent instead, without the value.
    public let found: String

    /// What was expected and what was found.
    public var errorDescription: String? {
        "The server's answer is malformed: “\(key)” should be \(expected) but is \(found). Report it to whoever runs the server."
    }
}
