import ArgumentParser
import Foundation
import JOSE

/// Finds out why a configuration does not work.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Read an Okta.plist and ask its issuer what is wrong.",
        discussion: "Looks at the file, the issuer, the client, its grants and the clock. No password is needed and nothing is changed.")

    @Argument(help: "The property list.")
    var file = "Okta.plist"

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let findings = await Diagnosis(file: URL(filePath: file)).run()
            if json {
                let list = findings.map { finding -> JSONValue in
                    ["check": .string(finding.check), "result": .string(finding.result.rawValue), "text": .string(finding.text)]
                }
                Terminal.write(JSONText.line(["findings": .array(list)]))
            } else {
                for finding in findings { Terminal.write(finding.line) }
            }
            if findings.contains(where: { $0.result == .wrong }) { throw ExitCode.failure }
        }
    }
}

/// What the doctor found at one point.
struct Finding {
    enum Result: String { case right, warning, wrong }

    let check: String
    let result: Result
    let text: String

    static func right(_ check: String, _ text: String) -> Finding { Finding(check: check, result: .right, text: text) }
    static func warning(_ check: String, _ text: String) -> Finding { Finding(check: check, result: .warning, text: text) }
    static func wrong(_ check: String, _ text: String) -> Finding { Finding(check: check, result: .wrong, text: text) }

    var line: String {
        let mark =
            switch result {
            case .right: Terminal.styled("✓", .green)
            case .warning: Terminal.styled("!", .yellow)
            case .wrong: Terminal.styled("✗", .red)
            }
        return "\(mark) \(check): \(Terminal.printable(text))"
    }
}
