import ExampleTestSupport
import Testing
import Wording

@testable import ClassicApp

@Suite("Texts of the classic app")
struct WordsTests {
    @Test("Every text of the classic app is translated, and no translation is unused", arguments: ["en", "de"])
    func translated(language: String) throws {
        let translated = Wording.texts(in: resources, language: language)
        #expect(try WordingCheck.differences(app: "ClassicApp", translated: translated.keys).isEmpty)
    }
}
