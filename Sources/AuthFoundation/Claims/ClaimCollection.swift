package import Foundation

/// What a ``ClaimCollection`` can wrap: a list of claim values, or an optional one.
public protocol ClaimCollectionContainer: Sendable, Equatable, Hashable {
    /// The form on the wire: `String`, or `String?` for an optional list.
    associatedtype RawValue: Sendable & Equatable & Hashable

    /// The type of the values.
    associatedtype ClaimElement

    /// The values joined by spaces.
    var claimRawValue: RawValue { get }

    /// The values, or nil if there is no list.
    var claimElements: [ClaimElement]? { get }

    /// Reads values that are joined by spaces.
    ///
    /// - Parameter rawValue: The joined values.
    /// - Returns: The list, or nil if one of the values is not known.
    static func container(claimRawValue rawValue: RawValue) -> Self?

    /// Reads values that are joined by spaces, leaving out those that are not known.
    ///
    /// - Parameter text: The joined values, or nil if there is no list.
    /// - Returns: The list.
    static func container(text: String?) -> Self

    /// Takes values.
    ///
    /// - Parameter elements: The values.
    /// - Returns: The list.
    static func container(elements: [ClaimElement]) -> Self
}

/// A single value of a ``ClaimCollection``.
public protocol ClaimCollectionElement: Sendable, Equatable, Hashable {
    /// The value as a word without spaces.
    var claimWord: String { get }

    /// Reads the value from a word.
    ///
    /// - Parameter word: A word without spaces.
    /// - Returns: The value, or nil if it is not known.
    static func element(claimWord word: String) -> Self?
}

extension ClaimCollectionElement where Self: RawRepresentable, RawValue == String {
    /// The raw value.
    public var claimWord: String { rawValue }

    /// The value of that raw value.
    public static func element(claimWord word: String) -> Self? { Self(rawValue: word) }
}

extension String: ClaimCollectionElement {
    /// The string itself.
    public var claimWord: String { self }

    /// The string itself.
    public static func element(claimWord word: String) -> String? { word }
}

extension JWTClaim: ClaimCollectionElement {}
extension GrantType: ClaimCollectionElement {}
extension AuthenticationMethod: ClaimCollectionElement {}

extension Array: ClaimCollectionContainer where Element: ClaimCollectionElement {
    /// The values joined by spaces.
    public var claimRawValue: String { map(\.claimWord).joined(separator: " ") }

    /// The list itself.
    public var claimElements: [Element]? { self }

    /// The list of those values, or nil if one of them is not known.
    public static func container(claimRawValue rawValue: String) -> [Element]? {
        let words = rawValue.whitespaceSeparated
        let elements = words.compactMap(Element.element(claimWord:))
        return elements.count == words.count ? elements : nil
    }

    /// The list of those values that are known.
    public static func container(text: String?) -> [Element] {
        (text ?? "").whitespaceSeparated.compactMap(Element.element(claimWord:))
    }

    /// The list itself.
    public static func container(elements: [Element]) -> [Element] { elements }
}

extension Optional: ClaimCollectionContainer where Wrapped: ClaimCollectionContainer {
    /// The values joined by spaces, or nil if there is no list.
    public var claimRawValue: Wrapped.RawValue? { map(\.claimRawValue) }

    /// The list, if there is one.
    public var claimElements: [Wrapped.ClaimElement]? { flatMap(\.claimElements) }

    /// The list of those values, or no list; nil if one of the values is not known.
    public static func container(claimRawValue rawValue: Wrapped.RawValue?) -> Wrapped?? {
        guard let rawValue else { return .some(nil) }
        return Wrapped.container(claimRawValue: rawValue).map(Optional.some)
    }

    /// The list of those values that are known, or no list.
    public static func container(text: String?) -> Wrapped? {
        text.map { Wrapped.container(text: $0) }
    }

    /// The list.
    public static func container(elements: [Wrapped.ClaimElement]) -> Wrapped? { Wrapped.container(elements: elements) }
}

/// A list of values that can be written as a list or as one string with spaces between them.
///
/// Both `"openid profile"` and `["openid", "profile"]` are literals of it. On the wire it is one string.
@propertyWrapper
public struct ClaimCollection<Container: ClaimCollectionContainer>: Sendable, Equatable, Hashable, RawRepresentable {
    /// The values.
    public var wrappedValue: Container

    /// The collection itself.
    public var projectedValue: ClaimCollection<Container> { self }

    /// The values joined by spaces.
    public var rawValue: Container.RawValue { wrappedValue.claimRawValue }

    /// Takes values.
    ///
    /// - Parameter wrappedValue: The values.
    public init(wrappedValue: Container) {
        self.wrappedValue = wrappedValue
    }

    /// Takes values joined by spaces; those that are not known are left out.
    ///
    /// - Parameter value: The joined values.
    public init(wrappedValue value: String) {
        wrappedValue = Container.container(text: value)
    }

    /// Takes values joined by spaces, unless one of them is not known.
    ///
    /// - Parameter rawValue: The joined values.
    public init?(rawValue: Container.RawValue) {
        guard let container = Container.container(claimRawValue: rawValue) else { return nil }
        wrappedValue = container
    }
}

extension ClaimCollection: ExpressibleByArrayLiteral {
    /// Takes the values of a literal.
    ///
    /// - Parameter elements: The values.
    public init(arrayLiteral elements: Container.ClaimElement...) {
        wrappedValue = Container.container(elements: elements)
    }
}

extension ClaimCollection: ExpressibleByStringLiteral, ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral {
    /// Takes the values of a literal, joined by spaces.
    ///
    /// - Parameter value: The joined values.
    public init(stringLiteral value: String) {
        wrappedValue = Container.container(text: value)
    }
}

extension ClaimCollection: ExpressibleByNilLiteral {
    /// No list if the container is optional, else an empty one.
    ///
    /// - Parameter nilLiteral: Nothing.
    public init(nilLiteral: ()) {
        wrappedValue = Container.container(text: nil)
    }
}

extension ClaimCollection: Codable {
    /// Reads one string with spaces, or a list of strings.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if there is neither.
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

    /// Writes one string with spaces.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError` if the encoder can't write a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if wrappedValue.claimElements == nil { try container.encodeNil() } else { try container.encode(stringValue) }
    }
}

extension ClaimCollection: APIRequestArgument {
    /// The values joined by spaces.
    public var stringValue: String {
        (rawValue as? String) ?? ""
    }
}

extension KeyedDecodingContainer {
    /// A number, or a string with one.
    package func seconds(_ key: Key) -> TimeInterval? {
        let seconds = (try? decode(Double.self, forKey: key)) ?? text(key).flatMap { Double($0) }
        return seconds.flatMap { $0.isFinite ? $0 : nil }
    }

    /// A string that is not blank.
    package func text(_ key: Key) -> String? {
        let text = (try? decode(String.self, forKey: key))?.trimmingCharacters(in: .whitespacesAndNewlines)
        return text?.isEmpty == false ? text : nil
    }
}

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
