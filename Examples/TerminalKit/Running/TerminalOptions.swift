public import ArgumentParser

/// The command-line options of every terminal app.
public struct TerminalOptions: ParsableArguments {
    /// The file of a script that replaces the keyboard and the screen; `nil` for none.
    @Option(
        help: ArgumentHelp(
            "Play a script of keys and expected texts instead of showing a screen; see the README of the examples.", valueName: "file"))
    public var script: String?

    /// The language; `nil` for the language of the environment.
    @Option(help: ArgumentHelp("The language, such as de; by default that of the environment.", valueName: "code"))
    public var language: String?

    /// The size of the screen for a script.
    @Option(help: ArgumentHelp("The size of a script's screen.", valueName: "columns x rows"))
    public var size = "80x24"

    /// Whether animations are off.
    @Flag(help: "Turn animations off.")
    public var still = false

    /// Creates options with the default values.
    public init() {}

    /// Checks the size.
    ///
    /// - Throws: `ValidationError` for an invalid size.
    public func validate() throws {
        guard scriptSize != nil else { throw ValidationError("Give the size as columns and rows, such as 80x24.") }
    }

    var scriptSize: TerminalSize? {
        let parts = size.lowercased().split(separator: "x").map { Int($0) }
        guard parts.count == 2, let columns = parts[0], let rows = parts[1], (20...500).contains(columns), (6...500).contains(rows) else {
            return nil
        }
        return TerminalSize(columns: columns, rows: rows)
    }
}
