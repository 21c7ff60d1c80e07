import AuthorizationServer
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

@testable import countersign

/// Tests the demo of browser sign-in.
extension CommandTests {
    private static let anyPort = ["--port", "0", "--messages-port", "0", "--phone-port", "0"]

    @Test("countersign demo --browser --once passes every step without a browser window and exits with status 0", .timeLimit(.minutes(5)))
    func browserDemo() async throws {
        let ended = try await Command.run(["demo", "--browser", "--once", "--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        let steps = try ended.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(steps.allSatisfy { $0["passed"] == true })
        #expect(
            steps.compactMap { $0["step"]?.stringValue } == [
                "Sandbox started", "Phone enrolled", "Signed in on the server's pages, with a password and a push", "Id token validated",
                "Single sign-on to a second app", "Signed out", "Signed in to the second app with the password alone",
                "Stepped up with a second factor", "Code for a device received", "Device signed in without a keyboard",
                "Signed out",
            ])
        #expect(steps[2]["detail"]?.stringValue?.contains(/the number \d+ was picked on the phone\./) == true)
    }

    @Test("In the browser demo, the user can approve the step-up on the phone", .timeLimit(.minutes(5)))
    func steppedUpByPhone() async throws {
        let numbers = OrgFile.sandboxDefault.replacing("number_challenge: never", with: "number_challenge: always")
        try await withSandbox(.init(organization: numbers)) { sandbox in
            var script = BrowserDemoScript(
                sandbox: sandbox, reporter: StepReporter(json: true), browser: DemoBrowser(walks: true, clock: sandbox.clock))
            script.stepsUpByPhone = true
            try await script.run()
            // The phone approved the first sign-in and the step-up.
            #expect(sandbox.allPhones.map(\.outcomes) == [[.approved, .approved]])
        }
    }

    @Test("Without --once, the browser demo keeps running until Ctrl-C", .timeLimit(.minutes(5)))
    func walkedBrowserDemo() async throws {
        let demo = try Command.start(["demo", "--browser", "--no-open"] + Self.anyPort)
        let text = try await demo.waitFor("Press Ctrl-C to stop.")
        #expect(text.contains("Device signed in without a keyboard") && !text.contains("Open this address"))
        demo.interrupt()
        #expect(await demo.end().status == 0)
        #expect(try await Command.run(["demo", "--no-open"]).status == 64)
    }

    @Test(
        "The browser demo prints the user name and password to enter, and prints the address if no browser can be opened",
        .timeLimit(.minutes(5)))
    func personsBrowserDemo() async throws {
        let demo = try Command.start(["demo", "--browser"] + Self.anyPort, environment: ["CI": "", "BROWSER": "/nonexistent/browser"])
        let text = try await demo.waitFor("/oauth2/default/v1/authorize?")
        #expect(text.contains("Sign in as jane.doe@example.com with the password Correct-Horse-7."))
        #expect(text.contains("Open this address in a browser on this machine:\n\nhttp://localhost:"))
        demo.interrupt()
        let (status, all) = await demo.end()
        #expect(status == 130 && !all.contains("failed"), "\(all)")
    }
}
