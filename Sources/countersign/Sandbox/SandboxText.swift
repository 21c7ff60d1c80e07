import CountersignSandbox
import Foundation

/// What a person needs to know of a running sandbox.
enum SandboxText {
    static func overview(_ sandbox: Sandbox) -> TerminalText {
        var lines: [TerminalText] = [
            "",
            Terminal.styled("The sandbox is up.", .bold),
            "  Front page   \(sandbox.origin.absoluteString)",
            "  Issuer       \(sandbox.issuer.absoluteString)",
            "  Discovery    \(sandbox.issuer.absoluteString)/.well-known/openid-configuration",
            "  Control API  \(sandbox.origin.absoluteString)/sandbox/ (the front page lists every call)",
        ]
        if let messages = sandbox.messagesURL { lines.append("  Messages     \(messages.absoluteString)/api/messages") }
        if let phone = sandbox.phoneURL { lines.append("  Phones       \(phone.absoluteString)") }
        let apps = sandbox.applications.map { $0.clientID + ($0.secret.map { " (secret \($0))" } ?? "") }
        lines.append("  Apps         \(apps.joined(separator: ", "))")
        let people = sandbox.users.map { user -> TerminalText in "\(user.login) / \(user.password ?? "no password")" }
        lines.append("  People       \(people.joined(separator: "\n               "))")
        if let authority = sandbox.authority {
            lines.append("  Authority    \(authority.certificateFile.path()) (`countersign trust` explains how to trust it)")
        }
        return "\(lines.joined(separator: "\n"))\n"
    }
}
