public import Foundation

/// A JSON value. Integers are separate from other numbers, so that epoch seconds and identifiers keep their exact value.
public enum JSON: Sendable, Hashable, Codable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction that fits into 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSON])
    /// An object: a set of named members.
    case object([String: JSON])

    private static let maximumDepth = 64

    /// Parses UTF-8 JSON text.
    /// - Throws: `DecodingError` if the text is not JSON or is nested more than 64 levels deep.
    public init(_ data: Data) throws {
        self = try JSONDecoder().decode(JSON.self, from: data)
    }

    /// Parses JSON text.
    /// - Throws: `DecodingError` if the text is not JSON or is nested more than 64 levels deep.
    public init(_ text: String) throws {
        try self.init(Data(text.utf8))
    }

    /// Decodes a value.
    /// - Throws: `DecodingError` if the input is not JSON or is nested more than 64 levels deep.
    public init(from decoder: any Decoder) throws {
        // Each level uses stack space, and threads can have small stacks.
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The JSON is nested too deeply."))
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// Encodes the value.
    /// - Throws: `EncodingError` for a number that JSON cannot represent.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The members of an object, or `nil` for any other value.
    public var objectValue: [String: JSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements of an array, or `nil` for any other value.
    public var arrayValue: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text of a string, or `nil` for any other value.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// Returns the object's member with this name, or `nil` if there is none or the value is not an object.
    public subscript(name: String) -> JSON? {
        objectValue?[name]
    }

    /// The value as `String`, `Bool`, `Int`, `Double`, array or dictionary, or `nil` for `null`. Array elements and object members that are
    /// `null` are removed.
    public var anyValue: (any Sendable)? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .integer(let value): Int(exactly: value) ?? Double(value)
        case .number(let value): value
        case .string(let value): value
        case .array(let values): values.compactMap(\.anyValue)
        case .object(let members): members.compactMapValues(\.anyValue)
        }
    }

    /// The type of the value, for error messages. The text never contains the value itself.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The JSON text with sorted members; `nil` if it contains a number that JSON cannot represent.
    package var text: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try? encoder.encode(self)
    }
}
