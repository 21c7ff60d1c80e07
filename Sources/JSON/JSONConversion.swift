internal import Foundation

extension JSON.Value {
    /// Creates a value from `nil`, `NSNull`, a Boolean, number, string, `NSNumber`, a convertible type of this module, or an array or
    /// dictionary of these.
    /// - Throws: ``JSONError/invalidJSONValue`` for another type, for a number that is infinite or not a number, and if the value is nested
    ///   more than 64 levels deep.
    public init(_ value: Any?) throws {
        self = try JSON.Value(any: value as Any)
    }

    /// Creates a value.
    /// - Parameter depth: The number of arrays and objects that contain the value.
    init(any value: Any, depth: Int = 0) throws {
        guard depth <= Self.maximumDepth else { throw JSONError.invalidJSONValue }
        switch value {
        case let optional as any OptionalValue:
            guard let wrapped = optional.wrapped else {
                self = .null
                return
            }
            self = try JSON.Value(any: wrapped, depth: depth)
        case let json as JSON.Value:
            self = json
        case let json as JSON:
            self = json.value
        case let elements as [Any]:
            self = .array(try elements.map { try JSON.Value(any: $0, depth: depth + 1) })
        case let members as [String: Any]:
            self = .object(try members.mapValues { try JSON.Value(any: $0, depth: depth + 1) })
        case let value as any JSONValueConvertible:
            self = try value.jsonValue.checked()
        default:
            self = .primitive(try JSON.Primitive(any: value))
        }
    }

    /// Returns the value.
    /// - Throws: ``JSONError/invalidJSONValue`` for a number that JSON cannot represent.
    private func checked() throws -> JSON.Value {
        if case .primitive(.double(let number)) = self, !number.isFinite { throw JSONError.invalidJSONValue }
        return self
    }
}

extension JSON.Primitive {
    /// Creates a value from `nil`, `NSNull`, a Boolean, number, string, `NSNumber` or a convertible type of this module.
    /// - Throws: ``JSONError/invalidJSONValue`` for another type, and for a number that is infinite or not a number.
    public init(_ value: Any?) throws {
        guard case .primitive(let primitive) = try JSON.Value(value) else { throw JSONError.invalidJSONValue }
        self = primitive
    }

    init(any value: Any) throws {
        // `NSNumber` also converts to `Bool`, and numbers to `NSNumber`, so the type itself decides.
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
            self = try JSON.Primitive(number)
            return
        }
        switch value {
        case let value as any BinaryInteger: self = Int(exactly: value).map(JSON.Primitive.int) ?? .double(Double(value))
        case let value as any BinaryFloatingPoint: self = .double(Double(value))
        case let value as String: self = .string(value)
        case let value as any JSONPrimitiveConvertible: self = value.primitive
        default: throw JSONError.invalidJSONValue
        }
        if case .double(let number) = self, !number.isFinite { throw JSONError.invalidJSONValue }
    }

    /// Creates a value from a Foundation number. Foundation has one object for each of the Booleans.
    private init(_ number: NSNumber) throws {
        if number === NSNumber(value: true) {
            self = .bool(true)
        } else if number === NSNumber(value: false) {
            self = .bool(false)
        } else if let integer = Int(exactly: number) {
            self = .int(integer)
        } else if number.doubleValue.isFinite {
            self = .double(number.doubleValue)
        } else {
            throw JSONError.invalidJSONValue
        }
    }
}

/// An optional of any type, to find `nil` inside `Any`.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { map { $0 as Any } }
}
