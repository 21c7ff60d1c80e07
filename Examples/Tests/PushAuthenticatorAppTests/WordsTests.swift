import ExampleTestSupport
import Testing
import Wording

@testable import PushAuthenticatorApp

@Suite("Texts of the push authenticator app")
struct WordsTests {
    @Test("Every text of the push authenticator app is translated, and no translation is unused", arguments: ["en", "de"])
    func translated(language: String) throws {
        let translated = Wording.texts(in: resources, language: language)
        #expect(try WordingCheck.differences(app: "PushAuthenticatorApp", translated: translated.keys).isEmpty)
    }
}
