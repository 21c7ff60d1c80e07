internal import IdentityCore
internal import JOSE
internal import Yams

/// A mapping of the org file, in the order in which its keys are added.
struct OrgFileMapping {
    private(set) var pairs: [(Node, Node)] = []

    /// Adds a key; leaves it out if the value is `nil`.
    mutating func add(_ key: String, _ value: Node?) {
        if let value { pairs.append((Node(key), value)) }
    }

    var node: Node { .mapping(.init(pairs)) }
}

/// Writes the values of an org file, and collects the variables that stand for its secrets.
final class OrgFileWriter {
    typealias Variable = OrgFileExport.Variable

    private(set) var variables: [Variable] = []

    /// The maximum length of a list of texts that is written in one line.
    private static let lineLength = 90

    // MARK: - Texts

    /// A text. One that the file would read as a reference becomes a variable.
    func text(_ text: String) -> Node {
        guard !(text.hasPrefix("${") && text.hasSuffix("}")), !text.hasPrefix("env:") else {
            return reference(.text(text), "TEXT")
        }
        return Self.quotedIfNeeded(text)
    }

    func text(_ text: String?) -> Node? { text.map { self.text($0) } }

    /// A list of texts; `nil` for no list.
    func texts(_ list: [String]?) -> Node? {
        list.map { list in
            let length = list.reduce(0) { $0 + $1.count + 2 }
            return .sequence(.init(list.map { text($0) }, .implicit, length <= Self.lineLength ? .flow : .block))
        }
    }

    /// A list of texts that the file leaves out if it is empty.
    func texts(ofNonEmpty list: [String]) -> Node? { list.isEmpty ? nil : texts(list) }

    /// A reference to the variable of a secret. The name of its owner makes the variable's name readable.
    func reference(_ source: Variable.Source, _ words: String...) -> Node {
        let name = unusedName(for: words)
        variables.append(Variable(name: name, source: source))
        return Self.quotedIfNeeded("${\(name)}")
    }

    /// Returns a name of an environment variable that the file does not use yet, and that is no setting of the server.
    private func unusedName(for words: [String]) -> String {
        var name = words.joined(separator: "_").uppercased()
            .split { !$0.isASCII || !($0.isLetter || $0.isNumber) }.joined(separator: "_")
        if name.first.map({ !$0.isLetter }) ?? true || name.hasPrefix("COUNTERSIGN_") { name = "ORG_" + name }
        let used = Set(variables.map(\.name))
        guard used.contains(name) else { return name }
        var number = 2
        while used.contains("\(name)_\(number)") { number += 1 }
        return "\(name)_\(number)"
    }

    /// The words that YAML or the org file read as something else than a text.
    private static let words: Set<String> = [
        "y", "n", "yes", "no", "on", "off", "true", "false", "null", "any", "all", "unlimited", "everyone",
    ]

    /// A text without quotation marks only if each reader of YAML takes it for the same text.
    private static func quotedIfNeeded(_ text: String) -> Node {
        let isPlain =
            text.wholeMatch(of: /[A-Za-z]([A-Za-z0-9 ._\/@+-]*[A-Za-z0-9])?|\$\{[A-Z0-9_]+\}/) != nil
            && !words.contains(text.lowercased())
        return .scalar(.init(text, .implicit, isPlain ? .plain : .doubleQuoted))
    }

    // MARK: - Other values

    /// A word that the file defines.
    func word(_ word: String) -> Node { .scalar(.init(word, .implicit, ["on", "off"].contains(word) ? .doubleQuoted : .plain)) }

    func number(_ number: Int) -> Node { .scalar(.init(String(number), .implicit, .plain)) }

    /// A number, or `unlimited`.
    func number(_ number: Int?) -> Node { number.map { self.number($0) } ?? word("unlimited") }

    /// A Boolean that the file leaves out if it has the default.
    func flag(_ flag: Bool, default standard: Bool) -> Node? { flag == standard ? nil : word(flag ? "true" : "false") }

    /// Seconds, in the largest unit without a remainder.
    func duration(_ seconds: Int) -> Node {
        for (unit, length) in [("d", 86_400), ("h", 3_600), ("m", 60)] where seconds > 0 && seconds % length == 0 {
            return word("\(seconds / length)\(unit)")
        }
        return word("\(seconds)s")
    }

    /// A mapping with the keys that `build` adds.
    func mapping(_ build: (inout OrgFileMapping) -> Void) -> Node {
        var mapping = OrgFileMapping()
        build(&mapping)
        return mapping.node
    }

    /// A list of mappings that the file leaves out if it is empty.
    func list<Value>(_ values: [Value], _ build: (inout OrgFileMapping, Value) -> Void) -> Node? {
        guard !values.isEmpty else { return nil }
        return .sequence(.init(values.map { value in mapping { build(&$0, value) } }))
    }

    /// The public keys of a set; `nil` for no set.
    func keys(_ set: JSONWebKeySet?) -> Node? { set.flatMap { $0.json()["keys"] }.map { Node($0) } }
}
