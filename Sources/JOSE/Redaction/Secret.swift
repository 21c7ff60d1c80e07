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
