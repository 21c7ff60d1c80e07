#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Times in claims, parameters and clocks, in seconds since 1970 (RFC 7519 §2, NumericDate).
/// `Int(x)` traps if a floating-point number does not fit. The conversions in this file never trap: use them for every date and every
/// decoded number.
package enum NumericDate {
    /// The range from 1970 to the end of 9999.
    package static let range: ClosedRange<Double> = 0...253_402_300_799
}

extension Date {
    /// Creates a date from a NumericDate (RFC 7519 §2); `nil` for NaN and for numbers outside `NumericDate.range`.
    package init?(numericDate seconds: Double) {
        guard NumericDate.range.contains(seconds) else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }

    /// Creates the nearest date in `NumericDate.range`. NaN gives 1970.
    package init(clampingNumericDate seconds: Double) {
        self.init(timeIntervalSince1970: seconds.isNaN ? 0 : min(max(seconds, NumericDate.range.lowerBound), NumericDate.range.upperBound))
    }

    /// Whole seconds since 1970, rounded down and limited to `NumericDate.range`.
    package var numericDate: Int64 { Int64(Date(clampingNumericDate: timeIntervalSince1970).timeIntervalSince1970.rounded(.down)) }
}

extension FixedWidthInteger {
    /// Creates the integer part of a floating-point number. A number that does not fit gives the nearest bound; NaN gives 0.
    package init(clamping value: Double) {
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }
}
