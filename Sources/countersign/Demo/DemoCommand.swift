import ArgumentParser
import AuthorizationServer
import CountersignSandbox
import Foundation
import JOSE

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Start a sandbox and sign a sample user in with a password and a push, step by step.",
        discussion: """
            The push goes to a virtual phone, whose page the demo names: approve the sign-in there. With --once the phone approves by \
            itself. Then the user signs in with a passkey alone. Afterwards the sandbox stays up until Ctrl-C. Every step uses the real \
            client SDK against the real server over HTTP.

            With --browser the person signs in on the server's own pages: your browser opens, and the demo tells what to do there. With \
            --no-open, --once, or the variable CI, a program walks the pages instead.
            """)

    @Flag(help: "Sign in with a browser, to two apps and for a device.")
    var browser = false

    @Flag(name: .customLong("no-open"), help: "With --browser: complete the pages by a program instead of opening a browser.")
    var walks = false

    @Flag(help: "Exit after the last step, with 0 if all steps passed and 1 otherwise.")
    var once = false

    @Option(help: ArgumentHelp("The port of the sandbox; 8080, or a free one with --once.", valueName: "port"))
    var port: Int?

    @Option(
        name: .customLong("messages-port"),
        help: ArgumentHelp("The port of the resource server; 8000, or a free one with --once.", valueName: "port"))
    var messagesPort: Int?

    @Option(
        name: .customLong("phone-port"),
        help: ArgumentHelp("The port of the virtual phone's page; 8081, or a free one with --once.", valueName: "port"))
    var phonePort: Int?

    @Flag(help: "Write one JSON object per step.")
    var json = false

    func validate() throws {
        if walks, !browser { throw ValidationError("--no-open requires --browser.") }
        try SandboxPorts.validate([("--port", port), ("--messages-port", messagesPort), ("--phone-port", phonePort)])
    }

    func run() async throws {
        try await Outcome.of(json: json) {
            let command = self
            let sandbox = try await Interruption.cancels { try await command.tell() }
            if !once { await SandboxText.showUntilStopped(sandbox) }
            await sandbox.stop()
        }
    }

    /// Runs the demo, and returns the sandbox, which is still running.
    private func tell() async throws -> Sandbox {
        let (port, messagesPort, phonePort) =
            once
            ? (port ?? 0, messagesPort ?? 0, phonePort ?? 0) : (port ?? 8080, messagesPort ?? 8000, phonePort ?? 8081)
        try await SandboxPorts.check(server: port, messages: messagesPort, phones: phonePort)
        let reporter = StepReporter(json: json)
        let sandbox = try await reporter.step("Sandbox started") {
            try await Sandbox.start(
                Sandbox.Configuration(
                    listening: .port(port), host: once ? "127.0.0.1" : "localhost", messagesPort: messagesPort, phonePort: phonePort,
                    organization: browser ? Self.asksForNumbers : nil))
        } telling: { sandbox in
            [sandbox.issuer, sandbox.messagesURL, sandbox.phoneURL].compactMap { $0?.absoluteString }.joined(separator: ", ")
        }
        do {
            if browser {
                let isUnattended = walks || once || ProcessInfo.processInfo.environment["CI"]?.isEmpty == false
                let browser = DemoBrowser(walks: isUnattended, clock: sandbox.clock)
                try await BrowserDemoScript(sandbox: sandbox, reporter: reporter, browser: browser).run()
            } else {
                try await DemoScript(sandbox: sandbox, reporter: reporter, approvesByItself: once).run()
            }
            return sandbox
        } catch {
            await sandbox.stop()
            throw error
        }
    }

    /// The default organization with number matching at each sign-in, so that the browser demo shows it.
    private static var asksForNumbers: String {
        OrgFile.sandboxDefault.replacing("number_challenge: never", with: "number_challenge: always")
    }

}

/// Reports each completed step and its duration.
struct StepReporter {
    let json: Bool

    /// Runs a step and reports its result. Throws a ``CommandFailure`` that names the step, or `CancellationError`.
    /// - Parameters:
    ///   - name: The step in the past tense.
    ///   - detail: Returns the details to show; never a secret.
    func step<T>(_ name: String, _ body: () async throws -> T, telling detail: (T) -> String = { _ in "" }) async throws -> T {
        let start = ContinuousClock.now
        do {
            let result = try await body()
            tell(name, passed: true, after: start.duration(to: .now), detail: detail(result))
            return result
        } catch is CancellationError {
            // The user cancelled the demo; the step did not fail.
            throw CancellationError()
        } catch {
            tell(name, passed: false, after: start.duration(to: .now), detail: Outcome.explain(error))
            throw CommandFailure("The step “\(name)” failed: \(Outcome.explain(error))")
        }
    }

    private func tell(_ name: String, passed: Bool, after duration: Duration, detail: String) {
        let milliseconds = Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) * 1e-15
        if json {
            let line: JSONValue = [
                "step": .string(name), "passed": .bool(passed), "milliseconds": .double((milliseconds * 10).rounded() / 10),
                "detail": .string(detail),
            ]
            return Terminal.write(json: line)
        }
        let mark = passed ? Terminal.styled("✓", .green) : Terminal.styled("✗", .red)
        let time = Terminal.styled("\(milliseconds.formatted(.number.precision(.fractionLength(1)))) ms", .dim)
        let rest: TerminalText = detail.isEmpty ? "" : "\n    \(Terminal.styled("\(detail)", .dim))"
        Terminal.write("\(mark) \(name) (\(time))\(rest)")
    }
}
