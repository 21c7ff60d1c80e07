/// The tags and texts of a page in their order. The parser handles only the HTML that the hosted pages use.
struct PageMarkup: Sendable {
    enum Part: Sendable, Equatable {
        case start(String, [String: String])
        case end(String)
        case text(String)
    }

    let parts: [Part]

    init(_ html: String) {
        var parts: [Part] = []
        var rest = html[...]
        while let open = rest.firstIndex(of: "<") {
            if open > rest.startIndex { parts.append(.text(Self.decoded(rest[..<open]))) }
            guard let close = Self.end(ofTagIn: rest[open...]) else {
                rest = rest[open...]
                break
            }
            let tag = rest[rest.index(after: open)..<close]
            rest = rest[rest.index(after: close)...]
            if tag.hasPrefix("/") {
                parts.append(.end(tag.dropFirst().prefix { $0.isLetter || $0.isNumber }.lowercased()))
            } else if tag.first?.isLetter == true {
                let name = tag.prefix { $0.isLetter || $0.isNumber }.lowercased()
                parts.append(.start(name, Self.attributes(tag.dropFirst(name.count))))
            }
        }
        if !rest.isEmpty { parts.append(.text(Self.decoded(rest))) }
        self.parts = parts
    }

    /// Returns the text inside the first matching element; `nil` if no element matches.
    func text(of isRight: (String, [String: String]) -> Bool) -> String? {
        var name: String?
        var text = ""
        for part in parts {
            switch part {
            case .start(let tag, let attributes): if name == nil, isRight(tag, attributes) { name = tag }
            case .end(let tag): if tag == name { return Self.trimmed(text) }
            case .text(let words): if name != nil { text += words }
            }
        }
        return nil
    }

    /// The visible text: the texts in the body, with single spaces.
    var visibleText: String {
        var isBody = false
        var words: [Substring] = []
        for part in parts {
            switch part {
            case .start("body", _): isBody = true
            case .text(let text): if isBody { words += text.split(whereSeparator: \.isWhitespace) }
            default: break
            }
        }
        return words.joined(separator: " ")
    }

    private static func trimmed(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    /// Returns the index of the `>` that ends the tag. Ignores each `>` in quoted attributes.
    private static func end(ofTagIn text: Substring) -> Substring.Index? {
        var quote: Character?
        for index in text.indices {
            switch text[index] {
            case let character where character == quote: quote = nil
            case "\"" where quote == nil, "'" where quote == nil: quote = text[index]
            case ">" where quote == nil: return index
            default: break
            }
        }
        return nil
    }

    private static func attributes(_ text: Substring) -> [String: String] {
        var attributes: [String: String] = [:]
        var rest = text
        while true {
            rest = rest.drop { $0.isWhitespace || $0 == "/" }
            let name = rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != "/" }
            guard !name.isEmpty else { return attributes }
            rest = rest.dropFirst(name.count)
            var value: Substring = ""
            if rest.first == "=" {
                rest = rest.dropFirst()
                if let quote = rest.first, quote == "\"" || quote == "'" {
                    value = rest.dropFirst().prefix { $0 != quote }
                    rest = rest.dropFirst(value.count + 2)
                } else {
                    value = rest.prefix { !$0.isWhitespace }
                    rest = rest.dropFirst(value.count)
                }
            }
            // Of two attributes with the same name, the first counts.
            attributes[name.lowercased()] = attributes[name.lowercased()] ?? decoded(value)
        }
    }

    private static func decoded(_ text: Substring) -> String {
        guard text.contains("&") else { return String(text) }
        var result = String(text)
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            result = result.replacing(entity, with: character)
        }
        return result
    }
}
