import ArgumentParser
import DeviceAuthenticator
import JOSE

struct PhoneEnrollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll", abstract: "Sign in at the organization and enroll this terminal as a phone of the account.",
        discussion: """
            The command asks for the password without showing it, and for a second factor if the user has one. The access token \
            of this sign-in is never stored, and revoked afterwards. Where the standard input is no terminal, its first line is the \
            password, and the second the PIN.

            With --uri the command needs no password: the sign-in page that shows the QR code continues by itself.

            Enrolling again takes the place of the older account of the same person and client.
            """)

    @OptionGroup var organization: OrganizationOptions
    @OptionGroup var phone: PhoneFolder

    @Argument(help: "The user name; by default the command asks for it.")
    var username: String?

    @Option(help: ArgumentHelp("The content of a sign-in page's QR code, instead of a user name.", valueName: "address"))
    var uri: String?

    @Flag(name: .customLong("user-verification"), help: "Create a user verification key that a PIN protects.")
    var verifiesUser = false

    @Flag(name: .customLong("ciba"), help: "Also accept backchannel requests (CIBA).")
    var answersCIBA = false

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        if uri != nil, username != nil || organization.isGiven {
            throw ValidationError("The address of a QR code already contains the organization and the user. Leave out the other arguments.")
        }
    }

    func run() async throws {
        try await Outcome.of(json: json) {
            let command = self
            if let uri {
                let link = try EnrollmentLink(uri)
                return try await Interruption.cancels { try await command.enroll(by: link) }
            }
            let authenticator = try organization.authenticator()
            try await Interruption.cancels { try await command.enroll(in: authenticator) }
        }
    }

    private func enroll(by link: EnrollmentLink) async throws {
        let device = try TerminalPhone(phone.url)
        tell(try await device.enroll(link, verifiesUser: verifiesUser, answersCIBA: answersCIBA))
    }

    private func enroll(in authenticator: DeviceAuthenticatorConfig) async throws {
        let device = try TerminalPhone(phone.url)
        let name = try await UserName.ask(unless: username)
        let answering = SelfAnswer(device, username: name, at: authenticator, json: json)
        let signIn = OrganizationSignIn(authenticator: authenticator, username: name, json: json, answering: answering)
        let enrollment = try await signIn.token { token in
            try await device.enroll(authenticator, with: token, verifiesUser: verifiesUser, answersCIBA: answersCIBA)
        }
        tell(enrollment)
    }

    private func tell(_ enrollment: AuthenticatorEnrollment) {
        let summary = EnrollmentSummary(enrollment)
        guard !json else { return Terminal.write(json: summary.json) }
        Terminal.write("Enrolled: \(summary.line)")
        Terminal.note(
            "A terminal has no push token: requests wait until `countersign phone listen` or `countersign phone pending` fetches them.")
    }
}
