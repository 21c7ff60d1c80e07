import Testing

@testable import TerminalKit

@Suite("Decoding of terminal input")
struct KeyDecoderTests {
    @Test(
        "The key decoder decodes each escape sequence and each character as one key",
        arguments: [
            ("\u{1B}[A", Key.up), ("\u{1B}OB", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left), ("\u{1B}[Z", .backTab),
            ("\u{1B}[3~", .delete), ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}[4~", .end),
            ("\r", .enter), ("\t", .tab), ("\u{7F}", .backspace), ("\u{3}", .control("c")), ("a", .character("a")), ("ü", .character("ü")),
            ("🎉", .character("🎉")),
        ])
    func sequences(bytes: String, key: Key) {
        var decoder = KeyDecoder()
        #expect(decoder.keys(of: bytes.utf8) == [key])
        #expect(!decoder.isWaiting)
    }

    @Test("The key decoder decodes keys whose bytes arrive one by one")
    func pieces() {
        var decoder = KeyDecoder()
        let keys = "é\u{1B}[6~x".utf8.flatMap { decoder.keys(of: [$0]) }
        #expect(keys == [.character("é"), .pageDown, .character("x")])
    }

    @Test("The key decoder decodes a single Esc as a key, and the next input as another key")
    func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.keys(of: [0x1B]).isEmpty)
        #expect(decoder.isWaiting)
        #expect(decoder.flush() == [.escape])
        #expect(!decoder.isWaiting)
        #expect(decoder.keys(of: [0x1B, 0x1B]) == [.escape])
        #expect(decoder.flush() == [.escape])
        #expect(decoder.keys(of: "t\u{1B}r".utf8) == [.character("t"), .escape, .character("r")])
    }

    @Test("In pasted text, the key decoder ignores line breaks and control characters, and decodes escape sequences as plain characters")
    func paste() {
        var decoder = KeyDecoder()
        let keys = decoder.keys(of: "\u{1B}[200~a\n\u{1B}[Ab\u{3}\u{1B}[201~\r".utf8)
        #expect(keys == [.character("a"), .character("["), .character("A"), .character("b"), .enter])
    }

    @Test("The key decoder ignores an unknown escape sequence", arguments: ["\u{1B}[99;99x", "\u{1B}[?1;2c", "\u{0}"])
    func unknown(bytes: String) {
        var decoder = KeyDecoder()
        #expect(decoder.keys(of: bytes.utf8 + Array("a".utf8)) == [.character("a")])
    }

    @Test("The key decoder ignores bytes that are not UTF-8")
    func invalid() {
        var decoder = KeyDecoder()
        #expect(decoder.keys(of: [0xFF, 0xC3, 0x28, 0x61]) == [.character("("), .character("a")])
    }
}
