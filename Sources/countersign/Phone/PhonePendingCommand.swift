import ArgumentParser
import Foundation
import JOSE

struct PhonePendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pending", abstract: "Show the requests that wait for an answer.")

    @OptionGroup var phone: PhoneFolder
    @OptionGroup var account: PhoneAccountOption

    @Option(help: ArgumentHelp("Wait so long for a request if there is none, up to 3600 seconds.", valueName: "seconds"))
    var wait = 0

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        guard (0...3600).contains(wait) else { throw ValidationError("--wait takes 0 to 3600 seconds.") }
    }

    func run() async throws {
        try await Outcome.of(json: json) {
            let device = try TerminalPhone(phone.url)
            let enrollments = try device.enrollments(id: account.id)
            let end = TerminalClock.now.addingTimeInterval(TimeInterval(wait))
            let requests = try await Interruption.cancels {
                var requests = try await device.requests(for: enrollments)
                while requests.isEmpty, TerminalClock.now < end {
                    try await TerminalClock.sleep(for: .seconds(1))
                    requests = try await device.requests(for: enrollments)
                }
                return requests
            }
            if json {
                Terminal.write(json: ["requests": .array(requests.map(\.json))])
            } else if requests.isEmpty {
                Terminal.note("Nothing waits.")
            } else {
                Terminal.write(requests.map(\.text).joined(separator: "\n\n"))
            }
        }
    }
}

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

struct PhoneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phone", abstract: "Use this terminal as a phone that approves sign-ins.",
        discussion: """
            Enroll once, then listen: each sign-in that asks for the phone is shown, to approve or to deny. A terminal has no push token, \
            so no push comes: requests are fetched from the organization, every few seconds by `listen`, once by `pending`.

            Without options it is a phone of the sandbox that `countersign sandbox` starts.
            """,
        subcommands: [
            PhoneEnrollCommand.self, PhoneListCommand.self, PhoneListenCommand.self, PhonePendingCommand.self, PhoneApproveCommand.self,
            PhoneDenyCommand.self, PhoneRemoveCommand.self,
        ])
}
