import AuthFoundation
import CountersignUI
import Foundation
import JOSE
import TestSupport
import Testing

@Suite("Texts of the sign-in screens")
struct SignInTextsTests {
    /// The keys and texts in both languages.
    private static let table: [(key: String, text: LocalizedText)] = {
        var table: [(key: String, text: LocalizedText)] = []
        _ = SignInTexts { key, text in
            table.append((key, text))
            return text.english
        }
        return table
    }()

    /// The texts that are equal in both languages.
    private static let common: Set<String> = ["code", "passkey", "requests.system"]

    @Test("The texts follow the language of the app, and a language without texts gives English")
    func languages() {
        #expect(SignInTexts(languageCode: "de-AT").signIn == "Anmelden")
        #expect(SignInTexts(languageCode: "en-GB").signIn == "Sign in")
        #expect(SignInTexts(languageCode: "fr").signIn == "Sign in")
        TextLanguage.$ofTask.withValue(.german) { #expect(SignInTexts() == SignInTexts(languageCode: "de")) }
        TextLanguage.$ofTask.withValue(.english) { #expect(SignInTexts() == SignInTexts(languageCode: "en")) }
    }

    @Test("The German screens show German titles, instructions, factors and problems")
    func german() {
        let texts = SignInTexts(languageCode: "de")
        #expect(texts.title(of: .signedOut) == "Anmelden")
        #expect(texts.message(of: .expired) == "Ihre Sitzung ist beendet. Melden Sie sich erneut an.")
        let push = SignInState.signingIn(SignInStep(.push, factor: .push, factors: [.push], number: "42"))
        #expect(texts.title(of: push) == "Stimmen Sie auf dem Telefon zu")
        #expect(texts.message(of: push) == "Wählen Sie auf dem Telefon diese Zahl:")
        #expect(texts.name(of: .recoveryCode) == "Wiederherstellungscode")
        #expect(texts.message(for: SignInProblem(.tooManyAttempts)).hasPrefix("Zu viele Versuche."))
    }

    @Test("Each text exists in both languages, with the same variable parts")
    func complete() {
        #expect(Self.table.count > 80)
        for (key, text) in Self.table {
            #expect(!text.english.isEmpty && !text.german.isEmpty, "\(key)")
            #expect((text.english == text.german) == Self.common.contains(key), "\(key)")
            #expect(text.english.components(separatedBy: "%@").count == text.german.components(separatedBy: "%@").count, "\(key)")
        }
    }

    @Test("The key of each text is the name of its property")
    func keys() {
        func names(_ value: Any, _ prefix: String = "") -> [String] {
            Mirror(reflecting: value).children.flatMap { label, child -> [String] in
                let name = prefix + (label ?? "")
                return child is String ? [name] : names(child, name + ".")
            }
        }
        let keys = Self.table.map(\.key)
        #expect(Set(keys).count == keys.count)
        #expect(names(SignInTexts()).sorted() == keys.sorted())
    }

    @Test("The String Catalog, which scripts/string-catalog writes, contains exactly the texts of the code")
    func catalog() throws {
        let file = OutsidePart.root.appending(path: "Documentation/CountersignUI.xcstrings")
        let catalog = try JSONValue(parsing: Data(contentsOf: file))
        #expect(catalog["sourceLanguage"]?.stringValue == "en")
        let strings = try #require(catalog["strings"]?.objectValue)
        func text(_ key: String, _ language: String) -> String? {
            strings[key]?["localizations"]?[language]?["stringUnit"]?["value"]?.stringValue
        }
        #expect(Set(strings.keys) == Set(Self.table.map(\.key)))
        for (key, builtIn) in Self.table {
            #expect(text(key, "en") == builtIn.english && text(key, "de") == builtIn.german, "\(key)")
            #expect(strings[key]?["comment"]?.stringValue?.isEmpty == false, "\(key)")
        }
    }

    @Test("An app replaces single texts, or all texts by a table of its bundle, in which keys may be missing")
    func replaced() throws {
        var texts = SignInTexts(languageCode: "en")
        texts.title = "Welcome to Acme"
        texts.problems.offline = "Acme is not reachable."
        #expect(texts.title(of: .signedOut) == "Welcome to Acme" && texts.password == "Password")
        #expect(texts.message(for: SignInProblem(.offline)) == "Acme is not reachable.")

        let folder = TemporaryFolder()
        let table = folder.url.appending(path: "en.lproj/CountersignUI.strings")
        try FileManager.default.createDirectory(at: table.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(#""title" = "Bienvenue"; "problems.offline" = "Hors ligne";"#.utf8).write(to: table)
        let bundle = try #require(Bundle(url: folder.url))
        let ofBundle = TextLanguage.$ofTask.withValue(.english) { SignInTexts(bundle: bundle) }
        #expect(ofBundle.title == "Bienvenue" && ofBundle.problems.offline == "Hors ligne")
        #expect(ofBundle.password == "Password")
    }

    @Test("Each problem has a message of its own, and a problem of a later version has the general one")
    func problems() {
        let texts = SignInTexts(languageCode: "en")
        let codes: [SignInProblem.Code] = [
            .wrongCredentials, .wrongCode, .tooManyAttempts, .denied, .notAnswered, .notAllowed, .factorUnavailable, .tooLate, .noPasskey,
            .passkeyFailed, .browserFailed, .unsupportedStep, .offline, .serverFailed, .misconfigured, .notUnlocked, .storageFailed,
            .failed,
        ]
        let messages = codes.map { texts.message(for: SignInProblem($0)) }
        #expect(Set(messages).count == codes.count)
        #expect(texts.message(for: SignInProblem(.init(rawValue: "later"))) == texts.problems.failed)
        let requests: [PushRequestProblem.Code] = [
            .over, .userNotVerified, .verificationMissing, .untrusted, .accountUnusable, .offline, .failed,
        ]
        #expect(Set(requests.map { texts.message(for: PushRequestProblem($0)) }).count == requests.count)
    }

    @Test("Each step has a title, and each step but the form has an instruction")
    func steps() {
        let texts = SignInTexts(languageCode: "en")
        let steps = [
            SignInStep(.factors), SignInStep(.push), SignInStep(.push, number: "1"), SignInStep(.code, factor: .authenticatorCode),
            SignInStep(.code, factor: .textMessage), SignInStep(.code, factor: .call), SignInStep(.code, factor: .recoveryCode),
            SignInStep(.passkey), SignInStep(.browser),
        ]
        #expect(Set(steps.compactMap(texts.message(of:))).count == steps.count)
        #expect(texts.message(of: SignInStep(.credentials)) == nil && texts.title(of: SignInStep(.credentials)) == "Sign in")
        let factors = SignInOptions(secondFactors: [.push, .passkey, .authenticatorCode, .textMessage, .call, .recoveryCode]).secondFactors
        #expect(Set(factors.map(texts.name(of:))).count == factors.count)
        #expect(texts.title(of: .locked) == "Locked")
    }
}
