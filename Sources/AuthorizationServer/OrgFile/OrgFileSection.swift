internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Yams

/// A mapping of the org file, read key by key. Keys that no code reads are reported as unknown.
final class OrgFileSection {
    typealias Step = OrganizationError.Problem.Step

    let source: OrgFileSource
    let node: Node
    let path: [Step]
    /// The full key as the file spells it.
    let key: String
    private let values: [String: Node]
    private let keys: [Node]
    private var asked: Set<String> = []

    /// Creates a section. Returns `nil` and records a problem if the node is not a mapping.
    init?(_ node: Node, path: [Step], key: String, source: OrgFileSource) {
        source.note(path, node, key: key)
        guard case .mapping(let mapping) = node else {
            source.add("Here must be keys with values, as “name: …”.", at: node, key: key)
            return nil
        }
        (self.source, self.node, self.path, self.key) = (source, node, path, key)
        keys = mapping.map(\.key)
        values = Dictionary(mapping.compactMap { pair in pair.key.string.map { ($0, pair.value) } }, uniquingKeysWith: { $1 })
    }

    /// Returns a value; `nil` if it is missing or null.
    func value(_ name: String, as property: String? = nil) -> Node? {
        asked.insert(name)
        guard let value = values[name], !value.isNull else { return nil }
        source.note(path + [.key(property ?? name.camelCased)], value, key: spelled(name))
        return value
    }

    /// Uses a value, and reports an error at the value's line, so that the server fails at startup instead of at the first use.
    func check(_ name: String, _ use: () throws -> Void) {
        do {
            try use()
        } catch {
            source.add("\(error)", at: value(name) ?? node, key: spelled(name))
        }
    }

    func string(_ name: String, as property: String? = nil) -> String? {
        guard let value = value(name, as: property) else { return nil }
        return text(value, key: spelled(name))
    }

    /// Returns a mandatory value; reports a problem and returns an empty string if it is missing.
    func required(_ name: String, example: String) -> String {
        if let text = string(name) { return text }
        if values[name].map(\.isNull) ?? true { source.add("\(name) is missing. Add: \(name): \(example)", at: node, key: key) }
        return ""
    }

    func bool(_ name: String, default fallback: Bool) -> Bool {
        guard let value = value(name) else { return fallback }
        guard let flag = value.bool else {
            source.add("Write true or false.", at: value, key: spelled(name))
            return fallback
        }
        return flag
    }

    func int(_ name: String, default fallback: Int) -> Int {
        guard let value = value(name) else { return fallback }
        guard let number = value.int else {
            source.add("Write a whole number.", at: value, key: spelled(name))
            return fallback
        }
        return number
    }

    /// Returns a duration in seconds; `nil` if absent or `unlimited`.
    func seconds(_ name: String) -> Int? {
        guard let value = value(name), let text = value.scalar?.string, text != "unlimited" else { return nil }
        guard let seconds = Self.seconds(text) else {
            source.add("“\(text)” is no time. Write seconds, or a number with s, m, h or d: 30m, 1h, 7d.", at: value, key: spelled(name))
            return nil
        }
        return seconds
    }

    /// Returns the choice that the key's word names. Returns `fallback` for a missing key, and also for any other word, which is reported.
    func choice<Value>(_ name: String, _ choices: [String: Value], default fallback: Value, as property: String? = nil) -> Value {
        guard let value = value(name, as: property) else { return fallback }
        guard let text = value.scalar?.string, let choice = choices[text] else {
            let all = choices.keys.sorted().joined(separator: ", ")
            let hint =
                value.scalar.flatMap { Suggestion.nearest(to: $0.string, among: choices.keys) }.map { " Did you mean “\($0)”?" } ?? ""
            source.add("“\(value.scalar?.string ?? "…")” is not among: \(all).\(hint)", at: value, key: spelled(name))
            return fallback
        }
        return choice
    }

    /// Returns a list of strings; `nil` if absent, `any` or `all`.
    func strings(_ name: String, as property: String? = nil, aliases: [String: String] = [:]) -> [String]? {
        // A list whose elements are all commented out must not mean "no restriction".
        if let empty = values[name], empty.isNull {
            asked.insert(name)
            source.add(
                "The list is empty. Write its elements, any for all, or [] for none; or remove the key.", at: empty, key: spelled(name))
            return nil
        }
        guard let value = value(name, as: property) else { return nil }
        if let word = value.scalar?.string, word == "any" || word == "all" { return nil }
        let steps = path + [.key(property ?? name.camelCased)]
        return elements(value, name).enumerated().map { index, element in
            source.note(steps + [.index(index)], element, key: "\(spelled(name))[\(index)]")
            let word = text(element, key: "\(spelled(name))[\(index)]") ?? ""
            return aliases[word] ?? word
        }
    }

