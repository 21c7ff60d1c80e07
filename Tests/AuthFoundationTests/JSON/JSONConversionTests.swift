import AuthFoundation
import Foundation
import Testing

@Suite("Conversion to JSON, and malformed JSON")
struct JSONConversionTests {
    private struct Point: Codable {
        var x = 1
        var y: Double? = 0.5
        var name: String?
    }

    private struct Role: JSONPrimitiveConvertible, JSONValueConvertible {
        var primitive: JSON.Primitive { "admin" }
    }

    @Test("Convertible types have a JSON value: strings, numbers, Booleans, null, arrays, dictionaries and types of the app")
    func convertible() throws {
        #expect("x".jsonValue == "x" && 7.jsonValue == 7 && 0.5.jsonValue == 0.5 && true.jsonValue == true && NSNull().jsonValue == .null)
        #expect("x".primitive == "x" && 7.primitive == 7 && 0.5.primitive == 0.5 && true.primitive == true && NSNull().primitive == .null)
        #expect(["a": [1, 2]].jsonValue == ["a": [1, 2]] && [Role()].jsonValue == ["admin"])
        #expect(JSON(["a": [1, 2]] as [String: [Int]]) == ["a": [1, 2]] && JSON([Role()]) == ["admin"])
        let json: JSON = ["a": 1]
        #expect(JSON(["j": json]) == ["j": ["a": 1]] && JSON(json) == json && JSON([json.value]) == [["a": 1]])
        let mixed: [any JSONValueConvertible] = [1, "x", json, Role()]
        #expect(try JSON(mixed) == [1, "x", ["a": 1], "admin"])
        let root: any JSONRootValue = ["a", "b"]
        #expect(JSON(root) == ["a", "b"])
    }

    @Test("A Codable value is converted to the JSON that JSONEncoder writes")
    func codable() throws {
        #expect(try JSON(Point()) == ["x": 1, "y": 0.5])
        #expect(try JSON([Point(x: 2, y: nil, name: "n")]) == [["x": 2, "name": "n"]])
        #expect(throws: JSONError.unsupportedRootValue) { try JSON(Date(timeIntervalSince1970: 0)) }
        #expect(throws: EncodingError.self) { try JSON(Point(y: .nan)) }
    }

