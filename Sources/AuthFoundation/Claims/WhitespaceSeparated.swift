/// Values that are written as one string with spaces between them, or as a list.
public protocol WhitespaceSeparated {
    /// The single values.
    var whitespaceSeparated: [String] { get }
}

extension String: WhitespaceSeparated {
    /// The words of the string.
    public var whitespaceSeparated: [String] {
        split(whereSeparator: \.isWhitespace).map(String.init)
    }
}

extension [String]: WhitespaceSeparated {
    /// The elements.
    public var whitespaceSeparated: [String] { self }
}
