import AuthFoundation
import Foundation
import Testing

@Suite("JSON values")
struct JSONTests {
    /// Returns the JSON text of a value.
    private func text(_ json: JSON) throws -> String { String(decoding: try json.data, as: UTF8.self) }

    @Test("JSON literals of every type are written as the same JSON text")
    func literals() throws {
        let json: JSON = [
            "string": "x", "integer": -7, "number": 0.5, "yes": true, "no": false, "nothing": nil, "array": [1, "a", nil, [true]],
            "object": ["a": ["b": 1]], "empty": [:], "none": [],
        ]
        #expect(
            try text(json)
                == #"{"array":[1,"a",null,[true]],"empty":{},"integer":-7,"no":false,"none":[],"nothing":null,"number":0.5,"#
                + #""object":{"a":{"b":1}},"string":"x","yes":true}"#)
        let values: [JSON.Value] = ["x", "é", 1, 1.5, true, nil, [1], ["a": 1]]
        #expect(
            values == [
                .primitive(.string("x")), .primitive(.string("é")), .primitive(.int(1)), .primitive(.double(1.5)), .primitive(.bool(true)),
                .null,
                .array([1]), .object(["a": 1]),
            ])
        let primitives: [JSON.Primitive] = ["x", "é", 1, 1.5, true, nil]
        #expect(primitives == [.string("x"), .string("é"), .int(1), .double(1.5), .bool(true), .null])
        #expect(JSON(["x": 1, "y": "s", "z": nil]) == ["x": 1, "y": "s", "z": nil] && JSON([1, "x"]) == [1, "x"])
    }

    @Test("If a name is repeated, an object literal keeps the last member, and a parsed object keeps the first")
    func repeatedMembers() throws {
        #expect(JSON(dictionaryLiteral: ("a", 1), ("a", 2)) == ["a": 2])
        #expect(JSON.Value(dictionaryLiteral: ("a", 1), ("a", 2)) == ["a": 2])
        #expect(try JSON(#"{"a":1,"a":2}"#) == ["a": 1])
    }

    @Test("Each accessor of a JSON value returns the value of its type, and nil for a value of another type")
    func accessors() {
        let values: [JSON.Value] = ["x", 7, 0.5, true, nil, [1], ["a": 1]]
        #expect(values.map(\.string) == ["x", nil, nil, nil, nil, nil, nil])
        #expect(values.map(\.int) == [nil, 7, nil, nil, nil, nil, nil])
        #expect(values.map(\.double) == [nil, 7, 0.5, nil, nil, nil, nil])
        #expect(values.map(\.bool) == [nil, nil, nil, true, nil, nil, nil])
        #expect(values.map(\.isNull) == [false, false, false, false, true, false, false])
        #expect(values.map(\.array) == [nil, nil, nil, nil, nil, [1], nil])
        #expect(values.map(\.object) == [nil, nil, nil, nil, nil, nil, ["a": 1]])
        #expect(values.map(\.primitive) == ["x", 7, 0.5, true, JSON.Primitive.null, nil, nil])
        for value in values {
            let json = JSON(value)
            #expect(json.value == value && json.string == value.string && json.int == value.int && json.double == value.double)
            #expect(json.bool == value.bool && json.isNull == value.isNull && json.array == value.array && json.object == value.object)
        }
    }

    @Test("A JSON number can be read as an Int if it is whole and fits, and always as a Double")
    func numbers() throws {
        #expect(JSON.Value(3.0).int == 3 && JSON.Value(3.5).int == nil && JSON.Value(1e300).int == nil)
        #expect(JSON.Value(9_007_199_254_740_993).double == 9_007_199_254_740_992)
        let parsed = try JSON(#"[9007199254740993, 9223372036854775807, -9223372036854775808, 9223372036854775808, 1.0, 1e3, -0.5]"#)
        #expect(
            parsed == [
                9_007_199_254_740_993, .primitive(.int(.max)), .primitive(.int(.min)), 9_223_372_036_854_775_808.0, 1, 1000, -0.5,
            ])
        #expect(throws: DecodingError.self) { try JSON("1e400") }
    }

    @Test("Setting an accessor replaces the JSON value, and setting nil gives null")
    func setters() throws {
        var json: JSON = ["a": 1]
        json.string = "x"
        #expect(json.value == "x")
        json.int = 2
        #expect(json.value == 2)
        json.double = 0.5
        #expect(json.value == 0.5)
        json.bool = true
        #expect(json.value == true)
        json.array = [1]
        #expect(json == [1])
        json.object = ["a": 1]
        #expect(json == ["a": 1])
        json.anyValue = ["b": [1, 2]]
        #expect(json == ["b": [1, 2]])
        json.value = "y"
        #expect(json.string == "y")
        for change: (inout JSON.Value) -> Void in [
            { $0.string = nil }, { $0.int = nil }, { $0.double = nil }, { $0.bool = nil }, { $0.array = nil }, { $0.object = nil },
            { $0.anyValue = nil },
        ] {
            var value: JSON.Value = "x"
            change(&value)
            #expect(value == .null)
        }
        var primitive: JSON.Primitive = "x"
        primitive.anyValue = 3
        #expect(primitive == 3)
        primitive.anyValue = [1]
        #expect(primitive.isNull)
    }

    @Test("A subscript of JSON adds, replaces and removes members and elements, at any depth")
    func subscripts() throws {
        var json: JSON = ["user": ["name": "Jane"], "groups": ["a", "b"]]
        json["user"]?["name"] = "Ada"
        json["user"]?["age"] = 36
        json["user"]?["gone"] = nil
        json["groups"]?[0] = "c"
        json["groups"]?[2] = "d"
        json["new"] = .null
        #expect(json == ["user": ["name": "Ada", "age": 36], "groups": ["c", "b", "d"], "new": nil])
        #expect(json["new"] == .some(.null) && json["missing"] == nil && json["groups"]?[3] == nil && json["groups"]?["a"] == nil)
        json["user"] = nil
        json["groups"]?[1] = nil
        #expect(json == ["groups": ["c", "d"], "new": nil])
        json["groups"]?[9] = "x"
        json["groups"]?[-1] = "x"
        #expect(json["groups"] == ["c", "d"])
    }

    @Test("Writing by a subscript turns a JSON value of another type into an object or array, and removing from it changes nothing")
    func subscriptsOfOtherValues() {
        var value: JSON.Value = "x"
        value["a"] = nil
        value[0] = nil
        value[1] = 1
        #expect(value == "x")
        value["a"] = 1
        #expect(value == ["a": 1])
        value[0] = 2
        #expect(value == [2])
    }

    @Test("Adding JSON merges objects at each level and joins arrays, and otherwise the result is the right value")
    func merging() {
        let left: JSON = ["a": 1, "list": [1], "nested": ["x": 1, "y": 2], "kept": true]
        let right: JSON = ["a": "new", "list": [2, 3], "nested": ["y": nil, "z": 3]]
        let merged: JSON = ["a": "new", "list": [1, 2, 3], "nested": ["x": 1, "y": nil, "z": 3], "kept": true]
        #expect(left + right == merged)
        var json = left
        json += right
        #expect(json == merged)
        var value: JSON.Value = [1]
        value += ["a": 1]
        #expect(value == ["a": 1])
        value += 2
        #expect(value == 2 && value + [1] == [1])
        var primitive = JSON.Primitive("a") + "b"
        #expect(primitive == "b")
        primitive += 4
        #expect(primitive == 4)
    }

    @Test("Parsed JSON keeps its text until it changes")
    func representation() throws {
        let source = Data(#"{ "b": 1.50, "a": 2 }"#.utf8)
        var json = try JSON(source)
        #expect(json.representation == .data(source))
        #expect(try json.data == source)
        json["a"] = 3
        #expect(json.representation == .json(["a": 3, "b": 1.5]))
        #expect(try text(json) == #"{"a":3,"b":1.5}"#)
        let literal: JSON = ["a": 3, "b": 1.5]
        #expect(literal.representation == .json(literal.value) && literal == json && literal.hashValue == json.hashValue)
    }

    @Test("JSON values are equal if their texts differ only in white space and in the order of members")
    func equality() throws {
        #expect(try JSON(#"{"a":1,"b":[true]}"#) == JSON(#" { "b" : [ true ], "a" : 1 } "#))
        #expect(try JSON(#"{"a":1}"#) != JSON(#"{"a":"1"}"#))
        #expect(try JSON(#"{"a":null}"#) != JSON("{}"))
    }

    @Test("A Codable type contains JSON, values and primitives in their JSON form")
    func codable() throws {
        struct Record: Codable, Equatable {
            var json: JSON
            var value: JSON.Value
            var primitives: [JSON.Primitive]
        }
        let text = #"{"json":{"a":[1,2.5,null]},"primitives":["x",1,0.5,true,null],"value":[{"b":false}]}"#
        let record = try JSONDecoder().decode(Record.self, from: Data(text.utf8))
        #expect(record == Record(json: ["a": [1, 2.5, nil]], value: [["b": false]], primitives: ["x", 1, 0.5, true, nil]))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try String(decoding: encoder.encode(record), as: UTF8.self) == text)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSON.Primitive.self, from: Data("[1]".utf8)) }
    }

    @Test("The debug description is the JSON text with sorted members, also for numbers that JSON does not have")
    func debugDescriptions() {
        let json: JSON = ["b": ["x\"y", 1], "a": nil]
        #expect(json.debugDescription == #"{"a":null,"b":["x\"y",1]}"# && "\(json)" == json.debugDescription)
        let infinite: JSON.Value = ["k": .primitive(.double(.infinity))]
        #expect(infinite.debugDescription == #"{"k":"inf"}"#)
        #expect(JSON.Primitive("a/b").debugDescription == #""a/b""# && JSON.Primitive.null.debugDescription == "null")
    }

    @Test("JSON can be built from and read as elements of type JSON")
    func elementsOfJSON() throws {
        let json = JSON.object([
            "a": .array([.string("x"), .integer(1), .number(0.5), .bool(true), .null]), "big": .integer(9_007_199_254_740_993),
        ])
        #expect(json == ["a": ["x", 1, 0.5, true, nil], "big": 9_007_199_254_740_993])
        #expect(json.objectValue?["a"]?.arrayValue?.first?.stringValue == "x" && json.arrayValue == nil && json.stringValue == nil)
    }
}
