/// A type whose values show only `description` in interpolation, `dump`, mirrors and debuggers.
///
/// The default description is the type's name. A type that shows more declares `description` and lists safe fields there. Stored
/// properties never appear by themselves, so a field that is added later stays hidden until someone lists it.
///
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
///
/// Only code of this package reads the string, by `text`: a search for that name finds every use of a secret.
public struct Secret: Sendable, Equatable, Redacted {
    /// The string itself.
    package let text: String

    /// Wraps a string.
    public init(_ text: String) { self.text = text }

    /// A placeholder of constant length.
    public var description: String { "<secret>" }
}
