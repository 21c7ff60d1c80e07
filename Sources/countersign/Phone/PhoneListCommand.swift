import ArgumentParser
import Foundation
import JOSE

/// Lists the accounts of the phone.
struct PhoneListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the accounts of this phone.")

    @OptionGroup var phone: PhoneFolder

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let summaries = try TerminalPhone(phone.url).enrollments.map(EnrollmentSummary.init)
            if json {
                Terminal.write(json: ["enrollments": .array(summaries.map(\.json))])
            } else if summaries.isEmpty {
                Terminal.note("No account is on the phone in \(phone.url.path()).")
            } else {
                for summary in summaries { Terminal.write(summary.line) }
            }
        }
    }
}
