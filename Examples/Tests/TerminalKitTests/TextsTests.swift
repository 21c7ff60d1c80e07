import Foundation
import Testing
import Wording

@Suite("Texts of the example apps")
struct TextsTests {
    static let examples = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All folders with texts.
    static var folders: [URL] {
        let roots = [examples, examples.appending(path: "Shared")]
        return roots.flatMap { (try? FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)) ?? [] }
            .filter { FileManager.default.fileExists(atPath: $0.appending(path: "Resources/en.lproj/Localizable.strings").path) }
            .sorted { $0.path < $1.path }
    }

    static func texts(_ folder: URL, _ language: String) throws -> [String: String] {
        let file = folder.appending(path: "Resources/\(language).lproj/Localizable.strings")
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        return try #require(list as? [String: String])
    }

    @Test("Each text of the example apps exists in English and German with the same placeholders", arguments: folders)
    func languages(folder: URL) throws {
        let (english, german) = (try Self.texts(folder, "en"), try Self.texts(folder, "de"))
        #expect(Set(english.keys) == Set(german.keys))
        for (key, text) in english {
            #expect(
                text.lowercased() == key.lowercased(), "The key is the English text; its case tells two things of one English name apart.")
            let places = { (text: String) in text.components(separatedBy: "%").count }
            #expect(places(german[key] ?? "") == places(key), "\(key)")
        }
    }

    @Test("Each text that the example apps use is in the string table, and no text in the string table is unused", arguments: folders)
    func used(folder: URL) throws {
        let keys = Set(try Self.texts(folder, "en").keys)
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        let sources = try files.filter { $0.pathExtension == "swift" }.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let named = Set(sources.matches(of: /wording\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.1) })
        #expect(named.subtracting(keys) == [], "\(folder.lastPathComponent): not in Localizable.strings")
        for key in keys { #expect(sources.contains("\"\(key)\""), "\(folder.lastPathComponent): no source uses “\(key)”") }
    }

    @Test("Values replace the placeholders of a text unchanged")
    func values() {
        let wording = Wording(bundle: .main, language: "en")
        #expect(wording("a %@ b %@", "1", "%@") == "a 1 b %@")
        #expect(wording("%2$@ %1$@ 100%% %", "a", "b") == "b a 100% %")
        #expect(wording("%@") == "")
    }

    @Test(
        "The language of the example apps comes from LC_ALL, LC_MESSAGES or LANG, in this order",
        arguments: [
            (["LANG": "de_CH.UTF-8"], "de"), (["LANG": "C.UTF-8"], "en"), ([:], "en"), (["LC_ALL": "POSIX", "LANG": "de"], "en"),
            (["LC_ALL": "", "LC_MESSAGES": "fr", "LANG": "de"], "fr"),
        ])
    func environment(variables: [String: String], language: String) {
        #expect(Wording.language(of: variables) == language)
    }
}
