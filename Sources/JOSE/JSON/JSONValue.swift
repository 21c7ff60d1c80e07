/// A JSON value (RFC 8259) with strict parsing and deterministic serialization.
///
/// ```swift
/// let claims: JSONValue = ["sub": "00u1", "scp": ["openid", "profile"], "exp": 1_700_000_000]
/// claims["scp"]?[0]?.stringValue  // "openid"
/// ```
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number that has no fraction or exponent and fits in 64 bits.
    case integer(Int64)
    /// Any other number. Parsed numbers are always finite.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object. Its members are unordered.
    case object([String: JSONValue])
}

extension JSONValue {
    /// Size and depth limits of the parser.
    public struct Limits: Sendable, Hashable {
        /// The maximum size of the text, in bytes.
        public var maximumSize: Int
        /// The maximum nesting that any limit allows, because each level uses stack space.
        static let deepest = 128

        /// The maximum nesting of arrays and objects. A scalar has depth 0. Values above 128 count as 128.
        public var maximumDepth: Int

        /// Creates limits.
        /// - Parameters:
        ///   - maximumSize: The maximum size of the text in bytes; 1 MiB by default.
        ///   - maximumDepth: The maximum nesting of arrays and objects; 16 by default. Values above 128 count as 128.
        public init(maximumSize: Int = 1 << 20, maximumDepth: Int = 16) {
            self.maximumSize = maximumSize
            self.maximumDepth = min(maximumDepth, Self.deepest)
        }

        /// The default limits: 1 MiB and 16 levels.
        public static let standard = Limits()
    }

    /// Parses JSON text in UTF-8.
    /// The parser is stricter than RFC 8259: it rejects duplicate member names, a byte order mark and lone surrogates. Only white space may
    /// follow the value.
    /// - Throws: ``JOSEError/Code/malformed``, ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/tooDeep``.
    public init(parsing bytes: some Collection<UInt8>, limits: Limits = .standard) throws(JOSEError) {
        let result =
            bytes.withContiguousStorageIfAvailable { JSONScanner.parse($0, limits: limits) }
            ?? Array(bytes).withUnsafeBufferPointer { JSONScanner.parse($0, limits: limits) }
        self = try result.get()
    }

    /// Parses JSON text from a string, with the same rules as for bytes.
    /// - Throws: ``JOSEError/Code/malformed``, ``JOSEError/Code/tooLarge`` or ``JOSEError/Code/tooDeep``.
    public init(parsing text: String, limits: Limits = .standard) throws(JOSEError) {
        try self.init(parsing: text.utf8, limits: limits)
    }

    /// Returns the JSON text in UTF-8, without white space and with members sorted by the bytes of their names.
    /// Equal values give equal texts. Numbers that are not finite are written as `null`, because JSON cannot express them.
    public func serialized() -> [UInt8] {
        var serializer = JSONSerializer()
        serializer.append(self)
        return serializer.bytes
    }

    /// The JSON text of ``serialized()`` as a string.
    public var serializedString: String { String(decoding: serialized(), as: UTF8.self) }
}

extension JSONValue {
    /// The string, or `nil` for other types.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The Boolean, or `nil` for other types.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number, if it is a whole number that fits in 64 bits; otherwise `nil`.
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number, if it is a whole number that fits in an `Int`; otherwise `nil`.
    public var intValue: Int? { integerValue.flatMap { Int(exactly: $0) } }

    /// The number, or `nil` for other types. Large integers are rounded.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The elements of an array, or `nil` for other types.
    public var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members of an object, or `nil` for other types.
    public var objectValue: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }

    /// The elements of an array that contains only strings; otherwise `nil`.
    public var stringArrayValue: [String]? {
        guard case .array(let elements) = self else { return nil }
        let strings = elements.compactMap(\.stringValue)
        return strings.count == elements.count ? strings : nil
    }

    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }

    /// The object's member with this name.
    /// Reading returns `nil` if the member is missing or the value is not an object. Writing `nil` removes the member. Writing to a value
    /// that is not an object replaces the value with an object.
    public subscript(name: String) -> JSONValue? {
        get { if case .object(let members) = self { members[name] } else { nil } }
        set {
            var members = objectValue ?? [:]
            members[name] = newValue
            self = .object(members)
        }
    }

    /// The array's element at this index; `nil` if the index is out of range or the value is not an array.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object. The last of several members with the same name is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }

    /// Creates an array of strings.
    public init(_ strings: some Sequence<String>) { self = .array(strings.map(JSONValue.string)) }
}

/// Lets `Codable` types contain arbitrary JSON values, in any coder's format.
extension JSONValue: Codable {
    /// Decodes any JSON value.
    /// - Throws: `DecodingError` if there is no JSON value, or if it is nested more than 128 levels deep, counted from the root of the
    ///   decoder.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            guard decoder.codingPath.count < Limits.deepest else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "The value is nested more than \(Limits.deepest) levels deep.")
            }
            do { self = .array(try container.decode([JSONValue].self)) } catch DecodingError.typeMismatch {
                self = .object(try container.decode([String: JSONValue].self))
            }
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

/// A deterministic serializer of JSON values; see ``JSONValue/serialized()``.
struct JSONSerializer {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: JSONValue) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .double(let value): bytes.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
        case .string(let value): append(value)
        case .array(let elements): append(elements)
        case .object(let members): append(members)
        }
    }

    private mutating func append(_ elements: [JSONValue]) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func append(_ members: [String: JSONValue]) {
        bytes.append(UInt8(ascii: "{"))
        let ordered = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (index, member) in ordered.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(member.key)
            bytes.append(UInt8(ascii: ":"))
            append(member.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func append(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            bytes.append(contentsOf: string.utf8)
            return
        }
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Self.hexadecimalDigit(byte >> 4))
                bytes.append(Self.hexadecimalDigit(byte & 15))
            default: bytes.append(byte)
            }
        }
    }

    private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
