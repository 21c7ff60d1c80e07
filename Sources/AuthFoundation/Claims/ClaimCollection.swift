package import Foundation

/// The values of a ``ClaimCollection``: a list of claim values, or an optional list.
public protocol ClaimCollectionContainer: Sendable, Equatable, Hashable {
    /// The wire format: `String`, or `String?` for an optional list.
    associatedtype RawValue: Sendable & Equatable & Hashable

    /// The type of the values.
    associatedtype ClaimElement

    /// The values joined by spaces.
    var claimRawValue: RawValue { get }

    /// The values, or `nil` if there is no list.
    var claimElements: [ClaimElement]? { get }

    /// Parses values joined by spaces and skips unknown values.
    static func container(claimRawValue rawValue: RawValue) -> Self

    /// Parses values joined by spaces and skips unknown values. `nil` means that there is no list.
    static func container(text: String?) -> Self

    /// Creates a container with the values.
    static func container(elements: [ClaimElement]) -> Self
}

extension Array: ClaimCollectionContainer where Element: ClaimConvertable & APIRequestArgument & Hashable {
    /// The values joined by spaces.
    public var claimRawValue: String { map(\.stringValue).joined(separator: " ") }

    /// The list itself.
    public var claimElements: [Element]? { self }

    /// Parses values joined by spaces and skips unknown values.
    public static func container(claimRawValue rawValue: String) -> [Element] { container(text: rawValue) }

    /// Parses values joined by spaces and skips unknown values. `nil` gives an empty list.
    public static func container(text: String?) -> [Element] {
        (text ?? "").whitespaceSeparated.compactMap(Element.convert(from:))
    }

    /// Returns the list itself.
    public static func container(elements: [Element]) -> [Element] { elements }
}

extension Optional: ClaimCollectionContainer where Wrapped: ClaimCollectionContainer {
    /// The values joined by spaces, or `nil` if there is no list.
    public var claimRawValue: Wrapped.RawValue? { map(\.claimRawValue) }

    /// The values, or `nil` if there is no list.
    public var claimElements: [Wrapped.ClaimElement]? { flatMap(\.claimElements) }

    /// Parses values joined by spaces and skips unknown values. `nil` means that there is no list.
    public static func container(claimRawValue rawValue: Wrapped.RawValue?) -> Wrapped? {
        rawValue.map(Wrapped.container(claimRawValue:))
    }

    /// Parses values joined by spaces and skips unknown values. `nil` means that there is no list.
    public static func container(text: String?) -> Wrapped? {
        text.map { Wrapped.container(text: $0) }
    }

    /// Creates a list with the values.
    public static func container(elements: [Wrapped.ClaimElement]) -> Wrapped? { Wrapped.container(elements: elements) }
}

/// A list of values that are joined into one space-separated string on the wire. A literal can be a string or an array: `"openid profile"`
/// or `["openid", "profile"]`.
@propertyWrapper
public struct ClaimCollection<Container: ClaimCollectionContainer>: Sendable, Equatable, Hashable, RawRepresentable {
    /// The values.
    public var wrappedValue: Container

    /// The collection itself.
    public var projectedValue: ClaimCollection<Container> { self }

    /// The values joined by spaces.
    public var rawValue: Container.RawValue { wrappedValue.claimRawValue }

    /// Creates a collection with the values.
    public init(wrappedValue: Container) {
        self.wrappedValue = wrappedValue
    }

    /// Creates a collection from values joined by spaces. Unknown values are skipped.
    public init(wrappedValue value: String) {
        wrappedValue = Container.container(text: value)
    }

    /// Creates a collection from values joined by spaces. Unknown values are skipped.
    public init(rawValue: Container.RawValue) { wrappedValue = Container.container(claimRawValue: rawValue) }
}

extension ClaimCollection: ExpressibleByArrayLiteral {
    /// Creates a collection from an array literal.
    public init(arrayLiteral elements: Container.ClaimElement...) {
        wrappedValue = Container.container(elements: elements)
    }
}

extension ClaimCollection: ExpressibleByStringLiteral, ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral {
    /// Creates a collection from a literal with values joined by spaces. Unknown values are skipped.
    public init(stringLiteral value: String) {
        wrappedValue = Container.container(text: value)
    }
}

extension ClaimCollection: ExpressibleByNilLiteral {
    /// Creates a collection without a list if the container is optional, else an empty collection.
    public init(nilLiteral: ()) {
        wrappedValue = Container.container(text: nil)
    }
}

extension ClaimCollection: Codable {
    /// Decodes one space-separated string, a list of strings, or `null`. Unknown values are skipped.
    /// - Throws: `DecodingError` for any other value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            wrappedValue = Container.container(text: nil)
        } else if let text = try? container.decode(String.self) {
            wrappedValue = Container.container(text: text)
        } else {
            wrappedValue = Container.container(text: try container.decode([String].self).joined(separator: " "))
        }
    }

    /// Encodes one space-separated string, or `null` if there is no list.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if wrappedValue.claimElements == nil { try container.encodeNil() } else { try container.encode(stringValue) }
    }
}

extension ClaimCollection: APIRequestArgument {
    /// The values joined by spaces; empty if there is no list.
    public var stringValue: String {
        (rawValue as? String) ?? ""
    }
}

extension KeyedDecodingContainer {
    /// Returns a finite number, decoded from a number or a string, or `nil` if there is none.
    package func seconds(_ key: Key) -> TimeInterval? {
        let seconds = (try? decode(Double.self, forKey: key)) ?? text(key).flatMap { Double($0) }
        return seconds.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Returns a string without surrounding whitespace, or `nil` if it is missing or blank.
    package func text(_ key: Key) -> String? {
        let text = (try? decode(String.self, forKey: key))?.trimmingCharacters(in: .whitespacesAndNewlines)
        return text?.isEmpty == false ? text : nil
    }
}

/// A value that can be given as one space-separated string or as a list.
public protocol WhitespaceSeparated {
    /// The individual values.
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
