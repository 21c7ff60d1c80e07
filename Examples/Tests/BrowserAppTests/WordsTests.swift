import ExampleTestSupport
import Testing
import Wording

@testable import BrowserApp

@Suite("Texts of the browser app")
struct WordsTests {
    @Test("Every text of the browser app is translated, and no translation is unused", arguments: ["en", "de"])
    func translated(language: String) throws {
        let translated = Wording.texts(in: resources, language: language)
        #expect(try WordingCheck.differences(app: "BrowserApp", translated: translated.keys).isEmpty)
    }
}
