import ExampleTestSupport
import Testing
import Wording

@testable import PushAuthenticatorApp

@Suite("The words of the app")
struct WordsTests {
    @Test("every text of the view models and the faces is translated, and no other", arguments: ["en", "de"])
    func translated(language: String) throws {
        let translated = Wording.texts(in: resources, language: language)
        #expect(try WordingCheck.differences(app: "PushAuthenticatorApp", translated: translated.keys).isEmpty)
    }
}
