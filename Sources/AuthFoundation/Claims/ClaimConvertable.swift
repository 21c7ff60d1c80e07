public import Foundation
internal import JOSE

/// A type to which the value of a claim can be converted.
public protocol ClaimConvertable: Sendable {
    /// Converts the value of a claim. Returns `nil` if its type does not match.
    /// - Parameter value: `String`, `Bool`, `Int`, `Double`, or an array or dictionary of these.
    static func convert(from value: Any?) -> Self?
}

extension ClaimConvertable {
    /// Returns the value if it already has this type.
    public static func convert(from value: Any?) -> Self? {
        value as? Self
    }
}

extension ClaimConvertable where Self: RawRepresentable, RawValue == String {
    /// Returns the value with this raw value, or `nil` if there is none.
    public static func convert(from value: Any?) -> Self? {
        (value as? String).flatMap(Self.init(rawValue:))
    }
}

extension String: ClaimConvertable {}

extension Bool: ClaimConvertable {
    /// Converts a Boolean, or the integers 0 and 1.
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
    /// Converts a whole number.
    public static func convert(from value: Any?) -> Int? {
        if value is Bool { return nil }
        return (value as? Int) ?? (value as? Double).flatMap(Int.init(exactly:))
    }
}

extension Double: ClaimConvertable {
    /// Converts a number.
    public static func convert(from value: Any?) -> Double? {
        if value is Bool { return nil }
        return (value as? Double) ?? (value as? Int).map(Double.init)
    }
}

extension Float: ClaimConvertable {
    /// Converts a number.
    public static func convert(from value: Any?) -> Float? {
        Double.convert(from: value).map(Float.init)
    }
}

extension URL: ClaimConvertable {
    /// Converts a URL string.
    public static func convert(from value: Any?) -> URL? {
        (value as? URL) ?? (value as? String).flatMap { URL(string: $0) }
    }
}

extension Date: ClaimConvertable {
    /// Converts whole seconds since 1970, or a string in ISO 8601 or RFC 1123 format.
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
    /// Converts a number or a Boolean.
    public static func convert(from value: Any?) -> Self? {
        switch value {
        case let value as Bool: NSNumber(value: value) as? Self
        case let value as Int: NSNumber(value: value) as? Self
        case let value as Double: NSNumber(value: value) as? Self
        default: nil
        }
    }
}
