import ArgumentParser
import Foundation
import JOSE

/// Shows what a token says, without believing it.
struct TokenDecodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Show what the token on the standard input says, without checking it.")

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let (header, claims) = try TokenInput.parts(of: try await TokenInput.read())
            if json { return Terminal.write(json: ["header": header, "claims": claims]) }
            Terminal.write("\(Terminal.styled("Header", .bold))\n\(Self.text(header))")
            Terminal.write("\(Terminal.styled("Claims (not verified)", .bold))\n\(Self.text(claims))")
        }
    }

    private static func text(_ object: JSONValue) -> TerminalText {
        (object.objectValue ?? [:]).sorted { $0.key < $1.key }.map { name, value -> TerminalText in
            var line: TerminalText = "  \(name)  \(value.serializedString)"
            if ["exp", "iat", "nbf", "auth_time", "updated_at"].contains(name),
                let date = value.doubleValue.flatMap(Date.init(numericDate:))
            {
                line = "\(line)  (\(date.formatted(.iso8601)))"
            }
            return line
        }.joined(separator: "\n")
    }
}
