import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Attacks: tokens with characters that are invalid in a header")
struct HostileTokenTests {
    static let values = ["a\r\nX-Role: admin", "a\nb", "a\rb", "a b", "a\tb", "a\u{0}b", "a\u{7F}b", "\u{E4}", "a\u{2028}b"]

    @Test("A token response is rejected if the access token or the token type has a character that is not visible ASCII", arguments: values)
    func rejected(value: String) async throws {
        for member in ["access_token", "token_type"] {
            let issuer = try IssuerFixture()
            var members: [String: JSON] = ["token_type": .string("Bearer"), "access_token": .string("a"), "expires_in": .integer(60)]
            members[member] = .string(value)
            let reply = ScriptedIssuer.Reply.json(try #require(JSON.object(members).text.map { String(decoding: $0, as: UTF8.self) }))
            let error = await #expect(throws: APIClientError.self) { try await issuer.signIn(reply) }
            guard case .cannotParseResponse(let cause)? = error else {
                Issue.record("unexpected: \(String(describing: error))")
                continue
            }
            #expect((cause as? MistypedMemberError)?.key == member)
            #expect(error?.debugDescription.contains("admin") == false)
        }
    }

    @Test("A refresh response is rejected if the access token contains a line break")
    func refreshed() async throws {
        let issuer = try IssuerFixture()
        let old = try await issuer.signIn(issuer.response(refresh: "refresh-1"))
        let reply = issuer.response(access: #"a\r\nX-Role: admin"#)
        issuer.session.on("/v1/token") { _, _ in reply }
        await #expect(throws: APIClientError.self) { try await issuer.client.refresh(old) }
    }

    @Test("An access token that contains every visible ASCII character is accepted")
    func accepted() async throws {
        let all = String(String.UnicodeScalarView((0x21...0x7E).compactMap { Unicode.Scalar($0) }))
        let issuer = try IssuerFixture()
        let members: [String: JSON] = ["token_type": .string("Bearer"), "access_token": .string(all), "expires_in": .integer(60)]
        let reply = ScriptedIssuer.Reply.json(try #require(JSON.object(members).text.map { String(decoding: $0, as: UTF8.self) }))
        #expect(try await issuer.signIn(reply).authorizationHeader == "Bearer \(all)")
    }

    @Test("A token whose response has 64 nested levels can be read after it was stored")
    func storedToken() throws {
        let deep = String(repeating: "[", count: 63) + "1" + String(repeating: "]", count: 63)
        let response = try JSON(#"{"access_token":"a","token_type":"Bearer","expires_in":60,"deep":\#(deep)}"#)
        let token = try Token(
            id: "x", issuedAt: Date(timeIntervalSince1970: 0), context: Token.Context(configuration: .fixture), response: response)
        #expect(try JSONDecoder().decode(Token.self, from: JSONEncoder().encode(token)) == token)
    }
}
