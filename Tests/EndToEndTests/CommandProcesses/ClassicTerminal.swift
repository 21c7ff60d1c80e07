import CountersignSandbox
import Foundation
import TestSupport
import Testing

/// `countersign sign-in classic` at a terminal, with a simulated user.
struct ClassicTerminal: Sendable {
    static let jane = SandboxUser.jane.login
    static let password = SandboxUser.jane.password ?? ""

    private let process: ChildProcess

    init(_ sandbox: Sandbox, _ more: String...) throws {
        process = try Command.start(
            ["sign-in", "classic", Self.jane, "--issuer", sandbox.issuer.absoluteString] + more, .terminal)
    }

    /// Waits for a text.
    ///
    /// - Returns: The output since the last wait, including that text.
    @discardableResult
    func waitFor(_ text: String) async throws -> String { try await process.waitFor(text) }

    /// Waits for a question and types the answer.
    func answer(_ prompt: String, _ text: String) async throws {
        try await process.waitFor(prompt)
        try process.type(text)
    }

    func givePassword(_ password: String = password) async throws { try await answer("Password for \(Self.jane): ", password) }

    /// Waits for the choices, and selects the first one whose title begins with this text.
    ///
    /// - Returns: The output up to and including the choices.
    @discardableResult
    func choose(_ title: String) async throws -> String {
        let menu = try await process.waitFor("Choice [")
        let lines = menu.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        let line = lines.last { $0.drop { $0 != ")" }.hasPrefix(") \(title)") }
        let key = try #require(line, "“\(title)” is none of the choices: \(menu)").prefix { $0 != ")" }
        try await process.waitFor("]: ")
        try process.type(String(key))
        return menu
    }

    /// Selects “Enter the code”, and types the code.
    func give(code: String) async throws {
        try await choose("Enter the code")
        try await answer("Code: ", code)
    }

    func interrupt() { process.interrupt() }

    /// Waits until the command exits.
    func end() async -> (status: Int32, text: String) { await process.end() }

    /// Checks that the command ends with the output of a successful sign-in.
    func isSignedIn(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let (status, text) = await end()
        #expect(status == 0, "\(text)", sourceLocation: sourceLocation)
        #expect(text.contains("Signed in. Without --client-id there are no tokens."), "\(text)", sourceLocation: sourceLocation)
        #expect(!text.contains(Self.password), sourceLocation: sourceLocation)
    }
}
