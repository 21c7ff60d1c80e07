package import Foundation

// Names for values that are built from other JSON, beside the literals.
extension JSON {
    /// `null`.
    public static let null = JSON(Value.null)

    /// Returns a Boolean.
    public static func bool(_ value: Bool) -> JSON { JSON(value.jsonValue) }

    /// Returns an integer. Where an `Int` has only 32 bits, a larger integer is a `Double`.
    public static func integer(_ value: Int64) -> JSON {
        JSON(Int(exactly: value)?.jsonValue ?? Double(value).jsonValue)
    }

    /// Returns a number.
    public static func number(_ value: Double) -> JSON { JSON(value.jsonValue) }

    /// Returns a string.
    public static func string(_ value: String) -> JSON { JSON(value.jsonValue) }

    /// Returns an array.
    public static func array(_ elements: [JSON]) -> JSON { JSON(elements) }

    /// Returns an object.
    public static func object(_ members: [String: JSON]) -> JSON { JSON(members) }

    /// The members of an object, or `nil` for any other value.
    public var objectValue: [String: JSON]? { object?.mapValues(JSON.init) }

    /// The elements of an array, or `nil` for any other value.
    public var arrayValue: [JSON]? { array?.map(JSON.init) }

    /// The text of a string, or `nil` for any other value.
    public var stringValue: String? { string }

    /// The type of the value, for error messages. The text never contains the value itself.
    package var kind: String { value.kind }

    /// The JSON text with sorted members; `nil` if it contains a number that JSON cannot represent.
    package var text: Data? { try? value.encoded() }
}
