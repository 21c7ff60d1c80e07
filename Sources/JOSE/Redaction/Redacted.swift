/// A type whose values show only `description` in interpolation, `dump`, mirrors and debuggers.
/// By default, the description is the type's name. A type that shows more declares `description` and lists safe fields in it. Other stored
/// properties, including fields added later, stay hidden.
/// Every type that holds a secret, directly or through a property, conforms to this protocol.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The name of the type.
    public var description: String { String(describing: type(of: self)) }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A string that is redacted in descriptions and mirrors.
/// Only this package can read the string, through `text`. A search for that name finds every use of a secret.
public struct Secret: Sendable, Equatable, Redacted {
    /// The string itself.
    package let text: String

    /// Wraps a string.
    public init(_ text: String) { self.text = text }

    /// A placeholder of constant length.
    public var description: String { "<secret>" }
}
