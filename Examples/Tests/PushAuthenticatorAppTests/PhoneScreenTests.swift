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
        _ messages: String..., hasSignIn: Bool = false, _ body: @MainActor (PhoneVisit, Stage) async throws -> Void
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
            try await body(visit, Stage(size: .standard, wording: words, changed: {}, makeScreen: { face.screen }))
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

    /// Waits until the user has had the time to read the current request, and draws the screen.
    private func read(_ visit: PhoneVisit, _ stage: Stage) async throws {
        try await visit.read(try #require(visit.model.requestModel.current).id)
        stage.update(tick: nil)
    }

    @Test("The push authenticator app lists several requests with the account and the organization, and shows one with the focus on Deny")
    func focusOfEach() async throws {
        try await sit("first", "second", hasSignIn: true) { visit, stage in
            let requests = visit.model.requestModel
            let account = "\(PhoneVisit.jane.login) · \(visit.sandbox.origin.host() ?? "")"
            #expect(stage.frame.canvas.text.contains("3 pending requests") && !stage.frame.canvas.text.contains("Approve"))
            #expect(stage.frame.canvas.text.components(separatedBy: account).count == 4)
            for message in ["first", "second", nil] {
                #expect(requests.current == nil && focus(stage).hasPrefix(message == nil ? " Are you trying" : " Bank asks"))
                press(stage, .enter)
                #expect(focus(stage) == "[ Deny n ]" && requests.current?.message == message && requests.current != nil)
                press(stage, .tab)
                #expect(focus(stage) == "[ It wasn't me s ]")
                guard message != nil else { break }
                await requests.deny(try #require(requests.current).id)
                stage.update(tick: nil)
                #expect(stage.frame.canvas.text.contains("Previous request: Denied"))
            }
            let number = try #require(requests.current?.numbers)[1]
            #expect(stage.frame.canvas.text.contains("( \(number) )"))
            try await read(visit, stage)
            press(stage, .tab, .tab)
            #expect(focus(stage) == "[ \(number) ]")
        }
    }

    @Test("In the push authenticator app, the user can go back from a request to the list of all requests and open another one")
    func anotherOne() async throws {
        try await sit("first", "second") { visit, stage in
            press(stage, .enter, .tab, .tab)
            #expect(visit.model.requestModel.current?.message == "first" && focus(stage) == "[ Show all requests ]")
            press(stage, .enter)
            #expect(visit.model.requestModel.current == nil)
            press(stage, .down, .enter)
            #expect(visit.model.requestModel.current?.message == "second" && focus(stage) == "[ Deny n ]")
        }
    }

    @Test("In the push authenticator app, the key y does not approve a request, but Return on the focused Approve button does")
    func approvedByNoLetter() async throws {
        try await sit("first", "second") { visit, stage in
            let (model, requests) = (visit.model, visit.model.requestModel)
            @MainActor func acts(_ key: Key) -> Bool {
                if case .act = stage.press(key, tick: nil) { true } else { false }
            }
            #expect(!acts(.character("n")) && acts(.enter))
            #expect(!acts(.character("y")) && stage.frame.canvas.text.contains("( Approve )"))
            try await read(visit, stage)
            press(stage, .tab, .tab)
            #expect(focus(stage) == "[ Approve ]" && !acts(.character("y")))
            #expect(acts(.enter))
            try #require(await eventually { requests.requests.count == 1 && requests.answering == nil })
            stage.update(tick: nil)
            #expect(stage.frame.canvas.text.contains("Previous request: Approved") && requests.current == nil)
            #expect(!acts(.character("y")) && acts(.enter))
            #expect(requests.current?.message == "second" && focus(stage) == "[ Deny n ]")
            #expect(!acts(.character("y")))
            #expect(acts(.enter))
            #expect(await eventually { model.notice == "Denied" })
        }
    }

    @Test("A request that cannot be verified has a button that checks it again in place of Approve")
    func unverified() async throws {
        try await sit { visit, stage in
            // Stored keys are valid for a day.
            visit.sandbox.advance(by: 25 * 3_600)
            visit.sandbox.inject(Fault(.status(503), at: .keys, count: 1_000))
            #expect(try await visit.askAsBank("first") != nil)
            let requests = visit.model.requestModel
            let hasArrived = await eventually {
                await visit.model.didBecomeActive()
                return requests.current != nil
            }
            try #require(hasArrived)
            visit.letTimePass()
            stage.update(tick: nil)
            #expect(stage.frame.canvas.text.contains("sender can't be checked") && !stage.frame.canvas.text.contains("Approve ]"))
            visit.sandbox.clearFaults()
            press(stage, .tab, .tab)
            #expect(focus(stage) == "[ Check for requests ]")
            press(stage, .enter)
            #expect(await eventually { requests.current?.isVerified == true })
            stage.update(tick: nil)
            #expect(stage.frame.canvas.text.contains(requests.canApprove ? "[ Approve ]" : "( Approve )"))
        }
    }

    @Test("A request that arrives while an account's settings are open is shown on the settings screen, and a key can answer the request")
    func inSettings() async throws {
        try await sit("first", "second") { visit, stage in
            let model = visit.model
            model.openAccount = model.accounts.first?.id
            stage.update(tick: nil)
            let text = stage.frame.canvas.text
            #expect(text.contains("Bank asks for your approval") && text.contains("2 pending requests"))
            #expect(text.contains("Verify me before approving"))
            press(stage, .enter, .character("s"))
            #expect(await eventually { model.requestModel.outcome == .reported })
            stage.update(tick: nil)
            #expect(stage.frame.canvas.text.contains("Previous request: Denied and reported as suspicious"))
        }
    }

    @Test("While a form is open, typed letters do not answer a request, and the request is shown after the form is closed")
    func inForm() async throws {
        try await sit("first") { visit, stage in
            let model = visit.model
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
        try await sit { visit, stage in
            let model = visit.model
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
        try await sit { visit, stage in
            let model = visit.model
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
