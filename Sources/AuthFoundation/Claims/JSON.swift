public import Foundation

/// A JSON value.
///
/// A `Sendable` value type. Integers and other numbers are kept apart, so that epoch seconds and identifiers survive unchanged.
public enum JSON: Sendable, Hashable, Codable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction that fits 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// A list.
    case array([JSON])
    /// A set of named members.
    case object([String: JSON])

    private static let maximumDepth = 64

    /// Reads a JSON text.
    ///
    /// - Parameter data: The text in UTF-8.
    /// - Throws: `DecodingError` if it is not JSON.
    public init(_ data: Data) throws {
        self = try JSONDecoder().decode(JSON.self, from: data)
    }

    /// Reads a JSON text.
    ///
    /// - Parameter text: The text.
    /// - Throws: `DecodingError` if it is not JSON.
    public init(_ text: String) throws {
        try self.init(Data(text.utf8))
    }

    /// Reads a value from a decoder.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if there is something else than JSON, or JSON that is nested more than 64 deep.
    public init(from decoder: any Decoder) throws {
        // Each level takes some of the stack, and threads may have little of it.
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

    /// Writes the value to an encoder.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: `EncodingError` for a number that JSON can't express.
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

    /// The members of an object; nil for any other value.
    public var objectValue: [String: JSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements of a list; nil for any other value.
    public var arrayValue: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text of a string; nil for any other value.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The member of that name; nil if there is none or if this is no object.
    public subscript(name: String) -> JSON? {
        objectValue?[name]
    }

    /// The value in terms of `String`, `Bool`, `Int`, `Double`, arrays and dictionaries; nil for `null`.
    ///
    /// Members and elements that are `null` are left out.
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

    /// What kind of value this is, in words for an error's text. Never the value itself.
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

    /// The JSON text with sorted members.
    package var text: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try? encoder.encode(self)
    }
}
