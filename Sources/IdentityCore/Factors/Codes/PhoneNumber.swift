internal import JOSE

/// A phone number in the format of ITU-T E.164: a plus sign and at most 15 digits, starting with a calling code. Its descriptions show only
/// the calling code and the last four digits.
package struct PhoneNumber: Sendable, Hashable {
    /// The number: `+` and the digits.
    package let e164: String

    /// The permitted number of digits; shorter numbers are service numbers.
    private static let digits = 8...15

    /// Parses a number as users write it: with spaces, hyphens, dots, slashes or parentheses, and with `+` or `00` before the calling code.
    /// `nil` if it is invalid or has no calling code, because its country would be unknown.
    package init?(_ text: String) {
        guard text.utf8.count <= 40 else { return nil }
        var digits = ""
        var isInternational = false
        for character in text.unicodeScalars {
            switch character {
            case "0"..."9": digits.unicodeScalars.append(character)
            case "+" where digits.isEmpty && !isInternational: isInternational = true
            case " ", "-", ".", "/", "(", ")", "\u{A0}", "\u{2011}": continue
            default: return nil
            }
        }
        if !isInternational, digits.hasPrefix("00") {
            digits.removeFirst(2)
            isInternational = true
        }
        guard isInternational, Self.digits.contains(digits.utf8.count), digits.first != "0" else { return nil }
        e164 = "+" + digits
    }

    /// The calling code, without the plus sign: one, two or three digits.
    package var callingCode: String {
        let digits = e164.dropFirst()
        if digits.first == "1" || digits.first == "7" { return String(digits.prefix(1)) }
        return String(digits.prefix(Self.twoDigitCodes.contains(String(digits.prefix(2))) ? 2 : 3))
    }

    /// The masked number: its calling code and its last four digits, `+1 XXX-XXX-4821` (Documentation/Protocol/Authn.md §5.1).
    package var masked: String { "+\(callingCode) XXX-XXX-\(e164.suffix(4))" }

    /// The two-digit calling codes (ITU-T E.164 annex D). 1 and 7 have one digit, all others three.
    private static let twoDigitCodes: Set<String> = [
        "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49", "51", "52", "53", "54",
        "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
    ]
}

extension PhoneNumber: Redacted {
    package var description: String { masked }
}

extension PhoneNumber: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let number = PhoneNumber(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no telephone number")
        }
        self = number
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(e164)
    }
}
