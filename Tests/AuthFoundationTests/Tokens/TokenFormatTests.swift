import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Received and stored tokens")
struct TokenFormatTests {
    /// A token in the stored format 1. This format must stay readable, so never change this text.
    private static let format1 = """
        {"version":1,"id":"Zk3a9qWc0rTn5uPzYx1LmA","issuedAt":1800000000.25,
        "context":{"configuration":{"issuerURL":"https://id.example.com/oauth2/default",
        "discoveryURL":"https://id.example.com/oauth2/default/.well-known/openid-configuration","clientId":"app",
        "scope":"openid profile offline_access","redirectUri":"com.okta.app:/callback","authentication":{"none":{}}},
        "acrValues":["urn:okta:loa:2fa:any"]},
        "response":{"token_type":"Bearer","access_token":"access-1","refresh_token":"refresh-1","expires_in":3600,"id":"not-ours",
        "scope":"openid profile","future":{"x":[1,null]}}}
        """

    @Test("A token that was stored in format 1 can be decoded")
    func readsFormat1() throws {
        let token = try JSONDecoder().decode(Token.self, from: Data(Self.format1.utf8))
        #expect(token.id == "Zk3a9qWc0rTn5uPzYx1LmA" && token.issuedAt == Date(timeIntervalSince1970: 1_800_000_000.25))
        #expect(token.accessToken == "access-1" && token.refreshToken == "refresh-1" && token.expiresIn == 3600)
        #expect(token.scope == ["openid", "profile"] && token.context.configuration.clientId == "app")
        #expect(token.context.acrValues == ["urn:okta:loa:2fa:any"])
        #expect(try JSONDecoder().decode(Token.self, from: JSONEncoder().encode(token)) == token)
    }

    @Test("A token is encoded exactly as in stored format 1")
    func writesFormat1() throws {
        let token = try JSONDecoder().decode(Token.self, from: Data(Self.format1.utf8))
        #expect(try JSON(JSONEncoder().encode(token)) == JSON(Self.format1))
    }

    @Test("A stored token of a newer format is rejected with an error that has the version and tells the user to update the app")
    func refusesNewerFormat() throws {
        let newer = Self.format1.replacing("\"version\":1", with: "\"version\":2")
        let error = #expect(throws: TokenFormatError(version: 2)) { try JSONDecoder().decode(Token.self, from: Data(newer.utf8)) }
        #expect(error?.userText.suggestion == .updateApp && error?.debugDescription.contains("format 2") == true)
    }

    @Test("A server's response with a member called id is not decoded as a stored token")
    func responseWithID() async throws {
        let issuer = try IssuerFixture()
        let token = try await issuer.signIn(
            .json(#"{"id":"theirs","version":1,"token_type":"Bearer","access_token":"a","expires_in":"3600","extra":{"x":[1]}}"#))
        #expect(token.id != "theirs" && token.expiresIn == 3600 && token.context.configuration == issuer.client.configuration)
        #expect(try JSONDecoder().decode(Token.self, from: JSONEncoder().encode(token)) == token)
        #expect(throws: TokenError.contextMissing) {
            try JSONDecoder().decode(Token.self, from: Data(#"{"id":"x","token_type":"Bearer","access_token":"a","expires_in":1}"#.utf8))
        }
    }

    @Test(
        "The error for a missing or invalid member of a token response names the member",
        arguments: [
            (#"{"access_token":"a","expires_in":1}"#, "token_type"), (#"{"token_type":"Bearer","expires_in":1}"#, "access_token"),
            (#"{"token_type":"Bearer","access_token":"a"}"#, "expires_in"),
            (#"{"token_type":"Bearer","access_token":"a","expires_in":"soon"}"#, "expires_in"),
            (#"{"token_type":"Bearer","access_token":17,"expires_in":1}"#, "access_token"),
            (#"{"token_type":"Bearer","access_token":null,"expires_in":1}"#, "access_token"),
            (#"{"token_type":"Bearer","access_token":"a","expires_in":1,"refresh_token":{}}"#, "refresh_token"),
            (#"[]"#, "token response"), ("", "token_type"),
        ])
    func namesMember(body: String, name: String) async throws {
        let issuer = try IssuerFixture()
        let error = await #expect(throws: APIClientError.self) { try await issuer.signIn(.json(body)) }
        #expect(error?.debugDescription.contains(name) == true, "\(error?.debugDescription ?? "")")
        #expect(error?.debugDescription.contains("17") == false)
    }

    @Test("Neither the description nor the mirror of a token contains a secret")
    func hidesSecrets() throws {
        let token = try Token.fixture(access: "secret-a", refresh: "secret-r", deviceSecret: "secret-d")
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains("secret-")) }
    }

    @Test(
        "The Authorization header has the standard spelling of the scheme, regardless of the token type's case",
        arguments: [("bearer", "Bearer a"), ("BEARER", "Bearer a"), ("dpop", "DPoP a"), ("MAC", "MAC a")])
    func scheme(type: String, header: String) throws {
        let response = JSON.object(["token_type": .string(type), "access_token": .string("a"), "expires_in": .integer(3600)])
        let token = try Token(
            id: "session-1", issuedAt: Date(timeIntervalSince1970: 1_800_000_000), context: Token.Context(configuration: .fixture),
            response: response)
        #expect(token.authorizationHeader == header)
        #expect(token.tokenType == type)
    }

    @Test("Token.token(of:) returns each contained token, and the Authorization header consists of token type and access token")
    func kinds() throws {
        let token = try Token.fixture(access: "a", refresh: "r", deviceSecret: "d")
        #expect(token.token(of: .accessToken) == "a" && token.token(of: .refreshToken) == "r" && token.token(of: .deviceSecret) == "d")
        #expect(token.token(of: .idToken) == nil && token.authorizationHeader == "Bearer a")
    }
}