    @Test("A dictionary of Any values is converted to JSON with the types of its values")
    func anyValues() throws {
        let value: [String: Any] = [
            "string": "x", "int": 7, "wide": Int64.min, "unsigned": UInt64.max, "small": UInt8(3), "float": Float(0.5), "double": 2.5,
            "bool": true,
            "null": NSNull(), "nil": Int?.none as Any, "some": Int?.some(4) as Any, "array": [1, "x", [true]] as [Any],
            "json": ["a": 1] as JSON, "value": [1] as JSON.Value, "role": Role(), "substring": "xyz".prefix(1).description,
        ]
        #expect(
            try JSON(value) == [
                "string": "x", "int": 7, "wide": .primitive(.int(.min)), "unsigned": 18_446_744_073_709_551_615.0, "small": 3, "float": 0.5,
                "double": 2.5, "bool": true, "null": nil, "nil": nil, "some": 4, "array": [1, "x", [true]], "json": ["a": 1], "value": [1],
                "role": "admin", "substring": "x",
            ])
        #expect(try JSON.Value(Any?.none) == .null && JSON.Value("x" as Any) == "x" && JSON.Primitive(true as Any) == true)
    }

    @Test("JSON from a result of JSONSerialization distinguishes Booleans and numbers")
    func foundationObjects() throws {
        let text = #"{"t":true,"f":false,"one":1,"zero":0,"half":0.5,"n":null,"s":"x","a":[1,true],"big":9007199254740993}"#
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        #expect(try JSON(object) == JSON(text))
        #expect(try JSON.Value(NSNumber(value: true)) == true && JSON.Value(NSNumber(value: 1)) == 1)
        #expect(try JSON.Primitive(NSNumber(value: Int8(1))) == 1 && JSON.Primitive(NSNumber(value: 0.5)) == 0.5)
    }

    @Test("anyValue leaves out nulls, and the rest converts back to the same JSON")
    func anyValue() throws {
        let json: JSON = ["a": [1, nil, "x"], "b": nil, "c": ["d": true, "e": 0.5]]
        let any = try #require(json.anyValue as? [String: any Sendable])
        #expect(any.keys.sorted() == ["a", "c"] && (any["a"] as? [any Sendable])?.count == 2)
        #expect(try JSON(any) == ["a": [1, "x"], "c": ["d": true, "e": 0.5]])
        #expect(JSON.Value.null.anyValue == nil && JSON.Value("x").anyValue as? String == "x")
    }

    @Test("A value that JSON cannot represent is rejected, and assigning it to anyValue gives null")
    func unsupportedValues() throws {
        for value: Any in [Date(timeIntervalSince1970: 0), Data(), Double.nan, Double.infinity, NSNumber(value: Double.nan), [1: 2]] {
            #expect(throws: JSONError.invalidJSONValue) { try JSON.Value(value) }
            #expect(throws: JSONError.invalidJSONValue) { try JSON(["a": [value]]) }
        }
        #expect(throws: JSONError.invalidJSONValue) { try JSON.Primitive([1]) }
        var json: JSON = ["a": 1]
        json.anyValue = Date(timeIntervalSince1970: 0)
        #expect(json.isNull)
        #expect(throws: EncodingError.self) { try JSON(["a": Double.infinity]).data }
    }

    @Test("JSON from a value of type Any must be an array or an object; a string or number needs a JSON.Value or a text")
    func roots() throws {
        for value: Any in ["x", 1, true, NSNull()] { #expect(throws: JSONError.unsupportedRootValue) { try JSON(value) } }
        #expect(JSON(JSON.Value("x")).string == "x")
        #expect(try JSON("7").int == 7 && JSON(#""x""#).string == "x" && JSON("null").isNull && JSON("true").bool == true)
    }

    @Test(
        "Malformed JSON text is rejected",
        arguments: ["", " ", "{", "[1,", #"{"a"}"#, "{'a':1}", "[1]x", "nul", "01", "1.", #""\x""#, "\"\u{1}\"", "NaN", "[1 2]"])
    func malformed(text: String) {
        #expect(throws: DecodingError.self) { try JSON(text) }
        #expect(throws: DecodingError.self) { try JSON(Data(text.utf8)) }
    }

    @Test("JSON data that is not UTF-8 is rejected with its own error")
    func notUTF8() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x5B, 0x22, 0xC3, 0x22, 0x5D], [0xFF]] {
            #expect(throws: JSONError.invalidUTF8String) { try JSON(Data(bytes)) }
        }
    }

    @Test("A value with 64 nested levels is converted to JSON, and a value with 200 levels is rejected")
    func depth() throws {
        func nested(_ depth: Int) -> Any { (0..<depth).reduce(1 as Any) { value, _ in [value] } }
        #expect(try JSON(nested(64)).data.count == 129)
        #expect(throws: JSONError.invalidJSONValue) { try JSON(nested(200)) }
    }

    /// A stored form with a value inside.
    private struct Form: Codable {
        struct Content: Codable { let json: JSON }
        let content: Content
    }

    @Test("A text with 64 nested levels is accepted and readable in a stored form, and a text with 65 levels is rejected")
    func storedDepth() throws {
        func text(_ depth: Int) -> String {
            String(repeating: #"{"a":["#, count: depth / 2) + "1" + String(repeating: "]}", count: depth / 2)
        }
        let value = try JSON(text(64))
        let stored = try JSONEncoder().encode(Form(content: Form.Content(json: value)))
        #expect(try JSONDecoder().decode(Form.self, from: stored).content.json == value)
        let deep = text(64).replacing("1", with: "[1]")
        #expect(throws: DecodingError.self) { try JSON(deep) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Form.self, from: Data(#"{"content":{"json":\#(deep)}}"#.utf8)) }
        #expect(throws: DecodingError.self) { try JSON(text(400)) }
    }
}