    func section(_ name: String, as property: String? = nil) -> OrgFileSection? {
        value(name, as: property).flatMap {
            OrgFileSection($0, path: path + [.key(property ?? name.camelCased)], key: spelled(name), source: source)
        }
    }

    /// Reads a list of sections. An index in the file plus `offset` is the index in the definition.
    func sections<Value>(_ name: String, offset: Int = 0, _ read: (OrgFileSection) -> Value) -> [Value] {
        guard let value = value(name) else { return [] }
        let steps = path + [.key(name.camelCased)]
        return elements(value, name).enumerated().compactMap { index, element in
            let section = OrgFileSection(
                element, path: steps + [.index(index + offset)], key: "\(spelled(name))[\(index)]", source: source)
            guard let section else { return nil }
            let value = read(section)
            section.reportUnknownKeys()
            return value
        }
    }

    /// Returns all keys with their values as JSON, for sections without a fixed set of keys.
    func members() -> [String: JSONValue] {
        asked.formUnion(values.keys)
        return values.mapValues { $0.json }
    }

    func reportUnknownKeys() {
        for node in keys {
            let name = node.string ?? "…"
            guard !asked.contains(name) else { continue }
            let hint =
                Suggestion.nearest(to: name, among: asked).map { "Did you mean \($0)?" }
                ?? "Known here: \(asked.sorted().joined(separator: ", "))."
            source.add("Unknown key \(name). \(hint)", at: node, key: spelled(name))
        }
    }

    func spelled(_ name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }

    private func elements(_ value: Node, _ name: String) -> [Node] {
        if case .sequence(let sequence) = value { return Array(sequence) }
        source.add("Here must be a list, each element on a line that begins with a dash.", at: value, key: spelled(name))
        return []
    }

    /// Returns a scalar's text, resolved from the environment if it is a reference.
    private func text(_ value: Node, key: String) -> String? {
        guard let text = value.scalar?.string else {
            source.add("Here must be a text, not a list or a section.", at: value, key: key)
            return nil
        }
        let name: String
        if text.hasPrefix("${"), text.hasSuffix("}") {
            name = String(text.dropFirst(2).dropLast())
        } else if text.hasPrefix("env:") {
            name = String(text.dropFirst(4))
        } else {
            return text
        }
        if let value = source.environment[name], !value.isEmpty { return value }
        source.add("The environment has no \(name). Set it before the start, or write the value here.", at: value, key: key)
        return nil
    }

    private static func seconds(_ text: String) -> Int? {
        let digits = text.prefix { $0.isNumber }
        guard let number = Int(digits), number <= 1_000_000_000 else { return nil }
        switch text.dropFirst(digits.count).trimmingCharacters(in: .whitespaces) {
        case "", "s": return number
        case "m": return number * 60
        case "h": return number * 3_600
        case "d": return number * 86_400
        default: return nil
        }
    }
}

extension Node {
    /// Whether the node is a plain `null`, `~` or empty scalar.
    var isNull: Bool {
        scalar.map { $0.style == .plain && ["", "~", "null", "Null", "NULL"].contains($0.string) } ?? false
    }

    /// The value by YAML's typing rules: quoted scalars are strings.
    var json: JSONValue {
        switch self {
        case .mapping(let mapping):
            return .object(
                Dictionary(mapping.compactMap { pair in pair.key.string.map { ($0, pair.value.json) } }, uniquingKeysWith: { $1 }))
        case .sequence(let sequence): return .array(sequence.map(\.json))
        case .scalar(let scalar):
            guard scalar.style == .plain else { return .string(scalar.string) }
            if isNull { return .null }
            // A number with a plus sign or a leading zero is a phone number or a postal code.
            if scalar.string.first != "+", scalar.string == "0" || scalar.string.first != "0", let number = int {
                return .integer(Int64(number))
            }
            if scalar.string.contains("."), scalar.string.first != "+", let number = Double(scalar.string), number.isFinite {
                return .double(number)
            }
            if ["true", "false"].contains(scalar.string) { return .bool(scalar.string == "true") }
            return .string(scalar.string)
        default: return .null
        }
    }
}
