import Testing

@testable import AuthFoundation

@Suite("Language of the texts for users")
struct TextLanguageTests {
    @Test(
        "The language comes from the first variable of the environment that is set, by the rules of POSIX and gettext",
        arguments: [
            ([:], TextLanguage.english), (["LANG": "de_DE.UTF-8"], .german), (["LANG": "DE"], .german), (["LANG": ""], .english),
            (["LANG": "de_DE", "LC_MESSAGES": "en_GB"], .english), (["LANG": "en_US", "LC_ALL": "de_AT"], .german),
            (["LANG": "en_US", "LC_ALL": "", "LC_MESSAGES": "de"], .german), (["LANG": "fr_FR"], .english),
            (["LANG": "fr_FR", "LANGUAGE": "it:de:en"], .german), (["LANG": "C", "LANGUAGE": "de"], .english),
            (["LANG": "C.UTF-8", "LANGUAGE": "de"], .english), (["LANG": "POSIX", "LANGUAGE": "de"], .english),
            (["LANGUAGE": "de"], .english),
        ])
    func environment(variables: [String: String], expected: TextLanguage) {
        #expect(TextLanguage.best(ofEnvironment: variables) == expected)
    }

    @Test(
        "The language is the first of the app's languages that has texts, and English if none has",
        arguments: [(["de-AT", "en"], TextLanguage.german), (["fr", "de"], .german), (["den"], .english), ([], .english)])
    func tags(tags: [String], expected: TextLanguage) {
        #expect(TextLanguage.best(of: tags) == expected)
    }
}
