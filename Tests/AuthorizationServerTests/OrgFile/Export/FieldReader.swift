import Foundation
import JOSE

/// Finds the fields that a type reads and a JSON value does not set, so that a test notices fields that it forgot.
///
/// Names contain no indexes: a field is set if one element of a list sets it.
final class FieldReader {
    /// The members that the type reads.
    private var read: Set<String> = []
    /// Those that have a value.
    private var set: Set<String> = []

    /// Returns the names of the unset fields, in alphabetical order.
    static func unsetFields<Value: Decodable>(of type: Value.Type, in value: JSONValue) throws -> [String] {
        let reader = FieldReader()
        _ = try type.init(from: ReadingDecoder(value: value, path: "", fields: reader))
        return reader.read.subtracting(reader.set).sorted()
    }

    fileprivate func note(_ path: String, _ value: JSONValue?) {
        read.insert(path)
        if let value, value != .null { set.insert(path) }
    }
}

private struct ReadingDecoder: Decoder {
    struct Failure: Error { let path: String }

    let value: JSONValue
    let path: String
    let fields: FieldReader
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw Failure(path: path) }
        return KeyedDecodingContainer(Members<Key>(members: members, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw Failure(path: path) }
        return Elements(elements: elements, decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(decoder: self) }

    /// Decodes the value. The members of JSON values and key sets are data, not fields.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == JSONValue.self || type == JSONWebKeySet.self || type == [String: JSONValue].self || type == Date.self {
            return try JSONDecoder().decode(type, from: Data(value.serialized()))
        }
        return try type.init(from: self)
    }

    func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard case .integer(let number) = value, let exact = Number(exactly: number) else { throw Failure(path: path) }
        return exact
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: JSONValue]
    let decoder: ReadingDecoder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { members.keys.compactMap(Key.init(stringValue:)) }

    private func path(_ key: Key) -> String { decoder.path.isEmpty ? key.stringValue : "\(decoder.path).\(key.stringValue)" }

    private func member(_ key: Key) throws -> ReadingDecoder {
        decoder.fields.note(path(key), members[key.stringValue])
        guard let value = members[key.stringValue] else { throw ReadingDecoder.Failure(path: path(key)) }
        return ReadingDecoder(value: value, path: path(key), fields: decoder.fields)
    }

    func contains(_ key: Key) -> Bool {
        decoder.fields.note(path(key), members[key.stringValue])
        return members[key.stringValue] != nil
    }
    func decodeNil(forKey key: Key) throws -> Bool { try member(key).value == .null }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).decode(type) }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try member(key).unkeyedContainer() }
    func superDecoder() throws -> any Decoder { decoder }
    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

private struct Elements: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let decoder: ReadingDecoder
    var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(elements: [JSONValue], decoder: ReadingDecoder) { (self.elements, self.decoder) = (elements, decoder) }

    private mutating func next() throws -> ReadingDecoder {
        guard currentIndex < elements.count else { throw ReadingDecoder.Failure(path: decoder.path) }
        defer { currentIndex += 1 }
        return ReadingDecoder(value: elements[currentIndex], path: decoder.path + "[]", fields: decoder.fields)
    }

    mutating func decodeNil() throws -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }
    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try next().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}

private struct Single: SingleValueDecodingContainer {
    let decoder: ReadingDecoder
    var codingPath: [any CodingKey] { [] }

    private func value<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw ReadingDecoder.Failure(path: decoder.path) }
        return value
    }

    func decodeNil() -> Bool { decoder.value == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
    func decode(_ type: Bool.Type) throws -> Bool { try value(decoder.value.boolValue) }
    func decode(_ type: String.Type) throws -> String { try value(decoder.value.stringValue) }
    func decode(_ type: Double.Type) throws -> Double { try value(decoder.value.doubleValue) }
    func decode(_ type: Float.Type) throws -> Float { Float(try value(decoder.value.doubleValue)) }
    func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
}
