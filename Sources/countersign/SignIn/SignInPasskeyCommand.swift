import ArgumentParser
import AuthFoundation
import CountersignSandbox
import Foundation
import OktaDirectAuth

struct SignInPasskeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passkey", abstract: "Sign in with a passkey in software, without a password; for development.",
        discussion: """
            Create the passkey with `countersign passkey create`. The client needs the grant webauthn. `countersign sign-in direct` \
            uses the passkey after a password, if the issuer accepts a passkey as the second factor.
            """)

    @OptionGroup var options: SignInOptions
    @OptionGroup var folder: PasskeyFolder

    @Argument(help: "The user name; by default the command asks for it.")
    var username: String?

    func run() async throws {
        let (username, store) = (username, folder.store)
        try await options.keep { configuration in
            let name = try await UserName.ask(unless: username)
            let client = OAuth2Client(configuration)
            let flow = DirectAuthenticationFlow(client: client)
            let signer = PasskeySigner(store: store, username: name, client: client)
            guard try signer.hasPasskey,
                let status = try await signer.sign(try await flow.start(name, with: .webAuthn), by: flow)
            else { throw signer.missing }
            guard case .success(let token) = status else {
                throw CommandFailure(
                    "\(signer.origin.text) requires another factor. Use `countersign sign-in direct`, or change the sign-on policy.")
            }
            return token
        }
    }
}

/// Signs challenges with the passkeys of a folder.
struct PasskeySigner: Sendable {
    let store: PasskeyStore
    let username: String
    let client: OAuth2Client

    var origin: PasskeyOrigin { PasskeyOrigin(client.configuration.issuerURL) }

    /// Whether the folder has a passkey of the user that the issuer registered. The passkey may have been removed from the account since
    /// then.
    var hasPasskey: Bool {
        get throws {
            try store.all().contains { $0.userName.lowercased() == username.lowercased() && $0.origin == origin.text }
        }
    }

    /// Signs the challenge of a status that requires a passkey, and returns the next status; `nil` if the folder has none of the passkeys
    /// that the challenge accepts. Returns any other status unchanged.
    func sign(
        _ status: DirectAuthenticationFlow.Status, by flow: DirectAuthenticationFlow
    ) async throws -> DirectAuthenticationFlow.Status? {
        guard case .continuation(.webAuthn(let context)) = status else { return status }
        let options = context.request.publicKey
        let passkeys = try store.passkeys(of: username, for: options.rpID, at: origin)
        let allowed = options.allowCredentials?.map(\.id) ?? []
        guard let passkey = passkeys.first(where: { allowed.isEmpty || allowed.contains($0.id) }) else { return nil }
        return try await flow.resume(with: .webAuthn(response: passkey.assertion(for: context.request)))
    }

    /// The error if the folder has no usable passkey.
    var missing: CommandFailure {
        CommandFailure(
            "\(store.folder.path()) has no passkey of \(username) that \(origin.text) accepts. Create one: countersign passkey create \(username) --issuer \(origin.text). `countersign passkey remove` deletes one that was removed from the account."
        )
    }
}
