import Foundation

/// The output of a command as a guide shows it. `…` in a line matches any text; `…` alone on a line matches any lines.
struct ShownOutput {
    private let lines: [String]

    init(_ text: String) { lines = Self.lines(of: text) }

    /// Whether real output matches the shown output.
    func matches(_ written: String) -> Bool { Self.matches(lines[...], Self.lines(of: written)[...]) }

    private static func lines(of text: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }
        return Array(lines.drop(while: \.isEmpty).reversed().drop(while: \.isEmpty).reversed())
    }

    private static func matches(_ shown: ArraySlice<String>, _ written: ArraySlice<String>) -> Bool {
        guard let first = shown.first else { return written.isEmpty }
        if first == "…" {
            return (written.startIndex...written.endIndex).contains { matches(shown.dropFirst(), written[$0...]) }
        }
        guard let line = written.first, isLine(line, like: first) else { return false }
        return matches(shown.dropFirst(), written.dropFirst())
    }

    private static func isLine(_ line: String, like pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1, let head = parts.first, let tail = parts.last else { return line == pattern }
        guard line.hasPrefix(head) else { return false }
        var rest = line.dropFirst(head.count)
        for part in parts.dropFirst().dropLast() {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(tail)
    }
}
