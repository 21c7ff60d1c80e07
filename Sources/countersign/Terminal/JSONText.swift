import JOSE

/// JSON for scripts: one value per line.
enum JSONText {
    static func line(_ value: JSONValue) -> String { value.serializedString }
    static func line(_ members: [String: String]) -> String { JSONValue.object(members.mapValues(JSONValue.string)).serializedString }
}
