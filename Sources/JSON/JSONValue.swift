package import Foundation

extension JSON {
    /// A value: an array, an object, or a string, number, Boolean or `null`.
    public enum Value: JSONObjectRepresentable, JSONValueConvertible, Hashable, Sendable {
        /// An array.
        indirect case array([JSON.Value])
        /// An object. Its members are unordered.
        indirect case object([String: JSON.Value])
        /// A string, number, Boolean or `null`.
        case primitive(JSON.Primitive)

        /// `null`.
        public static let null = JSON.Value.primitive(.null)

        /// The value itself.
        public var jsonValue: JSON.Value { self }

        /// The string, number, Boolean or `null`; `nil` for an array or an object.
        public var primitive: JSON.Primitive? {
            if case .primitive(let primitive) = self { primitive } else { nil }
        }

        var isRoot: Bool { primitive == nil }

        /// The type of the value, for error messages. The text never contains the value itself.
        package var kind: String {
            switch self {
            case .array: "an array"
            case .object: "an object"
            case .primitive(.null): "null"
            case .primitive(.bool): "a boolean"
            case .primitive(.int), .primitive(.double): "a number"
            case .primitive(.string): "a string"
            }
        }
    }
}

extension JSON.Value {
    /// The value as `String`, `Bool`, `Int`, `Double`, array or dictionary, or `nil` for `null`. Array elements and object members that are
    /// `null` are left out. Setting a value that JSON cannot represent gives `null`; to detect such a value, use ``init(_:)``.
    public var anyValue: (any Sendable)? {
        get {
            switch self {
            case .array(let elements): elements.compactMap(\.anyValue)
            case .object(let members): members.compactMapValues(\.anyValue)
            case .primitive(let primitive): primitive.anyValue
            }
        }
        set { self = (try? JSON.Value(newValue)) ?? .null }
    }

    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }

    /// The Boolean, or `nil` for other types. Setting `nil` gives `null`.
    public var bool: Bool? {
        get { primitive?.bool }
        set { self = .primitive(newValue?.primitive ?? .null) }
    }

    /// The number, if it is a whole number that fits in an `Int`; otherwise `nil`. Setting `nil` gives `null`.
    public var int: Int? {
        get { primitive?.int }
        set { self = .primitive(newValue?.primitive ?? .null) }
    }

    /// The number, or `nil` for other types. Large integers are rounded. Setting `nil` gives `null`.
    public var double: Double? {
        get { primitive?.double }
        set { self = .primitive(newValue?.primitive ?? .null) }
    }

    /// The string, or `nil` for other types. Setting `nil` gives `null`.
    public var string: String? {
        get { primitive?.string }
        set { self = .primitive(newValue?.primitive ?? .null) }
    }

    /// The elements of an array, or `nil` for other types. Setting `nil` gives `null`.
    public var array: [JSON.Value]? {
        get { if case .array(let elements) = self { elements } else { nil } }
        set { self = newValue.map(JSON.Value.array) ?? .null }
    }

    /// The members of an object, or `nil` for other types. Setting `nil` gives `null`.
    public var object: [String: JSON.Value]? {
        get { if case .object(let members) = self { members } else { nil } }
        set { self = newValue.map(JSON.Value.object) ?? .null }
    }

    /// The object's member with this name.
    /// Reading returns `nil` if the member is missing or the value is not an object. Writing `nil` removes the member. Writing a member to
    /// a value that is not an object replaces the value with an object.
    public subscript(key: String) -> JSON.Value? {
        get { object?[key] }
        set {
            guard var members = object ?? (newValue == nil ? nil : [:]) else { return }
            members[key] = newValue
            self = .object(members)
        }
    }

    /// The array's element at this index.
    /// Reading returns `nil` if the index is out of range or the value is not an array. Writing `nil` removes the element. Writing to the
    /// index after the last element appends; a value that is not an array counts as an empty array. Other indices out of range change
    /// nothing.
    public subscript(key: Int) -> JSON.Value? {
        get {
            guard let elements = array, elements.indices.contains(key) else { return nil }
            return elements[key]
        }
        set {
            var elements = array ?? []
            switch newValue {
            case let element? where elements.indices.contains(key): elements[key] = element
            case let element? where key == elements.endIndex: elements.append(element)
            case nil where elements.indices.contains(key): elements.remove(at: key)
            default: return
            }
            self = .array(elements)
        }
    }

    /// Merges two values. Two objects give an object with the members of both; members with the same name are merged. Two arrays give an
    /// array with the elements of both. In all other cases, the right value replaces the left one.
    public static func + (lhs: JSON.Value, rhs: JSON.Value) -> JSON.Value {
        switch (lhs, rhs) {
        case (.object(let left), .object(let right)): .object(left.merging(right) { $0 + $1 })
        case (.array(let left), .array(let right)): .array(left + right)
        case (.primitive(let left), .primitive(let right)): .primitive(left + right)
        default: rhs
        }
    }

    /// Merges a value into another; see ``+(_:_:)``.
    public static func += (lhs: inout JSON.Value, rhs: JSON.Value) {
        lhs = lhs + rhs
    }
}

