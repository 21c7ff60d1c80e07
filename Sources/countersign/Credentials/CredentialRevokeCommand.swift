import ArgumentParser
import AuthFoundation
import JOSE

/// Signs a credential out.
struct CredentialRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Sign a credential out, at the issuer and here.",
        discussion: "The credential is removed here even when the issuer can't be reached; the revocation is then delivered later.")

    @OptionGroup var options: CredentialOptions

    func run() async throws {
        try await options.use { credential in
            do {
                try await credential.revoke()
                options.tell("Signed out.", json: ["id": .string(credential.id), "revoked": true])
            } catch let error where error.isMissingRevocationEndpoint {
                options.tell("\(SignOutCommand.withoutRevocation)", json: ["id": .string(credential.id), "revoked": false])
            }
        }
    }
}
