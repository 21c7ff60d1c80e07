import Foundation
import Testing
import Wording

@testable import TerminalKit

@Suite("Keys on a terminal screen")
@MainActor
struct InteractionTests {
    @Test("Typed text is inserted into the focused field at the cursor")
    func typing() {
        let model = SampleModel()
        let stage = stage(model)
        stage.type("Jae")
        stage.press(.left)
        stage.type("n")
        stage.press(.end)
        stage.type("t")
        stage.press(.backspace)
        #expect(model.name == "Jane")
        stage.press(.home, .delete)
        stage.type("L")
        #expect(model.name == "Lane")
        stage.press(.control("u"))
        #expect(model.name == "ane", "What is before the cursor goes.")
    }

    @Test("A letter key presses the button with that shortcut only if no text field has the focus")
    func shortcuts() {
        let model = SampleModel()
        let stage = stage(model)
        stage.type("g")
        #expect(model.name == "g" && model.log.isEmpty)
        stage.press(.tab, .tab)
        stage.type("gS")
        #expect(model.log == ["go", "stop"])
    }

    @Test("A disabled button gets no focus, and neither its letter key nor Return presses the button")
    func disabled() {
        let model = SampleModel()
        let stage = stage(model)
        #expect(stage.lines.contains { $0.contains("( Go g )") && $0.contains("[ Stop s ]") })
        stage.press(.tab, .tab)
        stage.type("g")
        #expect(model.log.isEmpty)
        stage.press(.tab, .enter)
        #expect(model.log == ["stop"])
    }

    @Test("A focused button that becomes disabled keeps the focus and cannot be pressed")
    func busy() {
        let model = SampleModel()
        model.name = "Jane"
        let stage = stage(model)
        stage.press(.tab, .tab, .tab)
        #expect(stage.lines.contains { $0.contains(">[ Go g ]") })
        model.isBusy = true
        stage.update(tick: nil)
        #expect(stage.lines.contains { $0.contains(">( Go g )") })
        stage.press(.enter)
        #expect(model.log.isEmpty)
        stage.press(.tab)
        #expect(stage.lines.contains { $0.contains(">[ Stop s ]") })
    }

    @Test("A button that a letter key pressed keeps the focus while it is disabled, and Return does nothing until the focus moves")
    func busyByLetter() {
        var (isBusy, isAsked, log) = (false, false, [String]())
        let stage = Stage(size: .standard, wording: Wording(bundle: .main, language: "en"), changed: {}) {
            Screen("Home") {
                if isAsked { Element.buttons { Button("Deny", key: "n") { log.append("deny") } } }
                Element.buttons {
                    Button("Refresh", key: "r", isEnabled: !isBusy) { isBusy = true }
                    Button("Sign Out", key: "o") { log.append("out") }
                }
            }
        }
        #expect(stage.lines.contains { $0.contains(">[ Refresh r ]") })
        stage.type("r")
        #expect(stage.lines.contains { $0.contains(">( Refresh r )") })
        stage.press(.enter)
        #expect(log.isEmpty)
        // The new request is above the other elements and has the focus. Its first button is harmless.
        isAsked = true
        stage.update(tick: nil)
        stage.press(.enter)
        #expect(log == ["deny"])
        stage.press(.tab, .enter)
        #expect(log == ["deny", "out"])
    }

    @Test("Tab moves the focus from the last element to the first, and Shift-Tab moves the focus from the first element to the last")
    func focus() {
        let model = SampleModel()
        let stage = stage(model)
        stage.press(.backTab)
        #expect(stage.lines.contains { $0.contains("> One") })
        stage.press(.tab)
        #expect(stage.lines.contains { $0.contains("Name   >[") })
    }

    @Test("Each of two fields or two buttons with the same title can get the focus and the keys that the user presses")
    func alike() {
        var log: [String] = []
        var texts = ["", ""]
        let stage = Stage(size: .standard, wording: .init(bundle: .main, language: "en"), changed: {}) {
            Screen("Phones") {
                Element.field("Name", text: texts[0], set: { texts[0] = $0 })
                Element.field("Name", text: texts[1], set: { texts[1] = $0 })
                Element.buttons { Button("iPhone") { log.append("first") } }
                Element.buttons { Button("iPhone") { log.append("second") } }
                Element.buttons { Button("Cancel") { log.append("cancel") } }
            }
        }
        func focused() -> [Int] { stage.lines.indices.filter { stage.lines[$0].contains(">[") } }
        #expect(focused() == [2])
        stage.type("a")
        stage.press(.tab)
        #expect(focused() == [3])
        stage.type("b")
        #expect(texts == ["a", "b"])
        for (key, place, pressed) in [(Key.tab, 4, "first"), (.tab, 5, "second"), (.tab, 6, "cancel"), (.backTab, 5, "second")] {
            stage.press(key, .enter)
            #expect(focused() == [place] && log.last == pressed)
        }
        stage.press(.tab, .tab)
        #expect(focused() == [2], "Tab goes round past them.")
    }

