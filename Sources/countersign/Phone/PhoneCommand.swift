import ArgumentParser
import DeviceAuthenticator
import Foundation
import JOSE

struct PhonePendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pending", abstract: "Show the pending requests.")

    @OptionGroup var phone: PhoneFolder
    @OptionGroup var account: PhoneAccountOption

    @Option(help: ArgumentHelp("How many seconds to wait for a request if there is none, up to 3600.", valueName: "seconds"))
    var wait = 0

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        guard (0...3600).contains(wait) else { throw ValidationError("--wait must be 0 to 3600 seconds.") }
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
                Terminal.note("No requests are waiting.")
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
                Terminal.note("The phone in \(phone.url.path()) has no accounts.")
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

struct PhoneListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Fetch requests every few seconds, show each, and ask whether to approve it, until Ctrl-C.",
        discussion: """
            Where the standard input is no terminal, or with --json, nothing is asked: `countersign phone approve` and `deny` answer. With \
            --json each line is an object, whose "event" is "request", "over" when that request does not wait any more, or "refused" when \
            the organization refuses an account; the other accounts continue.
            """)

    @OptionGroup var phone: PhoneFolder
    @OptionGroup var account: PhoneAccountOption

    @Option(help: ArgumentHelp("How often to fetch, from 1 to 300 seconds.", valueName: "seconds"))
    var interval = 2

    @Flag(help: "Write JSON, without questions.")
    var json = false

    func validate() throws {
        guard (1...300).contains(interval) else { throw ValidationError("--interval must be 1 to 300 seconds.") }
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
        name: .customLong("account"), help: ArgumentHelp("An account id or its beginning; by default all accounts.", valueName: "id")
    )
    var id: String?
}

struct PhoneApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve a request. List the requests and their ids with `countersign phone pending`.",
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
                throw CommandFailure("\(number) is not one of the numbers of this request: \(choices.joined(separator: ", ")).")
            }
            return .approve(number: number)
        }
    }
}

struct PhoneDenyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny", abstract: "Deny a request. List the requests and their ids with `countersign phone pending`.")

    @OptionGroup var options: PhoneAnswerOptions

    @Flag(help: "Report that you did not start this sign-in.")
    var suspicious = false

    func run() async throws {
        try await options.send { _ in .deny(suspicious: suspicious) }
    }
}

/// The options that `approve` and `deny` share.
struct PhoneAnswerOptions: ParsableArguments {
    @OptionGroup var phone: PhoneFolder
    @OptionGroup var account: PhoneAccountOption

    @Argument(help: "The request's id or its beginning.")
    var id: String

    @Flag(help: "Write JSON.")
    var json = false

    /// Finds the request, shows it and sends the answer. Reports errors, which determine the exit code.
    func send(_ answer: (PhoneRequest) throws -> PhoneAnswer) async throws {
        try await Outcome.of(json: json) {
            let device = try TerminalPhone(phone.url)
            let enrollments = try device.enrollments(id: account.id)
            let id = id
            let request = try await Interruption.cancels { try await device.request(id, for: enrollments) }
            // The text omits details that were not verified. They are verified first, so that the user does not answer an incomplete
            // request.
            try await Interruption.cancels { try await request.challenge.verify() }
            Terminal.note(request.text)
            let answer = try answer(request)
            try await Interruption.cancels { try await request.send(answer) }
            Terminal.write(answer.done, or: ["id": .string(request.id), "answer": .string(answer.name)], isJSON: json)
        }
    }
}

struct PhoneRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an account from this phone, at the organization first.",
        discussion: """
            The organization wants a sign-in for that: the password is asked for without showing it, and an approval on a phone, which can \
            be this one. With --here the account is removed from this phone alone; the organization keeps sending it requests.
            """)

    @OptionGroup var phone: PhoneFolder

    @Argument(help: "The account's id or its beginning; required if there is more than one account.")
    var id: String?

    @Flag(help: "Remove it from this phone only, without contacting the organization.")
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
            throw CommandFailure("The account's name is unknown, so the command cannot sign in. Use --here, and tell the administrator.")
        }
        let authenticator = DeviceAuthenticatorConfig(orgURL: enrollment.organization.url, oidcClientId: enrollment.oidcClientId)
        let answering = SelfAnswer(device, username: name, at: authenticator, json: json)
        let signIn = OrganizationSignIn(authenticator: authenticator, username: name, json: json, answering: answering)
        try await signIn.token { try await enrollment.delete(authenticationToken: $0) }
    }
}

/// The details of an enrollment that are shown to the user.
struct EnrollmentSummary {
    let id: String
    let user: String
    let organization: String
    let clientID: String
    let verifiesUser: Bool
    let answersCIBA: Bool
    let state: String

    init(_ enrollment: AuthenticatorEnrollment) {
        id = enrollment.enrollmentId
        user = enrollment.user.name ?? enrollment.user.id
        organization = enrollment.organization.url.absoluteString
        clientID = enrollment.oidcClientId
        verifiesUser = enrollment.userVerificationEnabled
        answersCIBA = enrollment.isCIBAEnabled
        state =
            switch enrollment.enrollmentState {
            case .active: "active"
            case .suspended: "suspended"
            case .deleted, .reset: "deleted"
            }
    }

    var line: TerminalText {
        let features = [verifiesUser ? "PIN" : nil, answersCIBA ? "CIBA" : nil, state == "active" ? nil : state].compactMap { $0 }
        let end: TerminalText = features.isEmpty ? "" : "  (\(features.joined(separator: ", ")))"
        return "\(id)  \(user)  \(clientID) at \(organization)\(end)"
    }

    var json: JSONValue {
        [
            "id": .string(id), "user": .string(user), "organization": .string(organization), "client_id": .string(clientID),
            "user_verification": .bool(verifiesUser), "ciba": .bool(answersCIBA), "state": .string(state),
        ]
    }
}
