import DeviceAuthenticator
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

    /// How many characters a line of the notes has: what COLUMNS says, or the terminal, or 80.
    static var noteColumns: Int {
        if let said = ProcessInfo.processInfo.environment["COLUMNS"].flatMap({ Int($0) }), said > 0 { return said }
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes a line of the result; ends the program if nobody reads it.
    static func write(_ line: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
        } catch {
            // Nobody reads any more, as with `| head`.
            exit(EXIT_FAILURE)
        }
    }

    static func note(_ line: String) {
        // Who closed it wants no notes.
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }

    static func styled(_ text: String, _ colour: Colour) -> String {
        showsColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// A text in the place of the last line of the notes, which stays open.
    static func rewriteNote(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[2K\(text)".utf8))
    }

    /// The same as ``styled(_:_:)`` for notes.
    static func styledNote(_ text: String, _ colour: Colour) -> String {
        notesShowColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// A text from elsewhere without what would steer the terminal, or turn the direction of what follows.
    static func printable(_ text: String) -> String { PrintableText.lines(text) }

    /// The same for a text that is not to look like further lines of ours.
    static func printableLine(_ text: String) -> String { PrintableText.line(text) }
}
