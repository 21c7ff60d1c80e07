import Foundation
import Testing
import Wording

@testable import TerminalKit

@Suite("Drawing on the terminal")
@MainActor
struct DrawingTests {
    @Test("TerminalKit draws no control character and no direction override of a text")
    func attackersText() {
        let stage = Stage(size: .standard, wording: .init(bundle: .main, language: "en"), changed: {}) {
            Screen("\u{1B}]0;title\u{7}", alert: nil) {
                Element.text("a\u{1B}[2Jb\u{9B}31mc\u{202E}d\u{7F}")
                Element.field("Name", text: "x\u{8}\ny", set: { _ in })
                Element.scroll("text", text: "\r\u{1B}[H")
                Element.list("list", rows: [.init("\u{1B}c", detail: "\u{0}")]) { _ in }
            }
        }
        var painter = Painter(showsColours: true)
        let sent = painter.paint(stage.frame.canvas, cursor: nil)
        for steering in ["\u{1B}]", "\u{1B}[2Jb", "\u{9B}", "\u{202E}", "\u{7F}", "\u{8}", "\u{1B}c", "\r", "\n", "\u{0}"] {
            #expect(!sent.contains(steering))
        }
        #expect(stage.frame.canvas.text.contains("a\u{FFFD}[2Jb\u{FFFD}31mc\u{FFFD}d\u{FFFD}"))
    }

    @Test("TerminalKit sends only changed cells to the terminal")
    func changes() {
        var canvas = Canvas(size: .standard)
        canvas.draw("Name [Jan]", column: 2, row: 3)
        var painter = Painter(showsColours: true)
        #expect(painter.paint(canvas, cursor: nil).count > 80 * 24)
        #expect(painter.paint(canvas, cursor: nil) == "\u{1B}[?25l")
        canvas.draw("Jane]", column: 8, row: 3)
        #expect(painter.paint(canvas, cursor: (12, 3)) == "\u{1B}[?25l\u{1B}[4;12He]\u{1B}[4;13H\u{1B}[?25h")
    }

    @Test("TerminalKit replaces both cells of a wide character")
    func wide() {
        var canvas = Canvas(size: .standard)
        canvas.draw("🎉x", column: 0, row: 0)
        #expect(canvas[0, 0].character == "🎉" && canvas[1, 0].character == nil && canvas[2, 0].character == "x")
        var painter = Painter(showsColours: false)
        _ = painter.paint(canvas, cursor: nil)
        canvas.draw("ab", column: 0, row: 0)
        #expect(painter.paint(canvas, cursor: nil) == "\u{1B}[?25l\u{1B}[1;1Hab")
    }

    @Test("Without colors, TerminalKit still draws bold text as bold")
    func noColour() {
        var canvas = Canvas(size: .standard)
        canvas.draw("error", column: 0, row: 0, Attributes(isBold: true, colour: .red))
        var (plain, coloured) = (Painter(showsColours: false), Painter(showsColours: true))
        #expect(plain.paint(canvas, cursor: nil).contains("\u{1B}[0;1merror"))
        #expect(coloured.paint(canvas, cursor: nil).contains("\u{1B}[0;1;31merror"))
    }

    @Test(
        "TerminalKit breaks texts at spaces, and breaks words that are longer than a line",
        arguments: [
            ("one two three", 7, ["one two", "three"]), ("abcdefgh", 3, ["abc", "def", "gh"]), ("", 5, [""]),
            ("a bcdefg", 3, ["a", "bcd", "efg"]),
            ("日本語", 4, ["日本", "語"]),
        ])
    func wrapping(text: String, columns: Int, lines: [String]) {
        #expect(TextWidth.wrap(text, columns: columns) == lines)
    }

    @Test("A screen that is longer than the terminal scrolls to the focused element")
    func longScreen() {
        let stage = Stage(size: TerminalSize(columns: 40, rows: 10), wording: .init(bundle: .main, language: "en"), changed: {}) {
            Screen("Long") {
                for number in 1...20 { Element.text("text \(number)") }
                Element.buttons { Button("Down here") {} }
            }
        }
        #expect(stage.frame.canvas.text.contains("[ Down here ]"))
        #expect(stage.lines.count == 10)
        #expect(stage.lines[1].hasSuffix("↑ more"))
    }

    @Test("TerminalKit draws a QR code completely, or shows a text if the terminal is too small", arguments: [(22, false), (23, true)])
    func picture(lines: Int, isTooTall: Bool) {
        let picture = (1...lines).map { String(repeating: "▀▄", count: 10) + " \($0)" }
        let stage = Stage(size: .standard, wording: .init(bundle: .main, language: "en"), changed: {}) {
            Screen("Code", isDense: true) { Element.lines(picture, orElse: "Too small.") }
        }
        #expect(stage.lines.contains { $0.contains("! Too small.") } == isTooTall)
        #expect(stage.lines.dropFirst().prefix(lines).map { $0.trimmingCharacters(in: .whitespaces) } == picture || isTooTall)
        #expect(stage.lines[23].contains("Ctrl-C Quit"))
        stage.size = TerminalSize(columns: 24, rows: 40)
        stage.update(tick: nil)
        #expect(!stage.frame.canvas.text.contains("▀"), "It is too wide for this.")
    }

    @Test(
        "A TerminalKit screen with long texts fits terminals from 20 by 6 to 200 by 60 cells, with and without an alert",
        arguments: [(20, 6), (21, 7), (40, 10), (80, 24), (200, 60)])
    func sizes(columns: Int, rows: Int) {
        let model = SampleModel()
        model.name = String(repeating: "long ", count: 30)
        model.text = String(repeating: "wörter ", count: 40)
        for alert in [nil, "Is this a text that is longer than a line of a small terminal, and then some?"] {
            model.alert = alert
            let stage = stage(model, size: TerminalSize(columns: columns, rows: rows))
            #expect(stage.lines.count == rows)
            #expect(stage.lines.allSatisfy { TextWidth.of($0) <= columns })
        }
    }

    @Test("A field shows the end of a text that is longer than the field, with the cursor")
    func longField() throws {
        let model = SampleModel()
        model.name = String(repeating: "0123456789", count: 6) + "END"
        let stage = stage(model)
        #expect(stage.lines.contains { $0.contains("END_]") })
        let cursor = try #require(stage.frame.cursor)
        #expect(stage.frame.canvas[cursor.column, cursor.row].character == "_")
        #expect(stage.frame.canvas[cursor.column - 1, cursor.row].character == "D")
    }
}