    @Test("Each of several buttons with the same title in an alert can be pressed")
    func alikeInAlert() {
        var log: [Int] = []
        let stage = Stage(size: .standard, wording: .init(bundle: .main, language: "en"), changed: {}) {
            Screen("Sample", alert: .init("Alert", message: "Which?") { for number in 1...3 { Button("One") { log.append(number) } } }) {}
        }
        stage.press(.enter, .tab, .enter, .tab, .enter, .tab, .enter)
        #expect(log == [1, 2, 3, 1])
    }

    @Test("After the text of a field is removed, the old cursor position does not apply to the next text")
    func cursorOfFormerText() {
        let model = SampleModel()
        let stage = stage(model)
        stage.type("Jane")
        stage.press(.home)
        model.name = ""
        stage.update(tick: nil)
        stage.type("John")
        #expect(model.name == "John")
    }

    @Test("Return in a field moves the focus to the next field, and in the last field submits the form")
    func submit() {
        let model = SampleModel()
        let stage = stage(model)
        stage.press(.enter)
        stage.type("pass")
        stage.press(.enter)
        #expect(model.secret == "pass" && model.log == ["submit"])
        #expect(!stage.frame.canvas.text.contains("pass"), "It is shown as dots.")
        #expect(stage.frame.canvas.text.contains("••••_"))
    }

    @Test("The arrow keys select a row of a list, and Return opens the selected row")
    func list() {
        let model = SampleModel()
        let stage = stage(model)
        stage.press(.backTab, .down, .enter)
        #expect(model.log == ["row 1"])
        #expect(stage.lines.contains { $0.contains("> Two") })
    }

    @Test("The space bar toggles a switch")
    func toggle() {
        let model = SampleModel()
        let stage = stage(model)
        stage.press(.tab, .tab, .character(" "))
        #expect(model.isOn)
        #expect(stage.frame.canvas.text.contains(">[x] Switch"))
    }

    @Test("While an alert is open, keys reach only the alert's buttons, and Esc presses the last button")
    func alert() {
        let model = SampleModel()
        let stage = stage(model)
        stage.press(.tab)
        model.alert = "Really?"
        stage.update(tick: nil)
        stage.type("x")
        stage.press(.enter)
        #expect(model.log == ["yes"] && model.secret.isEmpty)
        stage.press(.escape)
        #expect(model.alert == nil)
        stage.type("x")
        #expect(model.secret == "x", "The focus is where it was.")
    }

    @Test("An alert whose first button is destructive always opens with the focus on its last button")
    func destructiveAlert() {
        var (isAsked, log) = (false, [String]())
        let stage = Stage(size: .standard, wording: .init(bundle: .main, language: "en"), changed: {}) {
            let alert = Screen.Alert("Delete", message: "Really?") {
                Button("Delete", role: .destructive) {
                    isAsked = false
                    log.append("deleted")
                }
                Button("Keep") {
                    isAsked = false
                    log.append("kept")
                }
            }
            return Screen("Home", alert: isAsked ? alert : nil) { Element.buttons { Button("Ask") { isAsked = true } } }
        }
        stage.press(.enter)
        #expect(stage.lines.contains { $0.contains("[ Delete ]") && $0.contains(">[ Keep ]") })
        stage.press(.enter)
        #expect(log == ["kept"])
        stage.press(.enter, .tab, .enter)
        #expect(log == ["kept", "deleted"])
        stage.press(.enter, .enter)
        #expect(log == ["kept", "deleted", "kept"], "Where the focus was in a former alert counts no more.")
    }

    @Test("Esc runs the screen's back action, and Ctrl-C quits the app")
    func ending() {
        let model = SampleModel()
        let stage = stage(model)
        stage.press(.escape)
        #expect(model.log == ["back"])
        guard case .quit = stage.press(.control("c"), tick: nil) else {
            Issue.record("Ctrl-C does not quit.")
            return
        }
    }

    @Test("The keys Down, Page Down and End scroll a long text to its end")
    func scrolling() {
        let text = (1...30).map { "line \($0)" }.joined(separator: "\n")
        var pressed = 0
        let stage = Stage(size: .standard, wording: .init(bundle: .main, language: "en"), changed: {}) {
            Screen("Text") {
                Element.scroll("text", title: "Lines", text: text, height: 5)
                Element.buttons { Button("Close") { pressed += 1 } }
            }
        }
        #expect(stage.frame.canvas.text.contains("line 5 ") && !stage.frame.canvas.text.contains("line 6 "))
        #expect(stage.frame.canvas.text.contains("1-5/30"))
        stage.press(.backTab, .down, .pageDown)
        #expect(stage.frame.canvas.text.contains("12-16/30"))
        stage.press(.end, .down, .enter)
        #expect(stage.frame.canvas.text.contains("26-30/30"))
        #expect(pressed == 1, "Down at the end moves the focus to the button.")
    }
}
