import ArgumentParser
import AuthFoundation
import JOSE

/// Writes a token of a credential to the standard output.
struct TokenPrintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print", abstract: "Write the access token of a credential, for use with curl.",
        discussion: """
            An expired token is refreshed first. A token is a secret: pass it on by a pipe or a variable, and never in a file that others read.

              curl -H "Authorization: Bearer $(countersign token print)" https://api.example.com/messages
            """)

    /// The tokens that the command writes. A refresh token is for the issuer alone.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case access, id
    }

    @OptionGroup var options: CredentialOptions

    @Option(help: ArgumentHelp("The token: access or id.", valueName: "kind"))
    var type = Kind.access

    func run() async throws {
        try await options.use { credential in
            if credential.token.isExpired { try await credential.refresh() }
            let token = credential.token
            switch type {
            case .access:
                options.tell(
                    "\(token.accessToken)", json: ["access_token": .string(token.accessToken), "token_type": .string(token.tokenType)])
            case .id:
                guard let idToken = token.idToken else {
                    throw CommandFailure("The credential has no ID token. Sign in with the scope openid.")
                }
                options.tell("\(idToken.rawValue)", json: ["id_token": .string(idToken.rawValue)])
            }
        }
    }
}
