import AuthFoundation
import CountersignSandbox
import Delivery
import Foundation
import OktaAuthSdk
import TestSupport
import Testing

/// Tests that the documentation shows the examples of `WorkedExamples.swift`, and that they work.
@MainActor
@Suite("The worked examples of the classic sign-in", .timeLimit(.minutes(5)))
struct WorkedExampleTests {
    private static let jane = SandboxUser.jane.login
    private static let password = SandboxUser.jane.password ?? ""
    private static let unexpected: @MainActor (String) async throws -> String = { question in
        Issue.record("\(question)")
        throw CancellationError()
    }

    /// Returns the lines of each example on a page, without imports.
    private static func examples(of page: String) throws -> [[String]] {
        let text = try String(contentsOf: OutsidePart.root.appending(path: page), encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst().map { block in
            lines(block.components(separatedBy: "```")[0]).filter { !$0.hasPrefix("import ") }
        }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test("The code examples in the documentation of the classic API are the same as the code that the tests run")
    func stand() throws {
        let file = OutsidePart.root.appending(path: "Tests/EndToEndTests/Classic/WorkedExamples.swift")
        let run = Self.lines(try String(contentsOf: file, encoding: .utf8))
        let page = try Self.examples(of: "Sources/OktaAuthSdk/OktaAuthSdk.docc/OktaAuthSdk.md")
        let guide = try Self.examples(of: "Documentation/Countersign.docc/TheClassicStateMachine.md")
            .filter { $0.first?.hasPrefix("let start = OktaAuthStatusUnauthenticated") == true }
        #expect(page.count == 4 && guide.count == 1)
        for example in page + guide {
            let isThere = run.indices.contains { run[$0...].starts(with: example) }
            #expect(isThere, "\(example.joined(separator: "\n"))")
        }
    }

    @Test("The documentation's example of a classic password sign-in gets a session token from the sandbox")
    func password() async throws {
        try await withClassicSandbox { sandbox in
            let token = try await signIn(at: sandbox.origin, name: Self.jane, password: Self.password, ask: Self.unexpected)
            #expect(token?.isEmpty == false)
            let heard = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
                byClosures(sandbox.origin, Self.jane, Self.password) { continuation.resume(returning: "\(type(of: $0))") }
            }
            #expect(heard == "OktaAuthStatusSuccess")
        }
    }

    @Test(
        "The documentation's classic sign-in example can enroll an authenticator app, sign in with the app's code, and change an expired password"
    )
    func app() async throws {
        let aging = "password_policy:\n  age:\n    maximum_days: 90\n"
        try await withClassicSandbox(.classic("sign_on_policy: two-factors", more: aging)) { sandbox async throws in
            var app: AuthenticatorApp?
            func signInOnce(_ password: String) async throws -> String? {
                sandbox.advance(by: 30)
                return try await signIn(at: sandbox.origin, name: Self.jane, password: password) { question in
                    if question.hasPrefix("Your password") { return "Another-Horse-8" }
                    if question.hasPrefix("Type ") {
                        let secret = question.split(separator: " ")[1]
                        app = try sandbox.authenticatorApp(scanning: "otpauth://totp/Sandbox:\(Self.jane)?secret=\(secret)&issuer=Sandbox")
                    }
                    return try #require(app?.code)
                }
            }
            #expect(try await signInOnce(Self.password) != nil && app != nil)
            #expect(try await signInOnce(Self.password) != nil)
            sandbox.advance(by: 90 * 86_400)
            #expect(try await signInOnce(Self.password) != nil)
            #expect(try await signInOnce("Another-Horse-8") != nil)
        }
    }

    @Test(
        "The documentation's classic sign-in example returns a session token if the user approves a push, and no token if the user denies the push"
    )
    func push() async throws {
        try await withClassicSandbox(.classic("sign_on_policy: two-factors")) { sandbox in
            let phone = try await sandbox.phone(for: Self.jane)
            for isApproved in [true, false] {
                let answering = Task {
                    if isApproved { try await phone.approveNext(within: .patience) } else { try await phone.denyNext(within: .patience) }
                }
                let token = try await signIn(at: sandbox.origin, name: Self.jane, password: Self.password, ask: Self.unexpected)
                _ = try await answering.value
                #expect((token != nil) == isApproved)
            }
        }
    }

    @Test("The documentation's recovery example resets a forgotten password with a code and a security question")
    func recovery() async throws {
        try await withClassicSandbox { sandbox in
            try await sandbox.addCodeFactor(.text, to: "+1 555 123 4821", for: Self.jane)
            try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: Self.jane)
            let token = try await recover(at: sandbox.origin, name: Self.jane) { question in
                switch question {
                case "The code:": try await sandbox.code(by: .text)
                case "The new password:": "Another-Horse-8"
                default: "Swimming cup"
                }
            }
            #expect(token != nil)
            let again = try await signIn(at: sandbox.origin, name: Self.jane, password: "Another-Horse-8", ask: Self.unexpected)
            #expect(again != nil)
        }
    }

    @Test(
        "The documentation's short classic example exchanges the session token for a credential, or shows the factors if a second factor is required"
    )
    func readMe() async throws {
        for isTwoFactors in [false, true] {
            let policy = "sign_on_policy: \(isTwoFactors ? "two-factors" : "one-factor")\nremember_devices: device"
            try await withClassicSandbox(.classic(policy)) { sandbox in
                _ = try await sandbox.authenticatorApp(for: Self.jane)
                var settings = sandbox.configuration(.init(clientID: "sso-app"))
                settings.redirectUri = URL(string: "http://127.0.0.1/callback")
                let client = OAuth2Client(settings, session: sandbox.transport, clock: sandbox.clock)
                try await Credential.withStorage(MemoryTokenStorage(), session: sandbox.transport, clock: sandbox.clock) {
                    var shown: [Any] = []
                    try await EndToEndTests.readMe(sandbox.origin, Self.password, client) { shown.append($0) }
                    #expect((Credential.default == nil) == isTwoFactors && shown.count == (isTwoFactors ? 1 : 0))
                    #expect((shown.first as? [OktaFactor])?.map(\.type) == (isTwoFactors ? [.TOTP] : nil))
                }
                guard isTwoFactors else { return }
                let start = OktaAuthStatusUnauthenticated(oktaDomain: sandbox.origin)
                let status = try await start.authenticate(username: Self.jane, password: Self.password)
                let required = try #require(status as? OktaAuthStatusFactorRequired)
                remember(start, required, OktaAPI.makeDeviceToken())
                #expect(required.rememberDevice == true && start.restApi.deviceToken?.count == 32)
            }
        }
    }
}
