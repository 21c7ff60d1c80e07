import Foundation
import JOSE
import Testing

@Suite("JSONValue")
struct JSONValueTests {
    @Test(
        "The JSON parser parses a JSON text by the rules of RFC 8259",
        arguments: [
            (#"null"#, JSONValue.null), ("true", true), (" false\r\n\t", false), ("0", 0), ("-1", -1),
            ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("1.5", 1.5),
            ("1e3", .double(1000)),
            ("-0", .double(-0.0)), ("1E-2", 0.01), (#""""#, ""),
            (#""a\"\\\/\b\f\n\r\té\u00e9\ud83d\ude00😀""#, "a\"\\/\u{8}\u{C}\n\r\té\u{E9}😀😀"),
            ("[]", []), ("[1,[2,{}]]", [1, [2, [:]]]), (#"{"a":1,"b":{"c":[null]}}"#, ["a": 1, "b": ["c": [nil]]]),
            (#"{"\u0061":1}"#, ["a": 1]), (#"{ "" : "" }"#, ["": ""]),
        ] as [(String, JSONValue)])
    func reads(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
        #expect(try JSONValue(parsing: value.serialized()) == value)
    }

    @Test(
        "The JSON parser rejects a text that is not JSON or repeats a member name",
        arguments: [
            "", " ", "nul", "nulll", "True", "00", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "Infinity", "1e999", "\"",
            "\"\\\"", "\"\\x\"", "\"\\u12\"",
            "\"\\u123g\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\ud800x\"", "\"\n\"", "\"\u{0}\"", "[", "[1", "[1,",
            "[1,]", "[,1]", "[1 2]", "]", "{", "{\"a\"", "{\"a\":", "{\"a\":1",
            "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\" 1}", "{}{}", "{} x", "1 1", "// c\n1", "\u{FEFF}1",
            "\u{A0}1",
            "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "[{\"b\":{\"a\":1,\"a\":1}}]",
        ])
    func refuses(text: String) {
        #expect(throws: JOSEError(.malformed, "")) { try JSONValue(parsing: text) }
    }

    @Test(
        "The JSON parser rejects a string that is not UTF-8",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80],
            [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE2, 0x82, 0x41], [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func refusesEncoding(bytes: [UInt8]) {
        #expect(throws: JOSEError(.malformed, "")) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
        #expect(throws: JOSEError(.malformed, "")) { try JSONValue(parsing: [0x22] + bytes) }
    }

    @Test("The JSON parser accepts nesting up to the limit and rejects deeper nesting")
    func depth() throws {
        let limits = JSONValue.Limits(maximumDepth: 3)
        #expect(try JSONValue(parsing: "[[[1]]]", limits: limits) == [[[1]]])
        #expect(throws: JOSEError(.tooDeep, "")) { try JSONValue(parsing: "[[[[]]]]", limits: limits) }
        #expect(throws: JOSEError(.tooDeep, "")) { try JSONValue(parsing: #"{"a":[{"b":[]}]}"#, limits: limits) }
        #expect(throws: JOSEError(.tooDeep, "")) { try JSONValue(parsing: String(repeating: "[", count: 100_000)) }
    }

    @Test(
        "Decoding a JSONValue with JSONDecoder accepts 128 levels of nesting and rejects deeper nesting",
        arguments: ["[", #"{"a":"#, #"[{"a":"#])
    func decodedNesting(_ opening: String) throws {
        let closing = String(opening.compactMap { ["[": "]", "{": "}"][$0] }.reversed())
        let levels = closing.count
        func text(_ depth: Int) -> Data {
            Data((String(repeating: opening, count: depth / levels) + "1" + String(repeating: closing, count: depth / levels)).utf8)
        }
        let deepest = try JSONDecoder().decode(JSONValue.self, from: text(128))
        #expect(try deepest == JSONValue(parsing: text(128), limits: .init(maximumDepth: 128)))
        var limits = JSONValue.Limits()
        limits.maximumDepth = 1_000_000
        #expect(throws: JOSEError.self) { try JSONValue(parsing: text(128 + levels), limits: limits) }
        for depth in [128 + levels, 400] {
            let error = #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSONValue.self, from: text(depth)) }
            guard case .dataCorrupted(let context) = error else { throw try #require(error) }
            #expect(context.debugDescription.contains("128 levels"))
        }
    }

    @Test("The JSON parser accepts a text up to the size limit and rejects a longer text")
    func size() throws {
        let limits = JSONValue.Limits(maximumSize: 4)
        #expect(try JSONValue(parsing: "\"ab\"", limits: limits) == "ab")
        #expect(throws: JOSEError(.tooLarge, "")) { try JSONValue(parsing: "\"abc\"", limits: limits) }
    }

    @Test("A JSON value is serialized with its members ordered by name, and an infinite number is serialized as null")
    func writes() throws {
        let value: JSONValue = ["b": [1, 2.5, nil], "a": "\u{1}\"\\/é\n", "": true, "B": -7]
        #expect(value.serializedString == #"{"":true,"B":-7,"a":"\u0001\"\\/é\n","b":[1,2.5,null]}"#)
        #expect(JSONValue.double(.infinity).serializedString == "null")
    }

    @Test("Foundation can parse a serialized JSON value")
    func foundationReads() throws {
        let value: JSONValue = ["text": "\u{0}\u{1F}\u{7F}\t\"😀", "numbers": [.integer(.min), 1.25e-10, 3], "deep": [["x": nil]]]
        let object = try #require(try JSONSerialization.jsonObject(with: Data(value.serialized())) as? [String: Any])
        #expect(object["text"] as? String == "\u{0}\u{1F}\u{7F}\t\"😀")
        #expect((object["numbers"] as? [NSNumber])?.first?.int64Value == .min)
        #expect((object["numbers"] as? [NSNumber])?.dropFirst().first?.doubleValue == 1.25e-10)
    }

    @Test("The JSON parser and the claims parser accept and reject the same truncated or changed texts", arguments: 0..<8)
    func mutations(bit: Int) {
        let original = Array(
            #"{"iss":"https://é.example","aud":["a","b\u00e9\ud83d\ude00"],"exp":1.7e9,"n":-12,"x":[true,false,null,{}]}"#.utf8)
        for position in original.indices {
            var changed = original
            changed[position] ^= 1 << bit
            #expect(Self.agree(changed))
            #expect(Self.agree(Array(original[..<position])))
            #expect(Self.agree(Array(original[position...])))
        }
    }

    /// Whether the reader of values and the reader of claims both accept an object, or both refuse it.
    private static func agree(_ bytes: [UInt8]) -> Bool {
        let value = try? JSONValue(parsing: bytes)
        do throws(JOSEError) {
            return try ClaimSet(parsing: bytes).json == value
        } catch {
            return error.code == .invalidClaim || value?.objectValue == nil
        }
    }

    @Test("The subscripts of a JSON value return and change its members and elements")
    func subscripts() {
        var value: JSONValue = ["a": [1, "two"]]
        #expect(value["a"]?[1]?.stringValue == "two")
        #expect(value["a"]?[2] == nil)
        #expect(value["b"] == nil)
        value["b"] = 1.5
        value["a"] = nil
        #expect(value == ["b": 1.5])
        #expect(JSONValue.double(3).intValue == 3)
        #expect(JSONValue.double(1e300).intValue == nil)
        #expect(JSONValue(["x", "y"]).stringArrayValue == ["x", "y"])
    }
}
