import ExampleTestSupport
import Testing
import Wording

@testable import PushAuthenticatorApp

@Suite("The words of the app")
struct WordsTests {
    @Test("Every text of view models and views is translated, and no translation is unused", arguments: ["en", "de"])
    func translated(language: String) throws {
        let translated = Wording.texts(in: resources, language: language)
        #expect(try WordingCheck.differences(app: "PushAuthenticatorApp", translated: translated.keys).isEmpty)
    }
}
