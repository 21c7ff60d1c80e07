import ArgumentParser
import CountersignSandbox
import Foundation

/// Shows the whole system at work.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Start a sandbox and sign a sample person in, telling each step.",
        discussion: "Afterwards the sandbox stays up until Ctrl-C. Every step uses the real client SDK against the real server over HTTP.")

    @Flag(help: "End after the last step: with 0 if all passed, else with 1.")
    var once = false

    @Option(help: ArgumentHelp("The port of the sandbox; 8080, or a free one with --once.", valueName: "port"))
    var port: Int?

    @Option(
        name: .customLong("messages-port"),
        help: ArgumentHelp("The port of the resource server; 8000, or a free one with --once.", valueName: "port"))
    var messagesPort: Int?

    @Flag(help: "Write one JSON object per step.")
    var json = false

    func run() async throws {
        try await Outcome.of(json: json) {
            let reporter = StepReporter(json: json)
            let sandbox = try await reporter.step("Sandbox started") {
                try await Sandbox.start(
                    Sandbox.Configuration(
                        listening: .port(port ?? (once ? 0 : 8080)), host: once ? "127.0.0.1" : "localhost",
                        messagesPort: messagesPort ?? (once ? 0 : 8000)))
            } telling: {
                "\($0.issuer) and \($0.messagesURL?.absoluteString ?? "")"
            }
            do {
                try await DemoScript(sandbox: sandbox, reporter: reporter).run()
            } catch {
                await sandbox.stop()
                throw error
            }
            if !once { try await stayUp(sandbox) }
            await sandbox.stop()
        }
    }

    private func stayUp(_ sandbox: Sandbox) async throws {
        Terminal.write(SandboxText.overview(sandbox))
        Terminal.write("Press Ctrl-C to stop.")
        await StopSignal.wait()
    }
}
