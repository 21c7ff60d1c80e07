#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Times in claims, parameters and clocks, as seconds since 1970 (RFC 7519 §2, NumericDate).
///
/// `Int(x)` traps when a floating-point number does not fit. Every conversion of a date or of a decoded number uses an initializer or a
/// property of this file, which never traps.
package enum NumericDate {
    /// The range from 1970 to the end of 9999.
    package static let range: ClosedRange<Double> = 0...253_402_300_799
}

extension Date {
    /// A time in a claim or parameter (RFC 7519 §2, NumericDate).
    ///
    /// - Returns: `nil` unless the number is in `NumericDate.range`, so for NaN.
    package init?(numericDate seconds: Double) {
        guard NumericDate.range.contains(seconds) else { return nil }
        self.init(timeIntervalSince1970: seconds)
    }

    /// The nearest date in `NumericDate.range`; 1970 for NaN.
    package init(clampingNumericDate seconds: Double) {
        self.init(timeIntervalSince1970: seconds.isNaN ? 0 : min(max(seconds, NumericDate.range.lowerBound), NumericDate.range.upperBound))
    }

    /// Whole seconds since 1970, rounded down; a date out of `NumericDate.range` gives the nearest bound.
    package var numericDate: Int64 { Int64(Date(clampingNumericDate: timeIntervalSince1970).timeIntervalSince1970.rounded(.down)) }
}

extension FixedWidthInteger {
    /// The integer part of a floating-point number; the nearest bound if the number does not fit, 0 for NaN.
    package init(clamping value: Double) {
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }
}
