public import Foundation

/// A JSON text or value (RFC 8259).
///
/// ```swift
/// var json: JSON = ["sub": "00u1", "groups": ["admins", "users"]]
/// json["groups"]?[0]?.string  // "admins"
/// json["active"] = true
/// try json.data  // {"active":true,"groups":["admins","users"],"sub":"00u1"}
/// ```
///
/// Integers keep their exact value, also those that a `Double` cannot hold. Two values are equal if their ``value`` is equal.
public struct JSON: JSONObjectRepresentable, JSONRootValue, Sendable {
    /// The form in which a value is available.
    public enum Representation: Sendable, Equatable {
        /// The text from which the value was parsed, in UTF-8.
        case data(Data)
        /// The value itself.
        case json(JSON.Value)
    }

    /// The value. Setting it discards the text from which it was parsed.
    public var value: Value {
        didSet { source = nil }
    }

    /// The text from which the value was parsed; `nil` if there is none, or if the value has changed since.
    private var source: Data?

    /// The text, if the value was parsed and has not changed since; otherwise the value.
    public var representation: Representation {
        source.map(Representation.data) ?? .json(value)
    }

    /// The JSON text in UTF-8: as received, if the value was parsed and has not changed since; otherwise in one line with sorted members.
    /// - Throws: `EncodingError` if the value contains a number that is infinite or not a number.
    public var data: Data {
        get throws { try source ?? value.encoded() }
    }

    /// Copies a value.
    public init(_ json: JSON) {
        self = json
    }

    /// Creates JSON with any value, including a string, number or Boolean outside of an array or object.
    public init(_ value: Value) {
        self.value = value
    }

    // With the next two initializers, a literal with elements of several types has one best type.

    /// Creates JSON with an array.
    public init(_ elements: [Value]) {
        self.init(.array(elements))
    }

    /// Creates JSON with an object.
    public init(_ members: [String: Value]) {
        self.init(.object(members))
    }

    /// Creates JSON with an array or an object.
    public init(_ value: some JSONRootValue) {
        self.init(value.jsonValue)
    }

    // Decides between the initializers before and after it for types that are convertible and also Codable, such as [String: Int].

    /// Creates JSON with an array or an object.
    public init(_ value: some JSONRootValue & Codable) {
        self.init(value.jsonValue)
    }

    /// Creates JSON with the form in which `JSONEncoder` encodes a value.
    /// - Throws: ``JSONError/unsupportedRootValue`` if this form is neither an array nor an object; the errors of the value's encoding.
    public init(_ value: some Codable) throws {
        let value = try Value(parsing: JSONEncoder().encode(value))
        guard value.isRoot else { throw JSONError.unsupportedRootValue }
        self.init(value)
    }

    // Disfavored, so that a literal with elements of several types is a value of JSON and not `[String: Any]`.

    /// Creates JSON with an array or a dictionary, such as a result of `JSONSerialization`. Elements can be `nil`, `NSNull`, Booleans,
    /// numbers, strings, `NSNumber`, convertible types of this module, and arrays and dictionaries of these.
    /// - Throws: ``JSONError/unsupportedRootValue`` if the value is neither an array nor an object. ``JSONError/invalidJSONValue`` if an
    ///   element has another type, or is a number that is infinite or not a number, or if the value is nested more than 64 levels deep.
    @_disfavoredOverload
    public init(_ value: Any) throws {
        let value = try Value(any: value)
        guard value.isRoot else { throw JSONError.unsupportedRootValue }
        self.init(value)
    }

    /// Parses JSON text in UTF-8. If an object has several members with the same name, the first one is used.
    /// - Throws: ``JSONError/invalidUTF8String`` if the data is not UTF-8; `DecodingError` if the text is not JSON or is nested more than
    ///   64 levels deep.
    public init(_ data: Data) throws {
        value = try Value(parsing: data)
        source = data
    }

