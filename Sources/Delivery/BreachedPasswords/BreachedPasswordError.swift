/// The error for a list of breached passwords that can't be used. Its message says what to do, and shows nothing of a password.
public struct BreachedPasswordError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What happened, then what to do.
    public let message: String
    /// The same as ``message``.
    public var description: String { message }

    init(_ message: String) { self.message = message }
}
