public import Foundation

/// A type that can be a value in JSON.
public protocol JSONValueConvertible: Sendable {
    /// The value in JSON.
    var jsonValue: JSON.Value { get }
}

/// A type that is an array or an object in JSON.
public protocol JSONRootValue: JSONValueConvertible {}

/// A type that is a string, number, Boolean or `null` in JSON.
public protocol JSONPrimitiveConvertible: Sendable {
    /// The value in JSON.
    var primitive: JSON.Primitive { get }
}

extension JSONPrimitiveConvertible {
    /// The value in JSON.
    public var jsonValue: JSON.Value { .primitive(primitive) }
}

/// A JSON value that can be read and replaced as a value of Swift. A property is `nil` if the JSON value is of another type. Setting `nil`
/// gives `null`.
public protocol JSONValueRepresentable: Sendable {
    /// The value as `String`, `Bool`, `Int`, `Double`, array or dictionary, or `nil` for `null`.
    var anyValue: (any Sendable)? { get set }

    /// Whether the value is `null`.
    var isNull: Bool { get }

    /// The Boolean.
    var bool: Bool? { get set }

    /// The number, if it is a whole number that fits in an `Int`.
    var int: Int? { get set }

    /// The number. Large integers are rounded.
    var double: Double? { get set }

    /// The string.
    var string: String? { get set }
}

/// A JSON value that can also be an array or an object.
public protocol JSONObjectRepresentable: JSONValueRepresentable {
    /// The elements of an array.
    var array: [JSON.Value]? { get set }

    /// The members of an object.
    var object: [String: JSON.Value]? { get set }

    /// The object's member with this name.
    subscript(key: String) -> JSON.Value? { get set }

    /// The array's element at this index.
    subscript(key: Int) -> JSON.Value? { get set }
}

extension String: JSONPrimitiveConvertible, JSONValueConvertible {
    /// The string in JSON.
    public var primitive: JSON.Primitive { .string(self) }
}

extension Int: JSONPrimitiveConvertible, JSONValueConvertible {
    /// The integer in JSON.
    public var primitive: JSON.Primitive { .int(self) }
}

extension Double: JSONPrimitiveConvertible, JSONValueConvertible {
    /// The number in JSON. JSON has no form of infinite numbers and of `nan`; the encoding of these throws.
    public var primitive: JSON.Primitive { .double(self) }
}

extension Bool: JSONPrimitiveConvertible, JSONValueConvertible {
    /// The Boolean in JSON.
    public var primitive: JSON.Primitive { .bool(self) }
}

extension NSNull: JSONPrimitiveConvertible, JSONValueConvertible {
    /// `null`.
    public var primitive: JSON.Primitive { .null }
}

extension Array: JSONValueConvertible, JSONRootValue where Element: JSONValueConvertible {
    /// The array in JSON.
    public var jsonValue: JSON.Value { .array(map(\.jsonValue)) }
}

extension Dictionary: JSONValueConvertible, JSONRootValue where Key == String, Value: JSONValueConvertible {
    /// The object in JSON.
    public var jsonValue: JSON.Value { .object(mapValues(\.jsonValue)) }
}
