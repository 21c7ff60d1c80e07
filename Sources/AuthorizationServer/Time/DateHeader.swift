internal import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers

/// Formats the `Date` header (RFC 9110 section 5.6.7), once per second.
final class DateHeader: Sendable {
    private struct Written {
        var second: Int = .min
        var text = ""
    }

    private let written = NIOLockedValueBox(Written())

    func text(at now: Date) -> String {
        let second = Int(now.numericDate)
        return written.withLockedValue { written in
            if written.second != second {
                written = Written(second: second, text: Self.format(second))
            }
            return written.text
        }
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    static func format(_ second: Int) -> String {
        let day = Int(clamping: (Double(second) / 86_400).rounded(.down))
        let time = second - day * 86_400
        let (year, month, dayOfMonth) = civil(fromDays: day)
        let weekday = days[((day % 7) + 7) % 7]
        let clock = "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60))"
        let digits = String(year)
        let fourDigits = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return "\(weekday), \(two(dayOfMonth)) \(months[month - 1]) \(fourDigits) \(clock) GMT"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

    /// Converts days since 1 January 1970 to a Gregorian date. Years are counted from March, so that the leap day is the last day of a
    /// year.
    private static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
