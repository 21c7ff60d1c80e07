import Foundation
import TestSupport
import Testing

@testable import SignInPages

@Suite("Page texts")
struct PageTextsTests {
    private static let templates = OutsidePart.root.appending(path: "Sources/SignInPages/Pages/Templates")

    /// Returns all texts of a language by name, including those of nested tables.
    private static func table(_ value: Any, _ path: String = "") -> [String: String] {
        var table: [String: String] = [:]
        for child in Mirror(reflecting: value).children {
            let name = path + (child.label ?? "")
            if let text = child.value as? String { table[name] = text } else { table.merge(Self.table(child.value, name + ".")) { $1 } }
        }
        return table
    }

    @Test("The page texts of all languages have the same names and the same placeholders, and no text is empty")
    func complete() throws {
        let english = Self.table(PageTexts.english)
        #expect(english.count > 30)
        for texts in PageTexts.all {
            let own = Self.table(texts)
            #expect(own.keys.sorted() == english.keys.sorted())
            for (name, text) in own {
                #expect(!text.trimmingCharacters(in: .whitespaces).isEmpty, "\(texts.language): \(name)")
                func placeholders(_ text: String) -> [String] { text.matches(of: /\{[a-z]+\}/).map { String($0.output) }.sorted() }
                #expect(placeholders(text) == placeholders(english[name] ?? ""), "\(texts.language): \(name)")
            }
        }
        #expect(Set(PageTexts.all.map(\.language)) == ["en", "de"])
        let german = Self.table(PageTexts.german)
        // Few texts are equal in both languages, so many equal texts mean that a table is not translated.
        #expect(english.filter { german[$0.key] == $0.value }.count <= 3)
    }

    @Test("Page templates contain no text, no inline style, no inline script and no external address")
    func templates() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.templates, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "mustache" }
        #expect(files.count >= 7)
        for file in files {
            let source = try String(contentsOf: file, encoding: .utf8)
            let words = source.replacing(/\{\{\{?[^}]*\}?\}\}/, with: "").replacing(/<[^>]*>/, with: "")
            #expect(words.allSatisfy { $0.isWhitespace || ":–".contains($0) }, "\(file.lastPathComponent): \(words)")
            for attribute in ["alt", "title", "placeholder", "aria-label"] {
                let own = source.matches(of: try Regex("\(attribute)=\"([^\"{]+)\""))
                #expect(own.isEmpty, "\(file.lastPathComponent): \(own.map { $0.output[0].substring ?? "" })")
            }
            #expect(!source.contains("style=") && !source.contains("<style"), "\(file.lastPathComponent)")
            #expect(source.matches(of: /<script[^>]*>/).allSatisfy { $0.output.contains(/src="\{\{assets\.(script|passkeys)\}\}"/) })
            #expect(!source.contains("http:") && !source.contains("https:") && !source.contains("\"//"), "\(file.lastPathComponent)")
        }
    }

    @Test(
        "The page language is the client's preferred language, or else the browser's preferred language, or else English",
        arguments: [
            (["de"], "en", "de"), (["de-AT"], "en", "de"), (["fr", "de"], "en", "de"), (["fr"], "de;q=0.3, fr", "de"), ([], "fr", "en"),
            ([], "en;q=0.5, de", "de"), ([], "de;q=0, en", "en"), (["DE"], "", "de"), (["den"], "", "en"),
        ])
    func language(asked: [String], accepted: String, expected: String) {
        #expect(PageTexts.preferred(by: asked + PageTexts.tags(acceptLanguage: accepted)).language == expected)
    }
}
