import DeviceAuthenticator
import JOSE

/// Text for the terminal. Literal parts are trusted; every interpolated value is made printable and kept on one line. Names, scopes, IDs
/// and error descriptions come from issuers. A hostile issuer may send escape sequences that control the terminal, or line breaks that
/// forge lines of the command. Because this type escapes all values, no caller can forget to do so.
struct TerminalText: ExpressibleByStringInterpolation, Sendable {
    /// The text with the command's own line breaks and escape sequences.
    let rendered: String

    init(stringLiteral text: String) {
        rendered = text
    }

    init(stringInterpolation: StringInterpolation) {
        rendered = stringInterpolation.rendered
    }

    /// Creates text from an untrusted value, on one line.
    init(_ value: some StringProtocol) {
        rendered = PrintableText.line(String(value))
    }

    private init(rendered: String) {
        self.rendered = rendered
    }

    /// Returns trusted text unchanged, with its line breaks and escape sequences: JSON, or a QR code.
    static func own(_ text: String) -> TerminalText { TerminalText(rendered: text) }

    func styled(_ colour: Terminal.Colour) -> TerminalText {
        TerminalText(rendered: "\u{1B}[\(colour.rawValue)m\(rendered)\u{1B}[0m")
    }

    static func + (first: TerminalText, second: TerminalText) -> TerminalText { TerminalText(rendered: first.rendered + second.rendered) }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var rendered = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            rendered.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { rendered += literal }

        mutating func appendInterpolation(_ text: TerminalText) { rendered += text.rendered }

        mutating func appendInterpolation(_ value: some CustomStringConvertible) { rendered += PrintableText.line(value.description) }
    }
}

extension Sequence<TerminalText> {
    func joined(separator: TerminalText) -> TerminalText { .own(map(\.rendered).joined(separator: separator.rendered)) }
}

/// Breaks long lines at spaces. A word is never broken: it may be an address or a secret that the user copies.
enum LineWrapping {
    /// Wraps each line of a text. All parts of a broken line have its indentation. Escape sequences count as zero width.
    static func wrap(_ text: String, columns: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0), columns: columns) }.joined(separator: "\n")
    }

    private static func line(_ line: String, columns: Int) -> String {
        guard width(line) > columns else { return line }
        let indent = String(line.prefix { $0 == " " })
        var lines: [String] = []
        var current = indent
        for word in line.dropFirst(indent.count).split(separator: " ", omittingEmptySubsequences: false) {
            let longer = current == indent ? current + word : current + " " + word
            if current == indent || width(longer) <= columns {
                current = longer
            } else {
                lines.append(current)
                current = indent + word
            }
        }
        return (lines + [current]).joined(separator: "\n")
    }

    /// Returns the number of visible characters.
    private static func width(_ text: String) -> Int {
        var count = 0
        var isEscaped = false
        for character in text {
            if isEscaped {
                isEscaped = character != "m"
            } else if character == "\u{1B}" {
                isEscaped = true
            } else {
                count += 1
            }
        }
        return count
    }
}

/// Writes JSON for scripts: one value per line.
enum JSONText {
    /// Returns the value on one line. Characters that control a terminal become `\u` escapes, which is possible because JSON contains such
    /// characters only in strings.
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
