import CountersignSandbox
import CountersignUI
import ExampleTestSupport
import Foundation
import Testing
import Wording

@testable import PushAuthenticatorApp
@testable import PushAuthenticatorTerminal
@testable import TerminalKit

@MainActor
@Suite("Screens of the push authenticator app")
struct PhoneScreenTests {
    /// Runs a test with Jane's phone and its screen.
    ///
    /// - Parameters:
    ///   - messages: The messages of a bank's pending requests, which have no number challenge.
    ///   - hasSignIn: Whether a sign-in with a number challenge is pending too.
    private func sit(
        _ messages: String..., hasSignIn: Bool = false, _ body: @MainActor (AuthenticatorViewModel, Stage) async throws -> Void
    ) async throws {
        try await withSandbox(.withBackchannelAndNumbers) { sandbox in
            let visit = try PhoneVisit(sandbox)
            try await visit.enroll()
            let model = visit.model
            await model.setCIBA(true, of: try #require(model.accounts.first?.id))
            for message in messages {
                #expect(try await visit.askAsBank(message) != nil)
                // The requests have different times.
                sandbox.advance(by: 2)
            }
            let signIn = hasSignIn ? try await visit.signInElsewhere() : nil
            let count = messages.count + (hasSignIn ? 1 : 0)
            let isComplete = await eventually {
                await model.didBecomeActive()
                return model.requestModel.requests.count == count
            }
            try #require(isComplete)
            let face = PhoneScreen(model: model)
            try await body(model, Stage(size: .standard, wording: words, changed: {}, makeScreen: { face.screen }))
            signIn?.cancel()
        }
    }

    private func focus(_ stage: Stage) -> String {
        let lines = stage.frame.canvas.text.split(separator: "\n")
        return lines.compactMap { $0.firstMatch(of: />(\[.*?\]|\(.*?\)|[^\[(].*)/)?.1 }.first.map(String.init) ?? ""
    }

    private func press(_ stage: Stage, _ keys: Key...) {
        for key in keys { _ = stage.press(key, tick: nil) }
    }

    @Test("The push authenticator app shows each new request with the focus on Deny")
    func focusOfEach() async throws {
        try await sit("first", "second", hasSignIn: true) { model, stage in
            #expect(focus(stage) == "[ Deny n ]")
            press(stage, .tab, .tab)
            #expect(focus(stage) == "[ Approve ]")
            for message in ["second", nil] {
                await model.requestModel.deny(try #require(model.requestModel.current).id)
                stage.update(tick: nil)
                #expect(focus(stage) == "[ Deny n ]" && model.requestModel.current?.message == message)
                press(stage, .tab)
                #expect(focus(stage) == "[ It wasn't me s ]")
            }
            press(stage, .tab, .tab)
            #expect(try focus(stage) == "[ \(#require(model.requestModel.current?.numbers)[1]) ]")
        }
    }

    @Test("In the push authenticator app, the key y does not approve a request, but Return on the focused Approve button does")
    func approvedByNoLetter() async throws {
        try await sit("first", "second") { model, stage in
            @MainActor func acts(_ key: Key) -> Bool {
                if case .act = stage.press(key, tick: nil) { true } else { false }
            }
            #expect(!acts(.character("y")) && stage.frame.canvas.text.contains("[ Approve ]"))
            press(stage, .tab, .tab)
            #expect(acts(.enter))
            try #require(await eventually { model.requestModel.requests.count == 1 && model.requestModel.answering == nil })
            stage.update(tick: nil)
            #expect(model.notice == "Approved" && model.requestModel.current?.message == "second" && focus(stage) == "[ Deny n ]")
            #expect(!acts(.character("y")))
            #expect(acts(.enter))
            #expect(await eventually { model.notice == "Denied" })
        }
    }

    @Test("A request that arrives while an account's settings are open is shown on the settings screen, and a key can answer the request")
    func inSettings() async throws {
        try await sit("first", "second") { model, stage in
            model.openAccount = model.accounts.first?.id
            stage.update(tick: nil)
            let text = stage.frame.canvas.text
            #expect(text.contains("Bank asks for your approval") && text.contains("One more is waiting."))
            #expect(text.contains("Verify me before approving"))
            press(stage, .character("s"))
            #expect(await eventually { model.notice == "Denied and reported as suspicious" })
        }
    }

    @Test("While a form is open, typed letters do not answer a request, and the request is shown after the form is closed")
    func inForm() async throws {
        try await sit("first") { model, stage in
            model.begin(.enroll)
            stage.update(tick: nil)
            press(stage, .character("y"), .character("n"), .character("s"))
            #expect(model.form.userName == "yns" && model.requestModel.requests.count == 1 && model.requestModel.answering == nil)
            #expect(stage.frame.canvas.text.contains("A request is waiting. Cancel to answer it."))
            press(stage, .escape)
            #expect(model.front == .home && focus(stage) == "[ Deny n ]")
        }
    }

    @Test("A held Return key does not remove an account, because the confirmation opens with the focus on Keep")
    func heldReturn() async throws {
        try await sit { model, stage in
            model.openAccount = model.accounts.first?.id
            stage.update(tick: nil)
            for _ in 0..<2 {
                press(stage, .character("d"))
                #expect(focus(stage) == "[ Keep ]" && model.removing != nil)
                press(stage, .tab)
                #expect(focus(stage) == "[ Remove ]")
                press(stage, .escape)
                #expect(model.removing == nil)
            }
            press(stage, .character("d"), .enter)
            #expect(model.removing == nil && !model.accounts.isEmpty)
        }
    }

    @Test("Each time a form of the push authenticator app opens, the first field has the focus")
    func focusOfForms() async throws {
        try await sit { model, stage in
            for name in ["a", "b"] {
                model.begin(.enroll)
                stage.update(tick: nil)
                press(stage, .character(Character(name)), .tab, .character("x"))
                #expect(model.form.userName == name && model.form.password == "x")
                press(stage, .escape)
            }
        }
    }
}
