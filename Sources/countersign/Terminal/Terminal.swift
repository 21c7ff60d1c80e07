import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the command writes: results to the standard output, everything else to the standard error.
enum Terminal {
    /// A colour, shown on a terminal only.
    enum Colour: String {
        case green = "32"
        case red = "31"
        case yellow = "33"
        case dim = "2"
        case bold = "1"
    }

    /// Whether the standard output is a terminal that shows colours (https://no-color.org).
    static let showsColour =
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// Whether the standard error is a terminal, on which a line can be written over.
    static let notesAreSeen = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    private static let notesShowColour = notesAreSeen && ProcessInfo.processInfo.environment["NO_COLOR"] == nil

    static func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func note(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    static func styled(_ text: String, _ colour: Colour) -> String {
        showsColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// A text in the place of the last line of the notes, which stays open.
    static func rewriteNote(_ text: String) {
        FileHandle.standardError.write(Data("\r\u{1B}[2K\(text)".utf8))
    }

    /// The same as ``styled(_:_:)`` for notes.
    static func styledNote(_ text: String, _ colour: Colour) -> String {
        notesShowColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// A text from elsewhere without what would steer the terminal.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control && $0 != "\n" ? "\u{FFFD}" : $0 }))
    }
}
