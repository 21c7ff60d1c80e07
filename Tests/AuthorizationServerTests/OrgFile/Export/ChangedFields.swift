import Foundation
import IdentityCore
import JOSE
import ServerHTTP

/// Changes one field of a definition at a time, through its JSON form. The fields need no list, so that new ones are included.
struct ChangedFields {
    /// A field by its path, and the definition in which only this field differs.
    struct Change {
        let path: String
        let definition: OrganizationDefinition
    }

    private enum Step {
        case member(String)
        case element(Int)
    }

    /// Every field of the definition, without indexes.
    let fields: Set<String>
    /// Valid definitions. A field without one has no other valid value.
    let changes: [Change]

    init(of definition: OrganizationDefinition) throws {
        let json = try JSONValue(parsing: RecordCoding.encode(definition))
        var (fields, changes): (Set<String>, [Change]) = ([], [])
        for (steps, leaf) in Self.leaves(of: json) {
            let path = Self.name(steps)
            fields.insert(path)
            for value in Self.candidates(for: leaf) {
                let payload = Self.replacing(steps[...], in: json, by: value).serialized()
                guard let changed = try? JSONDecoder().decode(OrganizationDefinition.self, from: Data(payload)), changed != definition,
                    changed.problems().isEmpty
                else { continue }
                changes.append(Change(path: path, definition: changed))
                break
            }
        }
        (self.fields, self.changes) = (fields, changes)
    }

    private static func leaves(of value: JSONValue) -> [([Step], JSONValue)] {
        switch value {
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { name, value in leaves(of: value).map { ([.member(name)] + $0.0, $0.1) } }
        case .array(let elements):
            elements.enumerated().flatMap { index, value in leaves(of: value).map { ([.element(index)] + $0.0, $0.1) } }
        default: [([], value)]
        }
    }

    private static func name(_ steps: [Step]) -> String {
        steps.reduce("") { name, step in
            switch step {
            case .member(let member): name.isEmpty ? member : "\(name).\(member)"
            case .element: name + "[]"
            }
        }
    }

    /// Returns the value with another one at a place; `nil` removes the member.
    private static func replacing(_ steps: ArraySlice<Step>, in value: JSONValue, by new: JSONValue?) -> JSONValue {
        switch (steps.first, value) {
        case (.member(let name)?, .object(var members)):
            members[name] =
                steps.count == 1 ? new : members[name].map { replacing(steps.dropFirst(), in: $0, by: new) }
            return .object(members)
        case (.element(let index)?, .array(var elements)):
            elements[index] = steps.count == 1 ? new ?? elements[index] : replacing(steps.dropFirst(), in: elements[index], by: new)
            return .array(elements)
        default: return new ?? value
        }
    }

    /// Values to try instead of one, the first valid one of which is used. `nil` is the default of a flag that is stored only if it is set.
    private static func candidates(for value: JSONValue) -> [JSONValue?] {
        switch value {
        case .string(let text) where TrustedNetwork(text) != nil: [.string("10.1.0.0/16")]
        case .bool(let flag): [nil, .bool(!flag)]
        case .integer(let number): [1, -1, 60, -60].map { .integer(number + $0) }
        case .string(let text): [.string(text + "x"), .string(String(text.dropLast()) + "Z")] + words.map { .string($0) }
        default: []
        }
    }

    /// Names and words that fields accept.
    private static let words = [
        "Staff", "Guests", "spare", "native", "browser", "web", "service", "client_secret_post", "refresh_token", "authorization_code",
        "RS256", "ES256", "one-factor", "two-factors", "oneFactor", "twoFactors", "deny", "accessToken", "idToken", "openid", "email",
        "sms", "voice", "REQUIRED", "OPTIONAL", "NOT_ALLOWED", "custom_app", "okta_verify", "PREFERRED", "never", "risky", "always", "49",
        "phone-app", "api://default", "active", "staged", "https://spare.example.com", "id.example.com", "preferred", "refuse",
        "phishingResistant", "00000000-0000-0000-0000-000000000001",
    ]
}
