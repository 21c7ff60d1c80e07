public import Foundation
internal import JOSE

/// A type that a claim's value can be read as.
public protocol ClaimConvertable: Sendable {
    /// Reads the value, if it is of a kind that can be read as this type.
    ///
    /// - Parameter value: A claim's value: `String`, `Bool`, `Int`, `Double`, an array or a dictionary of them.
    /// - Returns: The value, or nil if it is of another kind.
    static func convert(from value: Any?) -> Self?
}

extension ClaimConvertable {
    /// Takes the value if it is of this type already.
    public static func convert(from value: Any?) -> Self? {
        value as? Self
    }
}

extension ClaimConvertable where Self: RawRepresentable, RawValue == String {
    /// Takes the value whose raw value is this string.
    public static func convert(from value: Any?) -> Self? {
        (value as? String).flatMap(Self.init(rawValue:))
    }
}

extension String: ClaimConvertable {}

extension Bool: ClaimConvertable {
    /// Reads a boolean, or the numbers 0 and 1.
    public static func convert(from value: Any?) -> Bool? {
        if let value = value as? Bool { return value }
        return switch value as? Int {
        case 0: false
        case 1: true
        default: nil
        }
    }
}

extension Int: ClaimConvertable {
    /// Reads a whole number.
    public static func convert(from value: Any?) -> Int? {
        if value is Bool { return nil }
        return (value as? Int) ?? (value as? Double).flatMap(Int.init(exactly:))
    }
}

extension Double: ClaimConvertable {
    /// Reads a number.
    public static func convert(from value: Any?) -> Double? {
        if value is Bool { return nil }
        return (value as? Double) ?? (value as? Int).map(Double.init)
    }
}

extension Float: ClaimConvertable {
    /// Reads a number.
    public static func convert(from value: Any?) -> Float? {
        Double.convert(from: value).map(Float.init)
    }
}

extension URL: ClaimConvertable {
    /// Reads a string that is a URL.
    public static func convert(from value: Any?) -> URL? {
        (value as? URL) ?? (value as? String).flatMap { URL(string: $0) }
    }
}

extension Date: ClaimConvertable {
    /// Reads seconds since 1970 as a whole number, or a string in the formats of ISO 8601 or RFC 1123.
    public static func convert(from value: Any?) -> Date? {
        if let value = value as? Date { return value }
        if let seconds = Int.convert(from: value) { return Date(numericDate: Double(seconds)) }
        guard let text = value as? String else { return nil }
        return (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? HTTPDate.date(from: text)
    }
}

extension NSNumber: ClaimConvertable {
    /// Reads a number or a boolean.
    public static func convert(from value: Any?) -> Self? {
        switch value {
        case let value as Bool: NSNumber(value: value) as? Self
        case let value as Int: NSNumber(value: value) as? Self
        case let value as Double: NSNumber(value: value) as? Self
        default: nil
        }
    }
}