    /// Parses JSON text. If an object has several members with the same name, the first one is used.
    /// - Throws: `DecodingError` if the text is not JSON or is nested more than 64 levels deep.
    public init(_ text: String) throws {
        try self.init(Data(text.utf8))
    }

    /// The value itself, so that JSON can be an element of an array or a member of an object.
    public var jsonValue: Value { value }
}

extension JSON {
    /// The value as `String`, `Bool`, `Int`, `Double`, array or dictionary, or `nil` for `null`; see ``Value/anyValue``.
    public var anyValue: (any Sendable)? {
        get { value.anyValue }
        set { value.anyValue = newValue }
    }

    /// Whether the value is `null`.
    public var isNull: Bool { value.isNull }

    /// The Boolean, or `nil` for other types. Setting `nil` gives `null`.
    public var bool: Bool? {
        get { value.bool }
        set { value.bool = newValue }
    }

    /// The number, if it is a whole number that fits in an `Int`; otherwise `nil`. Setting `nil` gives `null`.
    public var int: Int? {
        get { value.int }
        set { value.int = newValue }
    }

    /// The number, or `nil` for other types. Large integers are rounded. Setting `nil` gives `null`.
    public var double: Double? {
        get { value.double }
        set { value.double = newValue }
    }

    /// The string, or `nil` for other types. Setting `nil` gives `null`.
    public var string: String? {
        get { value.string }
        set { value.string = newValue }
    }

    /// The elements of an array, or `nil` for other types. Setting `nil` gives `null`.
    public var array: [Value]? {
        get { value.array }
        set { value.array = newValue }
    }

    /// The members of an object, or `nil` for other types. Setting `nil` gives `null`.
    public var object: [String: Value]? {
        get { value.object }
        set { value.object = newValue }
    }

    /// The object's member with this name; see ``Value/subscript(_:)-(String)``.
    public subscript(key: String) -> Value? {
        get { value[key] }
        set { value[key] = newValue }
    }

    /// The array's element at this index; see ``Value/subscript(_:)-(Int)``.
    public subscript(key: Int) -> Value? {
        get { value[key] }
        set { value[key] = newValue }
    }

    /// Merges two values; see ``Value/+(_:_:)``.
    public static func + (lhs: JSON, rhs: JSON) -> JSON {
        JSON(lhs.value + rhs.value)
    }

    /// Merges a value into another; see ``Value/+(_:_:)``.
    public static func += (lhs: inout JSON, rhs: JSON) {
        lhs = lhs + rhs
    }
}

extension JSON: Hashable {
    /// Whether the two values are equal. The texts from which they were parsed do not matter.
    public static func == (lhs: JSON, rhs: JSON) -> Bool { lhs.value == rhs.value }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension JSON: Codable {
    /// Decodes any value.
    /// - Throws: `DecodingError` if the input is not JSON or is nested more than 64 levels deep, counted from the root of the decoder.
    public init(from decoder: any Decoder) throws {
        self.init(try Value(from: decoder))
    }

    /// Encodes the value.
    /// - Throws: `EncodingError` for a number that JSON cannot represent.
    public func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
    }
}

extension JSON: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, CustomDebugStringConvertible {
    /// Creates an array.
    public init(arrayLiteral elements: Value...) {
        self.init(.array(elements))
    }

    /// Creates an object. The last of several members with the same name is used.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init(.object(Dictionary(elements) { $1 }))
    }

    /// The JSON text with sorted members. It contains the whole value, with any secret that is in it.
    public var debugDescription: String { value.debugDescription }
}

/// An error that occurs when creating ``JSON``.
public enum JSONError: Error, Equatable, Sendable {
    /// The value has a type that JSON does not know, is a number that is infinite or not a number, or is nested too deep.
    case invalidJSONValue
    /// The data is not UTF-8.
    case invalidUTF8String
    /// The value is neither an array nor an object.
    case unsupportedRootValue
}
