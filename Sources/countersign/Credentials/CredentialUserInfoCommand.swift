import ArgumentParser
import AuthFoundation
import JOSE

/// Shows what the issuer says of a person.
struct CredentialUserInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user-info", abstract: "Show the profile of the person, as the issuer has it.")

    @OptionGroup var options: CredentialOptions

    func run() async throws {
        try await options.use { credential in
            let info = try await credential.userInfo()
            let claims = info.allClaims.sorted().map { name -> TerminalText in "\(name)  \(info.payload[name].map { "\($0)" } ?? "")" }
            let json = JSONValue.object(info.payload.mapValues { JSONValue.string("\($0)") })
            options.tell(claims.joined(separator: "\n"), json: json)
        }
    }
}
