import Foundation
import Testing
import Wording

@testable import TerminalKit

@Suite("Scripts of the terminal apps")
@MainActor
struct ScriptTests {
    @Test("Each line of a script is a step, except empty lines and comments")
    func lines() throws {
        let script = try Script(
            "# a comment\n\ntype a b\nkey tab Enter x\npress Sign In\nexpect Signed in\ngone Busy\nwithin 3\nshow\nfield Name")
        #expect(
            script.steps.map(\.step) == [
                .type("a b"), .keys([.tab, .enter, .character("x")]), .press("Sign In"), .expect("Signed in"), .gone("Busy"), .within(3),
                .show,
                .field("Name"),
            ])
        #expect(script.steps.map(\.line) == [3, 4, 5, 6, 7, 8, 9, 10])
    }

    @Test(
        "The error for an invalid line of a script contains the line and its number",
        arguments: ["tipe x", "key nokey", "expect", "within soon", "within 0", "show it"])
    func problems(line: String) throws {
        let problem = try #require(throws: Script.Problem.self) { try Script("show\n\(line)") }
        #expect(problem.line == 2 && problem.text == line)
    }

    @Test("A script can type, press and wait, and prints the screen with the expected text")
    func play() async throws {
        let model = SampleModel()
        var printed: [String] = []
        let player = ScriptPlayer(size: .standard, wording: Wording(bundle: .main, language: "en"), print: { printed.append($0) }) {
            model.screen
        }
        let script = try Script("field Name\ntype Jane\npress Go\nexpect Hello\ngone Hello\npress Two")
        let later = Task {
            while !model.log.contains("go") { await Task.yield() }
            model.text = "Hello"
            while printed.isEmpty { await Task.yield() }
            model.text = ""
        }
        #expect(await player.play(script))
        await later.value
        #expect(model.name == "Jane" && model.log == ["go", "row 1"])
        #expect(printed.count == 2 && printed[0] == "--- Sample" && printed[1].contains("⚠ Hello"))
    }

    @Test(
        "If a step of a script does not succeed in time, the script fails and prints the screen and the line number",
        arguments: ["expect Never", "press Go", "gone Sample"])
    func unmet(step: String) async throws {
        let model = SampleModel()
        var printed: [String] = []
        let player = ScriptPlayer(size: .standard, wording: Wording(bundle: .main, language: "en"), print: { printed.append($0) }) {
            model.screen
        }
        #expect(await player.play(try Script("within 1\n\(step)\npress Stop")) == false)
        #expect(printed.count == 3 && printed[1].contains("( Go g )") && printed[2].hasPrefix("--- line 2:"))
        #expect(model.log.isEmpty)
    }

    @Test("A script prints no control character from the title or the content of a screen")
    func attackersText() async throws {
        var printed: [String] = []
        let player = ScriptPlayer(size: .standard, wording: Wording(bundle: .main, language: "en"), print: { printed.append($0) }) {
            Screen("Hello \u{1B}]0;title\u{7}\n--- Forged\u{202E}") { Element.text("\u{1B}[2Jtext\u{9B}") }
        }
        #expect(await player.play(try Script("show")))
        #expect(printed.first == "--- Hello \u{FFFD}]0;title\u{FFFD} --- Forged\u{FFFD}")
        #expect(printed.count == 2 && printed[1].contains("\u{FFFD}[2Jtext\u{FFFD}"))
        #expect(printed.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\u{9B}") && !$0.contains("\u{202E}") })
    }

    @Test("The key Ctrl-C ends a script successfully, and later steps are not run")
    func quit() async throws {
        let model = SampleModel()
        let player = ScriptPlayer(size: .standard, wording: Wording(bundle: .main, language: "en"), print: { _ in }) { model.screen }
        #expect(await player.play(try Script("press Stop\nkey ctrl-c s\npress Stop\nexpect Never")))
        #expect(model.log == ["stop"])
    }
}
