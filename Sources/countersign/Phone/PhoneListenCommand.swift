import ArgumentParser

struct PhoneListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Fetch requests every few seconds, show each, and ask whether to approve it, until Ctrl-C.",
        discussion: """
            Where the standard input is no terminal, or with --json, nothing is asked: `countersign phone approve` and `deny` answer. With \
            --json each line is an object, whose "event" is "request", "over" when that request does not wait any more, or "refused" when \
            the organization refuses an account; the other accounts go on.
            """)

    @OptionGroup var phone: PhoneFolder
    @OptionGroup var account: PhoneAccountOption

    @Option(help: ArgumentHelp("How often to fetch, from 1 to 300 seconds.", valueName: "seconds"))
    var interval = 2

    @Flag(help: "Write JSON, and ask nothing.")
    var json = false

    func validate() throws {
        guard (1...300).contains(interval) else { throw ValidationError("--interval takes 1 to 300 seconds.") }
    }

    func run() async throws {
        try await Outcome.of(json: json) {
            let device = try TerminalPhone(phone.url)
            let enrollments = try device.enrollments(id: account.id)
            let listener = PhoneListener(phone: device, enrollments: enrollments, interval: .seconds(interval), json: json)
            for enrollment in enrollments { Terminal.note("Listening for \(EnrollmentSummary(enrollment).line)") }
            do {
                try await Interruption.cancels { try await listener.run() }
            } catch is CancellationError {
                // Ctrl-C is the normal end of this command.
                if TerminalInput.isInteractive { Terminal.note("") }
            }
        }
    }
}

struct PhoneAccountOption: ParsableArguments {
    @Option(
        name: .customLong("account"), help: ArgumentHelp("One account, by its id or the beginning; all if it is left out.", valueName: "id")
    )
    var id: String?
}
