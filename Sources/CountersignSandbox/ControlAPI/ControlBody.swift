internal import JOSE

/// The JSON body of a control call, read member by member.
struct ControlBody {
    /// The error for an invalid body, which causes status 400 with this message.
    struct Invalid: Error { let message: String }

    /// The whole body.
    let json: JSONValue
    private let members: [String: JSONValue]

    /// Parses a body, which must be a JSON object.
    init(_ bytes: [UInt8]) throws(Invalid) {
        guard let json = try? JSONValue(parsing: bytes), let members = json.objectValue else {
            throw Invalid(message: "The body must be a JSON object.")
        }
        (self.json, self.members) = (json, members)
    }

    /// Rejects unknown members, which are probably misspelt.
    func allow(_ names: String...) throws(Invalid) {
        let known = Set(names)
        guard let unknown = members.keys.sorted().first(where: { !known.contains($0) }) else { return }
        let all = names.isEmpty ? "This call has no members." : "This call has: \(names.joined(separator: ", "))."
        throw Invalid(message: "There is no member “\(unknown)”. \(all)")
    }

    /// Returns a string; `nil` if it is absent or null.
    func text(_ name: String) throws(Invalid) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.stringValue else { throw Invalid(message: "\(name) must be a string.") }
        return text
    }

    /// Returns a required string that is not empty.
    func required(_ name: String, example: String) throws(Invalid) -> String {
        guard let text = try text(name), !text.isEmpty else {
            throw Invalid(message: "\(name) is missing. Write, for example, {\"\(name)\": \"\(example)\"}.")
        }
        return text
    }

    /// Returns a Boolean; `nil` if it is absent or null.
    func flag(_ name: String) throws(Invalid) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let flag = value.boolValue else { throw Invalid(message: "\(name) must be true or false.") }
        return flag
    }

    /// Returns a number within a range; `nil` if it is absent or null.
    func number(_ name: String, in range: ClosedRange<Double>, unit: String = "seconds") throws(Invalid) -> Double? {
        guard let value = value(name) else { return nil }
        guard let number = value.doubleValue, range.contains(number) else {
            throw Invalid(
                message: "\(name) must be a number of \(unit) from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound)).")
        }
        return number
    }

    /// Returns a whole number within a range; `nil` if it is absent or null.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(Invalid) -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.intValue, range.contains(number) else {
            throw Invalid(message: "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Returns a list of strings; `nil` if it is absent or null.
    func texts(_ name: String) throws(Invalid) -> [String]? {
        guard let value = value(name) else { return nil }
        guard let texts = value.stringArrayValue else { throw Invalid(message: "\(name) must be a list of strings.") }
        return texts
    }

    /// Returns the members of an object; `nil` if it is absent or null.
    func object(_ name: String) throws(Invalid) -> [String: JSONValue]? {
        guard let value = value(name) else { return nil }
        guard let object = value.objectValue else { throw Invalid(message: "\(name) must be a JSON object.") }
        return object
    }

    /// Returns a value of an enumeration; `nil` if it is absent or null.
    func choice<Value>(_ name: String, _ type: Value.Type) throws(Invalid) -> Value?
    where Value: RawRepresentable<String> & CaseIterable {
        guard let value = value(name) else { return nil }
        guard let choice = value.stringValue.flatMap(Value.init(rawValue:)) else {
            throw Invalid(message: "\(name) must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return choice
    }

    private func value(_ name: String) -> JSONValue? { members[name].flatMap { $0 == .null ? nil : $0 } }

    private static func plain(_ number: Double) -> String {
        JSONValue.double(number).serializedString.replacing(#/\.0$/#, with: "")
    }
}
