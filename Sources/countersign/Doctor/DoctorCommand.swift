import ArgumentParser
import Foundation
import JOSE

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the settings in an Okta.plist, or of --issuer and --client-id, against the issuer.",
        discussion: """
            Looks at the file, the issuer, the client, its grants and the clock. That needs no password and changes nothing. With a \
            redirect URI it begins a sign-in as a browser would, without a page. If the organization offers passkeys, the doctor checks the \
            RP ID and the files that browsers and Apple's systems read.

            With --user it signs that person in as well, and revokes the tokens at once. Only this shows whether the password is right, \
            the app is assigned and an access rule allows the password grant; a wrong password counts as a failed attempt. The password \
            is asked for without showing it; where the standard input is no terminal, its first line is the password.
            """)

    @Argument(help: "The property list; by default Okta.plist in the working directory, unless --issuer is given.")
    var file: String?

    @Option(help: ArgumentHelp("The issuer, instead of a property list.", valueName: "url"))
    var issuer: String?

    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client id, with --issuer.", valueName: "id"))
    var clientID: String?

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp("With --issuer: the redirect URI of an app with browser sign-in.", valueName: "uri"))
    var redirectURI: String?

    @Option(help: ArgumentHelp("With --issuer: the scopes to request, separated by spaces.", valueName: "scopes"))
    var scopes = "openid profile email offline_access"

    @Option(help: ArgumentHelp("Also sign this user in as a test.", valueName: "name"))
    var user: String?

    @Option(name: .customLong("rp-id"), help: ArgumentHelp("The RP ID of passkeys that the app expects.", valueName: "domain"))
    var relyingPartyID: String?

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        guard (issuer == nil) == (clientID == nil), issuer == nil || file == nil else {
            throw ValidationError("Pass a property list, or both --issuer and --client-id.")
        }
        guard redirectURI == nil || issuer != nil else { throw ValidationError("--redirect-uri requires --issuer and --client-id.") }
    }

    private var settings: Diagnosis.Settings {
        guard let issuer, let clientID else { return .file(URL(filePath: file ?? "Okta.plist")) }
        var values = ["issuer": issuer, "clientId": clientID, "scopes": scopes]
        values["redirectUri"] = redirectURI
        return .values(values)
    }

    func run() async throws {
        try await Outcome.of(json: json) {
            var diagnosis = Diagnosis(settings: settings, relyingPartyID: relyingPartyID)
            if let user {
                diagnosis.person = .init(name: user, password: try await PasswordPrompt.ask("Password for \(user): "))
            }
            let findings = await diagnosis.run()
            if json {
                let list = findings.map { finding -> JSONValue in
                    ["check": .string(finding.check), "result": .string(finding.result.rawValue), "text": .string(finding.text)]
                }
                Terminal.write(json: ["findings": .array(list)])
            } else {
                for finding in findings { Terminal.write(finding.line) }
            }
            if findings.contains(where: { $0.result == .wrong }) { throw ExitCode.failure }
        }
    }
}

struct Finding {
    enum Result: String { case right, warning, wrong }

    let check: String
    let result: Result
    let text: String

    static func right(_ check: String, _ text: String) -> Finding { Finding(check: check, result: .right, text: text) }
    static func warning(_ check: String, _ text: String) -> Finding { Finding(check: check, result: .warning, text: text) }
    static func wrong(_ check: String, _ text: String) -> Finding { Finding(check: check, result: .wrong, text: text) }

    var line: TerminalText {
        let mark =
            switch result {
            case .right: Terminal.styled("✓", .green)
            case .warning: Terminal.styled("!", .yellow)
            case .wrong: Terminal.styled("✗", .red)
            }
        return "\(mark) \(check): \(text)"
    }
}
