internal import Foundation
internal import JOSE

/// A filter expression of the management API, such as `eventType sw "user.mfa" and not (outcome.result eq "SUCCESS")`
/// (Documentation/Protocol/Admin.md §2). A path that goes through an array selects the object if any element matches.
struct LogFilter: Sendable {
    /// The error for an expression that is malformed, too long or too deep, or that uses an attribute that cannot be filtered.
    struct Invalid: Error {}

    private indirect enum Node: Sendable {
        case and(Node, Node)
        case or(Node, Node)
        case not(Node)
        case present([String])
        case comparison([String], Operator, JSONValue)
    }

    private enum Operator: String {
        case eq, ne, co, sw, ew, gt, ge, lt, le
    }

    static let longest = 4_096
    fileprivate static let deepest = 32
    /// The attribute that cannot be filtered. The parameters `since` and `until` select the time.
    private static let excluded = "published"

    private let root: Node

    /// Parses an expression; throws ``Invalid``.
    init(parsing text: String) throws(Invalid) {
        guard text.utf8.count <= Self.longest else { throw Invalid() }
        var parser = Parser(try Token.tokens(of: text))
        root = try parser.expression(depth: 0)
        guard parser.isAtEnd else { throw Invalid() }
    }

    func selects(_ object: JSONValue) -> Bool { Self.selects(root, object) }

    private static func selects(_ node: Node, _ object: JSONValue) -> Bool {
        switch node {
        case .and(let a, let b): selects(a, object) && selects(b, object)
        case .or(let a, let b): selects(a, object) || selects(b, object)
        case .not(let a): !selects(a, object)
        case .present(let path): !values(path[...], in: object).isEmpty
        case .comparison(let path, .ne, let value): !values(path[...], in: object).contains { compare($0, .eq, value) }
        case .comparison(let path, let operation, let value): values(path[...], in: object).contains { compare($0, operation, value) }
        }
    }

    /// Returns the values at a path, without nulls.
    private static func values(_ path: ArraySlice<String>, in value: JSONValue) -> [JSONValue] {
        if let elements = value.arrayValue { return elements.flatMap { values(path, in: $0) } }
        guard let name = path.first else { return value == .null ? [] : [value] }
        return value[name].map { values(path.dropFirst(), in: $0) } ?? []
    }

    private static func compare(_ value: JSONValue, _ operation: Operator, _ wanted: JSONValue) -> Bool {
        if let a = value.stringValue, let b = wanted.stringValue {
            return switch operation {
            case .eq: a == b
            case .ne: a != b
            case .co: a.contains(b)
            case .sw: a.hasPrefix(b)
            case .ew: a.hasSuffix(b)
            case .gt: a > b
            case .ge: a >= b
            case .lt: a < b
            case .le: a <= b
            }
        }
        guard let a = value.doubleValue, let b = wanted.doubleValue else { return operation == .eq && value == wanted }
        return switch operation {
        case .eq: a == b
        case .ne: a != b
        case .gt: a > b
        case .ge: a >= b
        case .lt: a < b
        case .le: a <= b
        case .co, .sw, .ew: false
        }
    }

    private enum Token: Equatable {
        case open, close
        case word(String)
        case value(JSONValue)

        static func tokens(of text: String) throws(Invalid) -> [Token] {
            var (tokens, rest) = ([Token](), Array(text.utf8)[...])
            while let byte = rest.first {
                switch byte {
                case UInt8(ascii: " "): rest.removeFirst()
                case UInt8(ascii: "("), UInt8(ascii: ")"):
                    tokens.append(byte == UInt8(ascii: "(") ? .open : .close)
                    rest.removeFirst()
                case UInt8(ascii: "\""): tokens.append(.value(try string(&rest)))
                default: tokens.append(try word(&rest))
                }
            }
            return tokens
        }

        /// Reads a JSON string up to its closing quote.
        private static func string(_ rest: inout ArraySlice<UInt8>) throws(Invalid) -> JSONValue {
            var (end, isEscaped) = (rest.startIndex + 1, false)
            while end < rest.endIndex, isEscaped || rest[end] != UInt8(ascii: "\"") {
                isEscaped = !isEscaped && rest[end] == UInt8(ascii: "\\")
                end += 1
            }
            guard end < rest.endIndex, let value = try? JSONValue(parsing: Data(rest[rest.startIndex...end])) else { throw Invalid() }
            rest = rest[(end + 1)...]
            return value
        }

        private static func word(_ rest: inout ArraySlice<UInt8>) throws(Invalid) -> Token {
            let bytes = rest.prefix { ![UInt8(ascii: " "), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\"")].contains($0) }
            rest = rest.dropFirst(bytes.count)
            let text = String(decoding: bytes, as: UTF8.self)
            let allowed = bytes.allSatisfy { $0 < 0x80 && ($0 >= 0x30 || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")) }
            guard allowed else { throw Invalid() }
            if text == "true" || text == "false" { return .value(.bool(text == "true")) }
            if let first = bytes.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) {
                guard let number = try? JSONValue(parsing: Data(bytes)), number.doubleValue != nil else { throw Invalid() }
                return .value(number)
            }
            return .word(text)
        }
    }

    private struct Parser {
        private var tokens: ArraySlice<Token>

        init(_ tokens: [Token]) { self.tokens = tokens[...] }

        var isAtEnd: Bool { tokens.isEmpty }

        /// Parses an expression. `or` has a lower precedence than `and`.
        mutating func expression(depth: Int) throws(Invalid) -> Node {
            var node = try conjunction(depth: depth)
            while takes("or") { node = .or(node, try conjunction(depth: depth)) }
            return node
        }

        private mutating func conjunction(depth: Int) throws(Invalid) -> Node {
            var node = try operand(depth: depth)
            while takes("and") { node = .and(node, try operand(depth: depth)) }
            return node
        }

        private mutating func operand(depth: Int) throws(Invalid) -> Node {
            guard depth < LogFilter.deepest else { throw Invalid() }
            if takes("not") { return .not(try operand(depth: depth + 1)) }
            if tokens.first == .open {
                tokens.removeFirst()
                let node = try expression(depth: depth + 1)
                guard tokens.popFirst() == .close else { throw Invalid() }
                return node
            }
            guard case .word(let attribute)? = tokens.popFirst(), case .word(let operation)? = tokens.popFirst() else { throw Invalid() }
            let path = attribute.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard path.count <= 5, path.allSatisfy({ !$0.isEmpty }), path.first != LogFilter.excluded else { throw Invalid() }
            if operation.lowercased() == "pr" { return .present(path) }
            guard let comparison = Operator(rawValue: operation.lowercased()), case .value(let value)? = tokens.popFirst() else {
                throw Invalid()
            }
            return .comparison(path, comparison, value)
        }

        private mutating func takes(_ keyword: String) -> Bool {
            guard case .word(let word)? = tokens.first, word.lowercased() == keyword else { return false }
            tokens.removeFirst()
            return true
        }
    }
}
