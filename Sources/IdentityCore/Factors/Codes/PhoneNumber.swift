internal import JOSE

/// A telephone number in the form of ITU-T E.164: a plus sign, and at most fifteen digits that begin with a country's calling code.
///
/// A value, safe from any task. Its descriptions show the last four digits only.
package struct PhoneNumber: Sendable, Hashable {
    /// `+` and the digits.
    package let e164: String

    /// Fewest digits of a number that a code can be sent to; shorter ones are services.
    private static let digits = 8...15

    /// Reads a number as people write it: with spaces, hyphens, dots, slashes or parentheses, and with `+` or `00` before the calling code.
    ///
    /// Nil if it cannot be read, or is longer than any number. A number without calling code is nobody's: which country is meant cannot be
    /// known.
    ///
    /// - Parameter text: The number.
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

    /// The number as anybody may see it: its calling code and its last four digits, `+1 XXX-XXX-4821` (authn reference 5.1).
    package var masked: String { "+\(callingCode) XXX-XXX-\(e164.suffix(4))" }

    /// All calling codes but 1 and 7 that have two digits (ITU-T E.164 annex D); the others have three.
    private static let twoDigitCodes: Set<String> = [
        "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47", "48", "49", "51", "52", "53", "54",
        "55", "56", "57", "58", "60", "61", "62", "63", "64", "65", "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98",
    ]
}

extension PhoneNumber: Redacted {
    /// The masked form.
    package var description: String { masked }
}

extension PhoneNumber: Codable {
    /// Reads what ``encode(to:)`` wrote.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: `DecodingError` if it is no number.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let number = PhoneNumber(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no telephone number")
        }
        self = number
    }

    /// Writes ``e164``.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(e164)
    }
}
