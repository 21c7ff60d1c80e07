import ArgumentParser
import DeviceAuthenticator
import JOSE

struct PhoneRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an account from this phone, at the organization first.",
        discussion: """
            The organization wants a sign-in for that: the password is asked for without showing it, and an approval on a phone, which can \
            be this one. With --here the account is removed from this phone alone; the organization goes on asking it.
            """)

    @OptionGroup var phone: PhoneFolder

    @Argument(help: "The account, by its id or the beginning; needed if there is more than one.")
    var id: String?

    @Flag(help: "Remove it here alone, without the organization.")
    var here = false

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let device = try TerminalPhone(phone.url)
            let found = try device.enrollments(id: id)
            guard found.count == 1, let enrollment = found.first else {
                throw CommandFailure("There are \(found.count) accounts on this phone. Name one: `countersign phone list` shows the ids.")
            }
            if here {
                try enrollment.deleteFromDevice()
            } else {
                let command = self
                try await Interruption.cancels { try await command.remove(enrollment, from: device) }
            }
            let id = enrollment.enrollmentId
            Terminal.write("Removed \(id)\(here ? ", here alone" : "").", or: ["id": .string(id), "removed": true], isJSON: json)
        }
    }

    private func remove(_ enrollment: AuthenticatorEnrollment, from device: TerminalPhone) async throws {
        guard let name = enrollment.user.name else {
            throw CommandFailure("The name of the account is not known, so nobody can sign in. Use --here, and tell the administrator.")
        }
        let authenticator = DeviceAuthenticatorConfig(orgURL: enrollment.organization.url, oidcClientId: enrollment.oidcClientId)
        let answering = SelfAnswer(device, username: name, at: authenticator, json: json)
        let signIn = OrganizationSignIn(authenticator: authenticator, username: name, json: json, answering: answering)
        try await signIn.token { try await enrollment.delete(authenticationToken: $0) }
    }
}
