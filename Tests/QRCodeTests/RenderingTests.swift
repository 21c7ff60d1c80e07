import QRCode
import Testing

@Suite("Rendering of QR codes")
struct RenderingTests {
    @Test("The SVG of a QR code has an accessible name, and contains no style, script or link")
    func svg() throws {
        let svg = try QRSymbol("x").svg(title: "Jane's <code> & \"more\"")
        #expect(
            svg.hasPrefix(
                ##"<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 29 29" shape-rendering="crispEdges"><title>Jane's "##
                    + ##"&lt;code&gt; &amp; "more"</title><path fill="#fff" d="M0 0h29v29H0z"/><path fill="#000" d="M4 4h7v1H4z"##))
        #expect(svg.hasSuffix("</svg>"))
        for word in ["style", "script", "href", "on"] { #expect(!svg.contains(word + "=")) }
        #expect(try QRSymbol("x").svg(title: "", quietZone: 0).contains(#"viewBox="0 0 21 21""#))
    }

    @Test("All lines of a QR code in the terminal have the same width, with a quiet zone of four modules")
    func terminal() throws {
        let symbol = try QRSymbol("x")
        for colors in [QRSymbol.TerminalColors.darkBackground, .lightBackground] {
            let lines = symbol.terminalText(colors: colors).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 16 && lines.last == "")
            #expect(lines.dropLast().allSatisfy { $0.count == 29 })
            #expect(Set(lines[0]) == [colors == .darkBackground ? "█" : " "])
        }
        let colored = symbol.terminalText().split(separator: "\n")
        #expect(colored.count == 15)
        #expect(colored.allSatisfy { $0.hasPrefix("\u{1B}[38;5;231;48;5;16m") && $0.hasSuffix("\u{1B}[0m") })
    }

    @Test("Modules outside of a QR code are light")
    func outside() throws {
        let symbol = try QRSymbol("x")
        #expect(symbol[0, 0])
        for (column, row) in [(-1, 0), (0, -1), (21, 0), (0, 21)] { #expect(!symbol[column, row]) }
    }

    @Test("Equal texts give equal QR codes, and the error for a text that is too long does not contain the text")
    func sameAndTooLong() throws {
        #expect(try QRSymbol("same") == QRSymbol("same"))
        #expect(try QRSymbol("same") != QRSymbol("same", errorCorrection: .high))
        #expect(try QRSymbol("").version == 1)
        let secret = String(repeating: "s", count: 3_000)
        #expect {
            try QRSymbol(secret)
        } throws: { error in
            "\(error)".contains("3000 bytes") && !"\(error)".contains("sss")
        }
    }
}
