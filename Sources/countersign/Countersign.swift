import ArgumentParser

/// The command: a server, a sandbox, and a client for any issuer.
@main
struct Countersign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countersign",
        abstract: "Sign-in for Swift: an authorization server, a sandbox of it, and a client for any issuer.",
        discussion: """
            Begin with `countersign demo`. Passwords are asked for, or read from the standard input; they are never arguments.
            Exit codes: 0 all went well, 1 it failed, 2 the issuer refused, 3 the issuer can't be reached, 64 the arguments are wrong,
            130 Ctrl-C.
            """,
        version: "0.1.0",
        subcommands: [
            DemoCommand.self, SandboxCommand.self, InitCommand.self, ServeCommand.self, UsersCommand.self, LogCommand.self,
            OrgCommand.self, KeysCommand.self, StoreCommand.self, SignInCommand.self, SignOutCommand.self, PhoneCommand.self,
            PasskeyCommand.self, CredentialCommand.self, TokenCommand.self, DoctorCommand.self, TrustCommand.self,
        ])
}
