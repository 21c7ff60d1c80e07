import ArgumentParser

/// A phone in a terminal.
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
