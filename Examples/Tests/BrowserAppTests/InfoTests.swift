import AuthFoundation
import ExampleTestSupport
import Foundation
import Testing
import Wording

@testable import BrowserApp

@MainActor
@Suite("Token and profile texts of the browser app")
struct InfoTests {
    private static let languages = ["en", "de"].map { Wording(bundle: resources, language: $0) }

    /// Returns a token with these claims.
    private func token(_ claims: String) throws -> JWT {
        let part = { (text: String) in
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        return try JWT([part(#"{"alg":"none"}"#), part(claims), "c2ln"].joined(separator: "."))
    }

    @Test("The browser app shows a token's dates in the user's language and time zone")
    func tokenInfo() throws {
        let token = try token(#"{"iss":"https://id.example.com","preferred_username":"jane","auth_time":1700000000,"iat":1700000060}"#)
        let zone = try #require(TimeZone(identifier: "UTC"))
        let texts = Self.languages.map { words in
            TokenInfo(idToken: token, in: words, timeZone: zone).toString(in: words).replacing("\u{202F}", with: " ")
        }
        #expect(
            texts == [
                """
                ID Token: \(token.rawValue)
                Preferred username: jane
                Token Issuer: https://id.example.com
                Auth time: Nov 14, 2023 at 10:13:20 PM
                Issued at: Nov 14, 2023 at 10:14:20 PM
                """,
                """
                ID-Token: \(token.rawValue)
                Bevorzugter Benutzername: jane
                Aussteller: https://id.example.com
                Anmeldezeit: 14.11.2023, 22:13:20
                Ausgestellt: 14.11.2023, 22:14:20
                """,
            ])
        #expect(!TokenInfo(idToken: token).claims().contains(token.rawValue), "VoiceOver must not read the token.")
    }

    @Test("The browser app shows which values of a token are missing")
    func emptyToken() throws {
        let info = TokenInfo(idToken: try token("{}"), in: Self.languages[0])
        #expect(info.tokenIssuer == "No Issuer found" && info.preferredUsername == "No preferred_username found")
        #expect(info.authTime == nil && info.issuedAt == nil)
        #expect(info.claims(in: Self.languages[0]).split(separator: "\n").count == 2)
    }

    @Test("The browser app shows a profile's date in the user's language and time zone")
    func userInfo() throws {
        let user = try UserInfo(JSON(Data(#"{"sub":"00u1","name":"Jane Doe","updated_at":1700000000}"#.utf8)))
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let texts = Self.languages.map { UserInfoModel(user: user).text(in: $0, timeZone: zone).replacing("\u{202F}", with: " ") }
        #expect(
            texts == [
                "Name: Jane Doe\nUsername: No Username set\nUpdated at: Nov 14, 2023 at 11:13 PM",
                "Name: Jane Doe\nBenutzername: Kein Benutzername angegeben\nGeändert: 14.11.2023, 23:13",
            ])
        let unknown = UserInfoModel(user: try UserInfo(JSON(Data("{}".utf8))))
        #expect(unknown.text(in: Self.languages[0]) == "Name: No Name set\nUsername: No Username set")
    }

    @Test("Labels of the browser app show a decorative symbol, and the text for screen readers omits the symbol")
    func marks() {
        for label in [
            AuthText.refresh, AuthText.tokenInfo, AuthText.userInfo, AuthText.message, AuthText.privateMessage, AuthText.status(.loggedIn),
        ] {
            #expect(label.text == label.mark + " " + label.words && !label.words.contains(label.mark))
        }
    }
}
