import CountersignSandbox
import ExampleTestSupport
import Foundation
import OktaAuthSdk
import Testing

@testable import ClassicApp

@MainActor
@Suite("Factors in the classic app", .timeLimit(.minutes(5)))
struct FactorTests {
    private static let twoFactors = "sign_on_policy: two-factors\n"
    private static let mistyped = "The code or answer is wrong. Check it, then try again."

    @Test("The classic app can enroll each factor, required factors first, and then offers to skip the optional factors")
    func enrollment() async throws {
        let factors = "factors: { totp: required, question: required, sms: optional, call: optional, email: optional, push: not_allowed }"
        try await withSandbox(.classic(Self.twoFactors + factors)) { sandbox in
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            #expect(visit.model.headline == "Set up another way to sign in." && !visit.titles.contains("Skip"))
            try await visit.take("Set up: Google Authenticator (required)")
            let uri = try #require(visit.model.symbolText)
            let secret = try #require(visit.model.details.last?.split(separator: " ").last)
            #expect(uri.hasPrefix("otpauth://totp/") && uri.contains("secret=\(secret)"))
            let app = try sandbox.authenticatorApp(scanning: uri)
            try await visit.take("Enter the code", ["code": app.code.otherCode])
            #expect(visit.model.errorMessage == Self.mistyped && visit.model.openAction != nil)
            visit.model.values["code"] = app.code
            await visit.model.submit()

            try await visit.take("Set up: security question (required)")
            #expect(visit.model.fields.first?.choices.count == 20 && visit.model.fields.last?.isSecret == true)
            visit.model.values["answer"] = "Swimming cup"
            await visit.model.submit()

            try await visit.take("Set up: text message", ["number": ClassicVisit.number])
            let first = try await visit.code(by: .text)
            sandbox.advance(by: 31)
            try await visit.take("Resend")
            let second = try await visit.code(by: .text)
            if first != second {
                try await visit.take("Enter the code", ["code": first])
                #expect(visit.model.errorMessage == Self.mistyped)
            }
            try await visit.take("Enter the code", ["code": second])

            sandbox.advance(by: 31)
            #expect(visit.titles.contains("Skip"))
            try await visit.take("Set up: phone call", ["number": ""])
            try await visit.take("Enter the code", ["code": visit.code(by: .call)])
            try await visit.take("Set up: e-mail")
            try await visit.take("Enter the code", ["code": visit.code(by: .mail)])
            #expect(visit.model.stage == .done(hasTokens: false))
        }
    }

    @Test("The example organization of the README offers each factor to a user without factors")
    func exampleOrganization() async throws {
        let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let organization = try String(contentsOf: examples.appending(path: "two-factors.yaml"), encoding: .utf8)
        let clock = SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 1_750_000_000))
        try await withSandbox(Sandbox.Configuration(organization: organization, clock: clock)) { sandbox in
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            #expect(
                visit.titles == [
                    "Set up: Google Authenticator", "Set up: authenticator app", "Set up: push", "Set up: text message",
                    "Set up: phone call", "Set up: e-mail", "Cancel",
                ])
            try await visit.take("Set up: push")
            #expect(await eventually { visit.model.symbolText != nil })
            let phone = try await sandbox.phone(for: ClassicVisit.jane, scanning: try #require(visit.model.symbolText))
            #expect(await visit.reaches(.transaction(.MFAEnroll)) && visit.titles.contains("Set up: security question"))
            try await visit.take("Skip")
            #expect(visit.model.stage == .done(hasTokens: false))
            let again = ClassicVisit(sandbox)
            await again.signIn()
            try await again.take("push: ")
            let number = try #require(again.model.details.first { $0.hasPrefix("Pick the number ") }).filter(\.isNumber)
            try await phone.approveNext(number: number)
            #expect(await again.reaches(.done(hasTokens: false)))
        }
    }

    @Test("In the classic app, the enrollment of an optional factor can be skipped")
    func skipped() async throws {
        try await withSandbox(.classic("sign_on_policy: one-factor\nfactors: { totp: optional }\noffer_optional_factors: true")) {
            sandbox in
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            #expect(visit.model.stage == .transaction(.MFAEnroll))
            try await visit.take("Skip")
            #expect(visit.model.stage == .done(hasTokens: false))
        }
    }

    @Test(
        "In the classic app, the user can request a code by text, call or mail, have the code sent again, and correct a wrong code",
        arguments: [MessageChannel.text, .call, .mail])
    func sentCode(by channel: MessageChannel) async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            try await sandbox.addCodeFactor(
                channel, to: channel == .mail ? ClassicVisit.jane : ClassicVisit.number, for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            let name =
                [.text: "text message: +1 XXX-XXX-4821", .call: "phone call: +1 XXX-XXX-4821", .mail: "e-mail: j"][channel] ?? ""
            try await visit.take(name)
            _ = try await visit.code(by: channel)
            sandbox.advance(by: 31)
            try await visit.take("Resend")
            #expect(visit.model.details.last == "Sent again.")
            let code = try await visit.code(by: channel)
            try await visit.take("Enter the code", ["code": code.otherCode])
            #expect(visit.model.errorMessage == Self.mistyped)
            visit.model.closeForm()
            try await visit.take("Back")
            #expect(visit.model.stage == .transaction(.MFARequired) && !visit.model.details.contains("Sent again."))
            sandbox.advance(by: 31)
            try await visit.take(name)
            try await visit.take("Enter the code", ["code": visit.code(by: channel)])
            #expect(visit.model.stage == .done(hasTokens: false))
        }
    }

    @Test("The answer to a security question is hidden, and after a wrong answer the app asks again with an empty field")
    func question() async throws {
        try await withSandbox(.classic(Self.twoFactors)) { sandbox in
            try await sandbox.addSecurityQuestion("first_award", answer: "Swimming cup", for: ClassicVisit.jane)
            let visit = ClassicVisit(sandbox)
            await visit.signIn()
            try await visit.take("security question: ")
            try await visit.take("Answer your question", ["answer": "Chess cup"])
            #expect(visit.model.errorMessage == Self.mistyped && visit.model.fields.map(\.isSecret) == [true])
            #expect(visit.model.values["answer"] == nil && !visit.model.canSubmit)
            visit.model.values["answer"] = "Swimming cup"
            await visit.model.submit()
            #expect(visit.model.stage == .done(hasTokens: false))
        }
    }
}
