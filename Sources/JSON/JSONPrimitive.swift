internal import Foundation

extension JSON {
    /// A string, number, Boolean or `null`.
    public enum Primitive: JSONValueRepresentable, JSONPrimitiveConvertible, JSONValueConvertible, Hashable, Sendable {
        /// A string.
        case string(String)
        /// A number without a fraction that fits in an `Int`.
        case int(Int)
        /// Any other number.
        case double(Double)
        /// `true` or `false`.
        case bool(Bool)
        /// `null`.
        case null

        /// The value itself.
        public var primitive: JSON.Primitive { self }
    }
}

extension JSON.Primitive {
    /// The value as `String`, `Bool`, `Int` or `Double`, or `nil` for `null`. Setting a value that is none of these gives `null`; to detect
    /// such a value, use ``init(_:)``.
    public var anyValue: (any Sendable)? {
        get {
            switch self {
            case .string(let value): value
            case .int(let value): value
            case .double(let value): value
            case .bool(let value): value
            case .null: nil
            }
        }
        set { self = (try? JSON.Primitive(newValue)) ?? .null }
    }

    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }

    /// The Boolean, or `nil` for other types. Setting `nil` gives `null`.
    public var bool: Bool? {
        get { if case .bool(let value) = self { value } else { nil } }
        set { self = newValue.map(JSON.Primitive.bool) ?? .null }
    }

    /// The number, if it is a whole number that fits in an `Int`; otherwise `nil`. Setting `nil` gives `null`.
    public var int: Int? {
        get {
            switch self {
            case .int(let value): value
            case .double(let value): Int(exactly: value)
            default: nil
            }
        }
        set { self = newValue.map(JSON.Primitive.int) ?? .null }
    }

    /// The number, or `nil` for other types. Large integers are rounded. Setting `nil` gives `null`.
    public var double: Double? {
        get {
            switch self {
            case .int(let value): Double(value)
            case .double(let value): value
            default: nil
            }
        }
        set { self = newValue.map(JSON.Primitive.double) ?? .null }
    }

    /// The string, or `nil` for other types. Setting `nil` gives `null`.
    public var string: String? {
        get { if case .string(let value) = self { value } else { nil } }
        set { self = newValue.map(JSON.Primitive.string) ?? .null }
    }

    /// Returns the right value, which replaces the left one when objects are merged.
    public static func + (lhs: JSON.Primitive, rhs: JSON.Primitive) -> JSON.Primitive {
        rhs
    }

    /// Replaces the left value with the right one.
    public static func += (lhs: inout JSON.Primitive, rhs: JSON.Primitive) {
        lhs = rhs
    }
}

extension JSON.Primitive: Codable {
    /// Decodes a string, number, Boolean or `null`.
    /// - Throws: `DecodingError` for an array, for an object, and if the input is not JSON.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = JSON.Primitive(from: container) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The value is an array or an object.")
        }
        self = value
    }

    init?(from container: any SingleValueDecodingContainer) {
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            return nil
        }
    }

    /// Encodes the value.
    /// - Throws: `EncodingError` for a number that JSON cannot represent.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }
}

extension JSON.Primitive: CustomDebugStringConvertible {
    /// The JSON text. A number that JSON cannot represent is a string.
    public var debugDescription: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}

extension JSON.Primitive: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// Creates a number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a string.
    public init(unicodeScalarLiteral value: String) { self = .string(value) }
    /// Creates a string.
    public init(extendedGraphemeClusterLiteral value: String) { self = .string(value) }
}
