public import Foundation

/// What is wrong with the settings of a mail server or a telephony hook.
public struct MessageConfigurationError: LocalizedError, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, and what to do about it.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }
}
