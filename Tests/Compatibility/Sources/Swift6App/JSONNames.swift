import AuthFoundation
import Foundation

// Uses each published symbol of the module JSON once. `import AuthFoundation` also imports them. Both targets compile this file.

func makeJSON(_ any: Any, _ data: Data, _ record: some Codable, _ root: some JSONRootValue) throws -> [JSON] {
    let dictionary: [String: String] = ["a": "b"]
    let nested: [String: Any] = ["a": ["b": NSNull(), "c": 1]]
    let value: JSON.Value = ["list": [1, 2.5, "x", true, nil], "object": ["a": [:]]]
    let object: JSON = ["name": "Jane", "age": 36, "tags": ["a", "b"], "gone": nil]
    let array: JSON = [1, "two", 3.0, false, nil, ["k": "v"]]
    return [
        object, array, JSON(object), JSON(value), JSON(root), JSON(dictionary), JSON([1, 2]), JSON(["a": 1, "b": "x"]), try JSON(record),
        try JSON(any), try JSON(nested), try JSON(data), try JSON(#"{"a":1}"#), JSON(arrayLiteral: 1, 2), JSON(dictionaryLiteral: ("a", 1)),
    ]
}

func readJSON(_ json: JSON) throws -> String {
    let texts: [String?] = [json.string, json["name"]?.string, json["tags"]?[0]?.string, json[0]?["k"]?.string]
    let numbers: [Double?] = [json.double, json["age"]?.double, json.int.map(Double.init), json["age"]?.int.map(Double.init)]
    let switches: [Bool?] = [json.bool, json["active"]?.bool, json.isNull, json["gone"]?.isNull]
    let parts: (array: [JSON.Value]?, object: [String: JSON.Value]?) = (json.array, json.object)
    let any: (any Sendable)? = json.anyValue
    _ = (texts, numbers, switches, parts, any)
    switch json.value {
    case .object(let members): return members.keys.joined()
    case .array(let elements): return elements.map(\.debugDescription).joined()
    case .primitive(.string(let text)): return text
    case .primitive(.int(let number)): return String(number)
    case .primitive(.double(let number)): return String(number)
    case .primitive(.bool(let isOn)): return String(isOn)
    case .primitive(.null): break
    }
    switch json.representation {
    case .data(let data): return String(decoding: data, as: UTF8.self)
    case .json(let value): return value.debugDescription
    }
}

func changeJSON(_ json: inout JSON, _ value: inout JSON.Value, _ primitive: inout JSON.Primitive) throws {
    json["name"] = "Ada"
    json["name"] = nil
    json["tags"]?[0] = "c"
    json[0] = 1
    json.value = ["a": 1]
    (json.anyValue, json.bool, json.int, json.double, json.string) = (nil, true, 1, 0.5, "x")
    (json.array, json.object) = ([1], ["a": 1])
    json += ["b": 2]
    json = json + ["c": 3]
    (value.anyValue, value.bool, value.int, value.double, value.string) = (1, nil, nil, nil, nil)
    (value.array, value.object) = (["a"], nil)
    value["a"] = .primitive(.string("x"))
    value[0] = .null
    value += ["b": 2]
    value = value + .null
    (primitive.anyValue, primitive.bool, primitive.int, primitive.double, primitive.string) = ("x", true, 1, 0.5, nil)
    primitive += 3
    primitive = primitive + .null
    _ = (value.primitive, value.jsonValue, value.isNull, primitive.primitive, primitive.jsonValue, primitive.isNull)
    _ = (json.debugDescription, value.debugDescription, primitive.debugDescription, json.hashValue, value.hashValue, primitive.hashValue)
    _ = json == json && value == .null && primitive == .null && json.representation == .json(value) && json.representation != .data(Data())
}

func convertJSON(_ any: Any?) throws -> [JSON.Value] {
    let values = [
        "x".jsonValue, 1.jsonValue, 0.5.jsonValue, true.jsonValue, NSNull().jsonValue, ["a", "b"].jsonValue, ["a": 1].jsonValue,
        try JSON.Value(any), .primitive(try JSON.Primitive(any)), .primitive("x".primitive), .primitive(1.primitive),
        .primitive(0.5.primitive), .primitive(true.primitive), .primitive(NSNull().primitive),
    ]
    let literals: [JSON.Value] = [
        JSON.Value(nilLiteral: ()), JSON.Value(booleanLiteral: true), JSON.Value(integerLiteral: 1), JSON.Value(floatLiteral: 1.5),
        JSON.Value(stringLiteral: "x"), JSON.Value(unicodeScalarLiteral: "x"), JSON.Value(extendedGraphemeClusterLiteral: "x"),
        JSON.Value(arrayLiteral: 1, 2), JSON.Value(dictionaryLiteral: ("a", 1)),
    ]
    let primitives: [JSON.Primitive] = [
        JSON.Primitive(nilLiteral: ()), JSON.Primitive(booleanLiteral: true), JSON.Primitive(integerLiteral: 1),
        JSON.Primitive(floatLiteral: 1.5), JSON.Primitive(stringLiteral: "x"), JSON.Primitive(unicodeScalarLiteral: "x"),
        JSON.Primitive(extendedGraphemeClusterLiteral: "x"),
    ]
    return values + literals + primitives.map(\.jsonValue)
}

func codeJSON(_ json: JSON) throws {
    struct Record: Codable, Hashable, Sendable {
        var json: JSON
        var value: JSON.Value
        var primitive: JSON.Primitive
    }
    let record = Record(json: json, value: json.value, primitive: .null)
    _ = try JSONDecoder().decode(Record.self, from: JSONEncoder().encode(record))
    _ = try json.data
}

func jsonErrors(_ error: any Error) -> Bool {
    switch error {
    case JSONError.invalidJSONValue, JSONError.invalidUTF8String: true
    default: (error as? JSONError) == .unsupportedRootValue
    }
}

/// A type of the app that is a string in JSON.
enum Plan: String, JSONPrimitiveConvertible, JSONValueConvertible {
    case free, paid

    var primitive: JSON.Primitive { .string(rawValue) }
}

/// A type of the app that is an object in JSON.
struct Account: JSONRootValue {
    var plan: Plan

    var jsonValue: JSON.Value { ["plan": plan.jsonValue] }
}

func protocols(_ account: Account) -> JSON {
    var objects: [any JSONObjectRepresentable] = [JSON(account), account.jsonValue]
    objects[0]["plan"] = Plan.paid.jsonValue
    objects[0][0] = nil
    (objects[0].array, objects[0].object) = (nil, [:])
    var values: [any JSONValueRepresentable] = objects + [account.plan.primitive]
    (values[0].anyValue, values[0].bool, values[0].int, values[0].double, values[0].string) = (nil, nil, nil, nil, "x")
    _ = values.contains { $0.isNull }
    return JSON([account, Account(plan: .free)])
}

func received(
    _ token: Token, _ user: UserInfo, _ info: AuthFoundation.TokenInfo, _ provider: OpenIdConfiguration, _ jwt: JWT
) throws -> JSON {
    let scope: String? = token.json["scope"]?.string
    let merged = user.json + info.json + provider.json + jwt.body
    _ = try (scope, UserInfo(merged), AuthFoundation.TokenInfo(["active": true]))
    return merged
}
