import DeviceAuthenticator
import JOSE

/// JSON for scripts: one value per line.
enum JSONText {
    /// Returns the value on one line. Characters that control a terminal become `\u` escapes; JSON contains them only in strings.
    static func line(_ value: JSONValue) -> String {
        let text = value.serializedString
        guard text.unicodeScalars.contains(where: PrintableText.steers) else { return text }
        return text.unicodeScalars.map { scalar in
            guard PrintableText.steers(scalar) else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }.joined()
    }
}
