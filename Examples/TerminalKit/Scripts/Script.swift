internal import Foundation

/// A sequence of keys and expected texts, one per line.
struct Script: Sendable {
    enum Step: Equatable, Sendable {
        /// Types a text into the focused field.
        case type(String)
        /// Moves the focus to the field with this label.
        case field(String)
        /// Presses keys.
        case keys([Key])
        /// Presses the button, the switch or the row with this label, as soon as the element is enabled.
        case press(String)
        /// Waits until the screen contains a text.
        case expect(String)
        /// Waits until the screen no longer contains a text.
        case gone(String)
        /// Sets the maximum wait of the following steps in seconds.
        case within(Int)
        /// Prints the screen.
        case show
    }

    struct Problem: Error, LocalizedError {
        let line: Int
        let text: String

        var errorDescription: String? {
            "Line \(line) of the script is “\(text)”. A line is one of: type TEXT, field LABEL, key NAME…, press LABEL, expect TEXT, gone TEXT, within SECONDS, show, # comment."
        }
    }

    /// The steps with their line numbers.
    let steps: [(line: Int, step: Step)]

    init(contentsOf file: URL) throws {
        try self.init(String(contentsOf: file, encoding: .utf8))
    }

    /// Parses a script.
    ///
    /// - Throws: ``Problem`` with the first invalid line.
    init(_ text: String) throws {
        steps = try text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { number, line in
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { return nil }
            guard let step = Self.step(line) else { throw Problem(line: number + 1, text: line) }
            return (number + 1, step)
        }
    }

    private static func step(_ line: String) -> Step? {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        switch parts[0] {
        case "show" where rest.isEmpty: return .show
        case _ where rest.isEmpty: return nil
        case "type": return .type(rest)
        case "field": return .field(rest)
        case "press": return .press(rest)
        case "expect": return .expect(rest)
        case "gone": return .gone(rest)
        case "within": return Int(rest).flatMap { $0 > 0 ? .within($0) : nil }
        case "key":
            let keys = rest.split(separator: " ").map { Key(named: String($0)) }
            return keys.contains(nil) ? nil : .keys(keys.compactMap(\.self))
        default: return nil
        }
    }
}
