import ArgumentParser
import DeviceAuthenticator
import JOSE

struct PhoneApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve a request, as `countersign phone pending` shows it.",
        discussion: """
            A PIN is asked for, without showing it, if the request wants you verified and the account has one; where the standard input is \
            no terminal, its first line is the PIN.
            """)

    @OptionGroup var options: PhoneAnswerOptions

    @Option(help: ArgumentHelp("The number that the sign-in shows, if the request has numbers.", valueName: "number"))
    var number: String?

    func run() async throws {
        try await options.send { request in
            guard let choices = request.challenge.numberChoices else { return .approve(number: nil) }
            guard let number else {
                throw CommandFailure("Approve with the number that the sign-in shows: --number \(choices.joined(separator: ", "))")
            }
            guard choices.contains(number) else {
                throw CommandFailure("\(number) is none of the numbers of this request: \(choices.joined(separator: ", ")).")
            }
            return .approve(number: number)
        }
    }
}

struct PhoneDenyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Deny a request, as `countersign phone pending` shows it.")

    @OptionGroup var options: PhoneAnswerOptions

    @Flag(help: "Report that it was not you who wanted to sign in.")
    var suspicious = false

    func run() async throws {
        try await options.send { _ in .deny(suspicious: suspicious) }
    }
}

/// The options that `approve` and `deny` share.
struct PhoneAnswerOptions: ParsableArguments {
    @OptionGroup var phone: PhoneFolder
    @OptionGroup var account: PhoneAccountOption

    @Argument(help: "The request, by its id or the beginning.")
    var id: String

    @Flag(help: "Write JSON.")
    var json = false

    /// Finds the request, shows it and sends the answer. Errors are reported and determine the exit code.
    func send(_ answer: (PhoneRequest) throws -> PhoneAnswer) async throws {
        try await Outcome.of(json: json) {
            let device = try TerminalPhone(phone.url)
            let enrollments = try device.enrollments(id: account.id)
            let id = id
            let request = try await Interruption.cancels { try await device.request(id, for: enrollments) }
            // A list omits unverified details. Verify them first, so that the user does not answer an incomplete request.
            try await Interruption.cancels { try await request.challenge.verify() }
            Terminal.note(request.text)
            let answer = try answer(request)
            try await Interruption.cancels { try await request.send(answer) }
            Terminal.write(answer.done, or: ["id": .string(request.id), "answer": .string(answer.name)], isJSON: json)
        }
    }
}
