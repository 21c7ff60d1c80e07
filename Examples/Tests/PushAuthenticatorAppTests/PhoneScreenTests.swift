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
    private static let first = ApprovalRequest.sample(message: "first")
    private static let second = ApprovalRequest.sample(message: "second")
    private static let third = ApprovalRequest.sample(message: "third", numbers: ["17", "42", "93"])

    /// Returns the view model and the screen of a device with requests.
    private func sit(_ requests: [ApprovalRequest]) async -> (AuthenticatorViewModel, Stage) {
        let model = AuthenticatorViewModel(service: InMemoryAuthenticatorService([.sample()], requests: requests))
        await model.didBecomeActive()
        let face = PhoneScreen(model: model)
        return (model, Stage(size: .standard, wording: words, changed: {}, makeScreen: { face.screen }))
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
        let (model, stage) = await sit([Self.first, Self.second, Self.third])
        #expect(focus(stage) == "[ Deny n ]")
        press(stage, .tab, .tab)
        #expect(focus(stage) == "[ Approve ]")
        for (answered, shown) in [(Self.first, Self.second), (Self.second, Self.third)] {
            await model.answer(answered.id, .deny())
            stage.update(tick: nil)
            #expect(focus(stage) == "[ Deny n ]" && model.shownRequest == shown)
            press(stage, .tab)
            #expect(focus(stage) == "[ It Wasn't Me s ]")
        }
        press(stage, .tab, .tab)
        #expect(focus(stage) == "[ 42 ]")
    }

    @Test("In the push authenticator app, the key y does not approve a request, but Return on the focused Approve button does")
    func approvedByNoLetter() async throws {
        let (model, stage) = await sit([Self.first, Self.second])
        func acts(_ key: Key) -> Bool {
            if case .act = stage.press(key, tick: nil) { true } else { false }
        }
        #expect(!acts(.character("y")) && stage.frame.canvas.text.contains("[ Approve ]"))
        press(stage, .tab, .tab)
        #expect(acts(.enter))
        try #require(await eventually { model.requests == [Self.second] && model.answering == nil })
        stage.update(tick: nil)
        #expect(model.notice == "Approved." && model.shownRequest == Self.second && focus(stage) == "[ Deny n ]")
        #expect(!acts(.character("y")))
        #expect(acts(.enter))
        #expect(await eventually { model.notice == "Denied." })
    }

    @Test("A request that arrives while an account's settings are open is shown on the settings screen, and a key can answer the request")
    func inSettings() async throws {
        let (model, stage) = await sit([Self.first, Self.second])
        model.openAccount = Account.sample().id
        stage.update(tick: nil)
        let text = stage.frame.canvas.text
        #expect(text.contains("Example App asks for your approval") && text.contains("One more is waiting."))
        #expect(text.contains("Verify me before approving"))
        press(stage, .character("s"))
        #expect(await eventually { model.notice == "Denied, and reported as suspicious." })
    }

    @Test("While a form is open, typed letters do not answer a request, and the request is shown after the form is closed")
    func inForm() async throws {
        let (model, stage) = await sit([Self.first])
        model.begin(.enroll)
        stage.update(tick: nil)
        press(stage, .character("y"), .character("n"), .character("s"))
        #expect(model.form.username == "yns" && model.requests == [Self.first] && model.answering == nil)
        #expect(stage.frame.canvas.text.contains("A request is waiting. Cancel to answer it."))
        press(stage, .escape)
        #expect(model.front == .home && focus(stage) == "[ Deny n ]")
    }

    @Test("A held Return key does not remove an account, because the confirmation opens with the focus on Keep")
    func heldReturn() async throws {
        let (model, stage) = await sit([])
        model.openAccount = Account.sample().id
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

    @Test("Each time a form of the push authenticator app opens, the first field has the focus")
    func focusOfForms() async throws {
        let (model, stage) = await sit([])
        for name in ["a", "b"] {
            model.begin(.enroll)
            stage.update(tick: nil)
            press(stage, .character(Character(name)), .tab, .character("x"))
            #expect(model.form.username == name && model.form.password == "x")
            press(stage, .escape)
        }
    }
}
