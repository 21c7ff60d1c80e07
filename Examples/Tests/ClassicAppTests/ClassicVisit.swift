import AuthFoundation
import CountersignSandbox
import ExampleTestSupport
import Foundation
import OktaAuthSdk
import Testing

@testable import ClassicApp

/// The app with a sandbox, and a user who presses its buttons.
@MainActor
struct ClassicVisit {
    nonisolated static let jane = SandboxUser.jane.login
    nonisolated static let password = SandboxUser.jane.password ?? ""
    static let number = "+1 555 123 4821"

    let sandbox: Sandbox
    let model: ClassicViewModel
    private let clock: AppClock

    init(
        _ sandbox: Sandbox, client: OAuth2Client? = nil, deviceToken: String? = nil, session: (any URLSessionProtocol)? = nil
    ) {
        self.init(
            sandbox,
            ClassicService(organization: sandbox.origin, client: client, deviceToken: deviceToken, session: session))
    }

    init(_ sandbox: Sandbox, _ service: any ClassicServicing) {
        self.sandbox = sandbox
        clock = AppClock(sandbox.clock)
        model = ClassicViewModel(service: service, clock: clock)
    }

    func signIn(_ password: String = password) async {
        model.username = Self.jane
        model.password = password
        await model.signIn()
    }

    /// Presses the button whose title begins with a text, and submits the form of its action.
    func take(_ title: String, _ values: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let action = try #require(
            model.actions.first { $0.title.hasPrefix(title) }, "“\(title)” is none of \(model.actions.map(\.title))",
            sourceLocation: sourceLocation)
        await model.select(action)
        guard !values.isEmpty else { return }
        #expect(Set(model.fields.map(\.id)) == Set(values.keys), sourceLocation: sourceLocation)
        for (field, text) in values { model.values[field] = text }
        await model.submit()
    }

    var titles: [String] { model.actions.map(\.title) }

    /// Lets the app poll until the answer to a push arrives.
    func reaches(_ stage: ClassicViewModel.Stage) async -> Bool {
        await asks { model.stage == stage && !model.isLoading }
    }

    /// Lets the app poll for the answer to a push until a condition is true.
    ///
    /// - Parameter seconds: The advance of the clock per poll.
    /// - Returns: Whether the condition became true.
    func asks(after seconds: Double = 5, until condition: () -> Bool) async -> Bool {
        for _ in 0..<40 {
            let clock = clock
            guard await eventually({ if condition() { true } else { await clock.isWaitedOn } }) else { return false }
            if condition() { return true }
            let begun = await clock.waitsBegun
            sandbox.advance(by: seconds)
            // The app polls and waits again, or gets the result.
            guard await eventually({ if condition() { true } else { await clock.waitsBegun > begun } }) else { return false }
        }
        return condition()
    }

    func code(by channel: MessageChannel) async throws -> String { try #require(try await sandbox.outbox.next(by: channel).code) }
}

extension Sandbox.Configuration {
    /// Returns the configuration of a sandbox with the given settings of the classic API.
    static func classic(
        _ settings: String, more: String = "", numbers: Bool = false, device: String? = nil, isStanding: Bool = true
    ) throws -> Sandbox.Configuration {
        // The app cannot enroll a passkey, so it would be offered again after every enrollment.
        let standard = Sandbox.standardOrganization.replacing("passkeys:\n  user_verification: preferred\n  offer: never\n", with: "")
        let start = try #require(standard.range(of: "authn_api:\n"))
        let end = try #require(standard.range(of: "\n\n", range: start.upperBound..<standard.endIndex))
        let section = settings.split(separator: "\n").map { "  \($0)\n" }.joined()
        var organization = "\(standard[..<start.lowerBound])\(more)authn_api:\n\(section)\(standard[end.lowerBound...])"
        if numbers { organization = organization.replacing("number_challenge: never", with: "number_challenge: always") }
        if let device {
            let password = "    password: \(ClassicVisit.password)\n"
            organization = organization.replacing(password, with: password + "    hotp: \(device)\n")
        }
        // The terminal app is a separate process with the system's clock.
        let clock = isStanding ? SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 1_750_000_000)) : SandboxClock()
        return Sandbox.Configuration(organization: organization, clock: clock)
    }
}

extension String {
    /// A code of six digits that differs from this code.
    var otherCode: String { self == "000000" ? "111111" : "000000" }
}
