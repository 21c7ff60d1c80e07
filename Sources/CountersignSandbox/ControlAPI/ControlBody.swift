internal import JOSE

/// The JSON body of a control call, read member by member.
struct ControlBody {
    /// The error for an invalid body. The response has status 400 and this message.
    struct Invalid: Error { let message: String }

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
    func allow(_ names: [String] = []) throws(Invalid) {
        let known = Set(names)
        guard let unknown = members.keys.sorted().first(where: { !known.contains($0) }) else { return }
        let all = names.isEmpty ? "This call has no members." : "This call has: \(names.joined(separator: ", "))."
        throw Invalid(message: "There is no member “\(unknown)”. \(all)")
    }

    /// Returns a string member; `nil` if the member is absent or null.
    func text(_ name: String) throws(Invalid) -> String? {
        try member(name, "a string", \.stringValue)
    }

    /// Returns a required string member, which must not be empty.
    func required(_ name: String, example: String) throws(Invalid) -> String {
        guard let text = try text(name), !text.isEmpty else {
            throw Invalid(message: "\(name) is missing. Write, for example, {\"\(name)\": \"\(example)\"}.")
        }
        return text
    }

    /// Returns a Boolean member; `nil` if the member is absent or null.
    func flag(_ name: String) throws(Invalid) -> Bool? {
        try member(name, "true or false", \.boolValue)
    }

    /// Returns a number member within a range; `nil` if the member is absent or null.
    func number(_ name: String, in range: ClosedRange<Double>, unit: String = "seconds") throws(Invalid) -> Double? {
        try member(name, "a number of \(unit) from \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))") {
            $0.doubleValue.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Returns a whole-number member within a range; `nil` if the member is absent or null.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(Invalid) -> Int? {
        try member(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            $0.intValue.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Returns a member that is a list of strings; `nil` if the member is absent or null.
    func texts(_ name: String) throws(Invalid) -> [String]? {
        try member(name, "a list of strings", \.stringArrayValue)
    }

    /// Returns an object member as a dictionary; `nil` if the member is absent or null.
    func object(_ name: String) throws(Invalid) -> [String: JSONValue]? {
        try member(name, "a JSON object", \.objectValue)
    }

    /// Returns the enumeration value that a member names; `nil` if the member is absent or null.
    func choice<Value>(_ name: String, _ type: Value.Type) throws(Invalid) -> Value?
    where Value: RawRepresentable<String> & CaseIterable {
        try member(name, "one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))") {
            $0.stringValue.flatMap(Value.init(rawValue:))
        }
    }

    private func member<Value>(
        _ name: String, _ rule: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(Invalid) -> Value? {
        guard let value = members[name], value != .null else { return nil }
        guard let result = read(value) else { throw Invalid(message: "\(name) must be \(rule()).") }
        return result
    }

    private static func plain(_ number: Double) -> String {
        JSONValue.double(number).serializedString.replacing(#/\.0$/#, with: "")
    }
}
