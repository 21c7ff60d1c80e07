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