extension JSON.Value: Codable {
    /// The maximum nesting of a value. Each level uses stack space, and threads can have small stacks.
    static let maximumDepth = 64

    /// The levels that another format, such as a stored token, can have around a value, so that each parsed value is also readable there.
    private static let maximumSurroundings = 8

    /// Parses JSON text in UTF-8.
    /// - Throws: ``JSONError/invalidUTF8String`` if the data is not UTF-8; `DecodingError` if the text is not JSON or is nested too deep.
    init(parsing data: Data) throws {
        do {
            self = try JSONDecoder().decode(JSON.Value.self, from: data)
        } catch {
            guard String(data: data, encoding: .utf8) != nil else { throw JSONError.invalidUTF8String }
            throw error
        }
    }

    /// Decodes any value.
    /// - Throws: `DecodingError` if the input is not JSON or the value is nested more than 64 levels deep.
    public init(from decoder: any Decoder) throws {
        let measured = try Measured(from: decoder)
        guard measured.depth <= Self.maximumDepth else { throw Self.tooDeep }
        self = measured.value
    }

    private static var tooDeep: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "The JSON is nested too deeply."))
    }

    /// A value and the number of levels below it. The path of the decoder counts the levels of the surrounding form too.
    private struct Measured: Decodable {
        let value: JSON.Value
        let depth: Int

        init(from decoder: any Decoder) throws {
            guard decoder.codingPath.count <= maximumDepth + maximumSurroundings else { throw tooDeep }
            let container = try decoder.singleValueContainer()
            if let primitive = JSON.Primitive(from: container) {
                (value, depth) = (.primitive(primitive), 0)
                return
            }
            do {
                let elements = try container.decode([Measured].self)
                (value, depth) = (.array(elements.map(\.value)), Self.depth(over: elements))
            } catch DecodingError.typeMismatch {
                let members = try container.decode([String: Measured].self)
                (value, depth) = (.object(members.mapValues(\.value)), Self.depth(over: members.values))
            }
        }

        private static func depth(over children: some Collection<Measured>) -> Int {
            children.lazy.map(\.depth).max().map { $0 + 1 } ?? 0
        }
    }

    /// Encodes the value.
    /// - Throws: `EncodingError` for a number that JSON cannot represent.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements):
            var container = encoder.singleValueContainer()
            try container.encode(elements)
        case .object(let members):
            var container = encoder.singleValueContainer()
            try container.encode(members)
        case .primitive(let primitive):
            try primitive.encode(to: encoder)
        }
    }

    /// Returns the JSON text in one line with sorted members.
    /// - Throws: `EncodingError` for a number that JSON cannot represent.
    package func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension JSON.Value: CustomDebugStringConvertible {
    /// The JSON text with sorted members. It contains the whole value, with any secret that is in it.
    public var debugDescription: String {
        switch self {
        case .array(let elements):
            "[\(elements.map(\.debugDescription).joined(separator: ","))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\($0.primitive.debugDescription):\($1)" }.joined(separator: ","))}"
        case .primitive(let primitive):
            primitive.debugDescription
        }
    }
}

extension JSON.Value: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .primitive(.bool(value)) }
    /// Creates an integer.
    public init(integerLiteral value: Int) { self = .primitive(.int(value)) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .primitive(.double(value)) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .primitive(.string(value)) }
    /// Creates a string.
    public init(unicodeScalarLiteral value: String) { self = .primitive(.string(value)) }
    /// Creates a string.
    public init(extendedGraphemeClusterLiteral value: String) { self = .primitive(.string(value)) }
    /// Creates an array.
    public init(arrayLiteral elements: JSON.Value...) { self = .array(elements) }
    /// Creates an object. The last of several members with the same name is used.
    public init(dictionaryLiteral elements: (String, JSON.Value)...) { self = .object(Dictionary(elements) { $1 }) }
}
