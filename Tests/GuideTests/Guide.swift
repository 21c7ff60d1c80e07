import Foundation
import TestSupport
import Testing

/// A page of documentation with code blocks.
///
/// A comment of one line before a block, which readers do not see, says how the tests use the block:
///
/// | Comment | What happens |
/// |---|---|
/// | none, before `swift` | the block is a file of the guide's module |
/// | `<!-- body: (sandbox: Sandbox) -->` | the block is the body of an asynchronous function with these parameters; `import A, B;` and `@MainActor` may precede them |
/// | `<!-- file: PATH -->` | the block is written to that file of the guide's folder; Swift files are compiled as well |
/// | none, before `shell` | the block runs after the earlier blocks, in the same folder |
/// | `<!-- background until: TEXT -->` | the block runs in the background; the next block starts after this block has written the text |
/// | `<!-- org file -->` | the block replaces sections of the file that `countersign init` writes; the result must load |
/// | `<!-- output -->` | the block is the expected output of the shell block before it; `…` matches any text |
/// | `<!-- not run: REASON -->`, `<!-- only parsed: REASON -->` | the block is not run, or only parsed; `GuideTests` lists the reasons |
struct Guide: Sendable, CustomTestStringConvertible {
    let url: URL
    let blocks: [GuideBlock]

    var name: String { url.deletingPathExtension().lastPathComponent }
    var testDescription: String { name }

    init(_ url: URL) throws {
        self.url = url
        blocks = try GuideBlock.all(in: String(contentsOf: url, encoding: .utf8), of: url.lastPathComponent)
    }

    /// Every page whose blocks are compiled and run: the guides, the first page of each module's reference, and the README.
    static let all: [Guide] = {
        let root = OutsidePart.root
        let catalogues = pages(below: root.appending(path: "Sources")) { $0.deletingLastPathComponent().pathExtension == "docc" }
        let guides = pages(below: root.appending(path: "Documentation/Countersign.docc")) { _ in true }
        return (guides + catalogues + [root.appending(path: "README.md")]).compactMap { url in
            do {
                return try Guide(url)
            } catch {
                Issue.record(error, "\(url.lastPathComponent) can't be read.")
                return nil
            }
        }
    }()

    private static func pages(below folder: URL, where isOne: (URL) -> Bool) -> [URL] {
        let entries = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        return entries.filter { $0.pathExtension == "md" && isOne($0) }.sorted { $0.path() < $1.path() }
    }
}

/// A block of code in a guide.
struct GuideBlock: Sendable {
    /// The use of a block, from the comment before it.
    enum Role: Sendable, Equatable {
        case plain
        case body(String)
        case file(String)
        case background(until: String)
        case output
        case orgFile
        case notRun(reason: String)
        case onlyParsed(reason: String)
    }

    /// An error in the structure of a guide.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// The location of the block for messages: `Guide.md:12`.
    let place: String
    /// The line number of the first line of code.
    let line: Int
    let language: String
    let role: Role
    let text: String

    /// Returns the blocks of a text, in order.
    static func all(in text: String, of file: String) throws -> [GuideBlock] {
        var blocks: [GuideBlock] = []
        var role = Role.plain
        var open: (fence: Substring, language: String, line: Int, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let trimmed = line.drop { $0 == " " }
            if let block = open {
                guard trimmed == block.fence else {
                    open?.lines.append(String(line))
                    continue
                }
                blocks.append(
                    GuideBlock(
                        place: "\(file):\(block.line)", line: block.line, language: block.language, role: role,
                        text: block.lines.joined(separator: "\n") + "\n"))
                (open, role) = (nil, .plain)
            } else if trimmed.hasPrefix("```") {
                let fence = trimmed.prefix { $0 == "`" }
                open = (fence, String(trimmed.dropFirst(fence.count)), index + 2, [])
            } else if trimmed.hasPrefix("<!--") {
                role = try Self.role(trimmed, at: "\(file):\(index + 1)")
            } else if !trimmed.isEmpty, role != .plain {
                throw Unreadable(description: "\(file):\(index + 1): the comment before this line belongs to a block of code.")
            }
        }
        guard open == nil else { throw Unreadable(description: "\(file): the last block of code has no end.") }
        return blocks
    }

    private static func role(_ comment: Substring, at place: String) throws -> Role {
        let words = comment.dropFirst(4).replacing("-->", with: "").trimmingCharacters(in: .whitespaces)
        let (name, value) =
            words.firstIndex(of: ":").map { colon in
                (String(words[..<colon]), words[words.index(after: colon)...].trimmingCharacters(in: .whitespaces))
            } ?? (words, "")
        switch (name, value.isEmpty) {
        case ("body", _): return .body(value.isEmpty ? "()" : value)
        case ("file", false): return .file(value)
        case ("background until", false): return .background(until: value)
        case ("output", true): return .output
        case ("org file", true): return .orgFile
        case ("not run", false): return .notRun(reason: value)
        case ("only parsed", false): return .onlyParsed(reason: value)
        default: throw Unreadable(description: "\(place): “\(words)” is nothing that a block can be told. See Guide.swift.")
        }
    }
}
