import Foundation
import Testing

@testable import AuthFoundation

/// The JSON that okta-mobile-swift stores, as its versions write it. Dates are seconds since 2001.
enum OktaMobileJSON {
    static let issuer = "https://id.example.com/oauth2/default"

    /// Returns an unsigned ID token, such as `e30.e30.c2ln`.
    static func idToken(issuer: String = issuer, client: String = "client-1", subject: String = "user-1") -> String {
        let header = Data(#"{"alg":"RS256","kid":"key-1"}"#.utf8).base64URLEncoded
        let claims = #"{"iss":"\#(issuer)","sub":"\#(subject)","aud":"\#(client)","iat":1799999000,"exp":1800002600}"#
        return "\(header).\(Data(claims.utf8).base64URLEncoded).c2lnbmF0dXJl"
    }

    /// Versions 0.2 to 1.8.
    static func version1(
        id: String = "6D1C0000-0000-4000-8000-000000000001", issuedAt: String = #""issuedAt":821692000.25,"#, access: String = "access-1",
        refresh: String = "refresh-1", idToken: String = idToken(), authentication: String = #","authentication":{"none":{}}"#
    ) -> String {
        """
        {"id":"\(id)",\(issuedAt)"tokenType":"Bearer","expiresIn":3600,"accessToken":"\(access)","scope":"openid profile offline_access",
        "refreshToken":"\(refresh)","idToken":"\(idToken)","deviceSecret":"device-1","context":{"configuration":{"baseURL":"\(issuer)",
        "discoveryURL":"\(issuer)/.well-known/openid-configuration","clientId":"client-1","scopes":"openid profile offline_access"
        \(authentication)},"clientSettings":{"client_id":"client-1","redirect_uri":"com.example:/callback",
        "scope":"openid profile offline_access"}}}
        """
    }

    /// Versions 2.0 and 2.1 write the response as a string, later ones as an object.
    static func version2(
        id: String = "6D1C0000-0000-4000-8000-000000000002", isString: Bool, access: String = "access-2", refresh: String = "refresh-2",
        settings: String = #"{"acr_values":"urn:okta:loa:2fa:any"}"#, idToken: String = idToken()
    ) -> String {
        let response = """
            {"access_token":"\(access)","token_type":"Bearer","expires_in":3600,"scope":"openid","refresh_token":"\(refresh)",\
            "id_token":"\(idToken)","device_secret":"device-2","issued_token_type":"urn:x","future":{"x":[1,null]}}
            """
        let rawValue = isString ? "\"\(response.replacing("\"", with: "\\\""))\"" : response
        return """
            {"id":"\(id)","issuedAt":821692000.25,"context":{"configuration":{"issuerURL":"\(issuer)",
            "discoveryURL":"\(issuer)/.well-known/openid-configuration","clientId":"client-1","scope":"openid offline_access",
            "redirectUri":"com.example:/callback","logoutRedirectUri":"com.example:/logout",
            "authentication":{"clientSecret":{"_0":"client-secret-1"}}},"clientSettings":\(settings)},"rawValue":\(rawValue)}
            """
    }
}

@Suite("Tokens that okta-mobile-swift encoded")
struct OktaMobileTokenTests {
    private func decoded(_ text: String) throws -> Token { try JSONDecoder().decode(Token.self, from: Data(text.utf8)) }

    @Test("A token that version 1 encoded is decoded with its client, its redirect URI and all its tokens")
    func version1() throws {
        let token = try decoded(OktaMobileJSON.version1())
        #expect(token.id == "6D1C0000-0000-4000-8000-000000000001")
        #expect(token.issuedAt == Date(timeIntervalSinceReferenceDate: 821_692_000.25) && token.expiresIn == 3600)
        #expect(token.accessToken == "access-1" && token.refreshToken == "refresh-1" && token.deviceSecret == "device-1")
        #expect(token.tokenType == "Bearer" && token.scope == ["openid", "profile", "offline_access"])
        #expect(token.idToken?.rawValue == OktaMobileJSON.idToken())
        let configuration = token.context.configuration
        #expect(configuration.issuerURL.absoluteString == OktaMobileJSON.issuer && configuration.clientId == "client-1")
        #expect(configuration.discoveryURL.absoluteString == "\(OktaMobileJSON.issuer)/.well-known/openid-configuration")
        #expect(configuration.scope == ["openid", "profile", "offline_access"] && configuration.authentication == .none)
        #expect(configuration.redirectUri?.absoluteString == "com.example:/callback" && configuration.logoutRedirectUri == nil)
        #expect(token.context.acrValues == nil)
    }

    @Test("A token of an early version 1, without client authentication, time of issue or access token, is decoded")
    func earlyVersion1() throws {
        let token = try decoded(OktaMobileJSON.version1(issuedAt: "", access: "", authentication: ""))
        #expect(token.issuedAt == nil && token.accessToken.isEmpty && token.authorizationHeader == nil)
        #expect(token.context.configuration.authentication == .none && token.refreshToken == "refresh-1")
    }

    @Test("A token that version 2 encoded is decoded, whether its response is a string or an object", arguments: [true, false])
    func version2(isString: Bool) throws {
        let token = try decoded(OktaMobileJSON.version2(isString: isString))
        #expect(token.id == "6D1C0000-0000-4000-8000-000000000002")
        #expect(token.issuedAt == Date(timeIntervalSinceReferenceDate: 821_692_000.25) && token.expiresIn == 3600)
        #expect(token.accessToken == "access-2" && token.refreshToken == "refresh-2" && token.deviceSecret == "device-2")
        #expect(token.issuedTokenType == "urn:x" && token.scope == ["openid"] && token.idToken != nil)
        let configuration = token.context.configuration
        #expect(configuration.issuerURL.absoluteString == OktaMobileJSON.issuer && configuration.scope == ["openid", "offline_access"])
        #expect(configuration.redirectUri?.absoluteString == "com.example:/callback")
        #expect(configuration.logoutRedirectUri?.absoluteString == "com.example:/logout")
        #expect(configuration.authentication == .clientSecret("client-secret-1"))
        #expect(token.context.acrValues == ["urn:okta:loa:2fa:any"])
        #expect(token.payload["future"] != nil)
    }

    @Test("A redirect URI in the settings of the flow replaces the one of the configuration, and the other settings are optional")
    func settings() throws {
        let settings = #"{"redirect_uri":"com.example:/other","client_id":"client-1","scope":"openid"}"#
        let token = try decoded(OktaMobileJSON.version2(isString: true, settings: settings))
        #expect(token.context.configuration.redirectUri?.absoluteString == "com.example:/other" && token.context.acrValues == nil)
        #expect(try decoded(OktaMobileJSON.version2(isString: true, settings: "null")).context.acrValues == nil)
    }

    @Test("A decoded token of another version is encoded in this package's form and decoded to an equal value")
    func roundTrip() throws {
        for text in [OktaMobileJSON.version1(access: ""), OktaMobileJSON.version2(isString: true)] {
            let token = try decoded(text)
            let encoded = try JSONEncoder().encode(token)
            #expect(try JSON(encoded)["version"] != nil)
            #expect(try JSONDecoder().decode(Token.self, from: encoded) == token)
        }
    }

    @Test("A token without the data of its client, without an issuer or without an id is refused")
    func refused() throws {
        #expect(throws: TokenError.contextMissing) { try decoded(#"{"id":"a","accessToken":"b","tokenType":"Bearer","expiresIn":1}"#) }
        for (old, new) in [
            ("\"baseURL\"", "\"otherURL\""), (#""id":"6D1C0000-0000-4000-8000-000000000001","#, ""), ("\"tokenType\"", "\"otherType\""),
        ] {
            #expect(throws: DecodingError.self) { try decoded(OktaMobileJSON.version1().replacing(old, with: new)) }
        }
        #expect(throws: DecodingError.self) {
            try decoded(OktaMobileJSON.version2(isString: false).replacing(#""rawValue":{"#, with: #""rawValue":"{","x":{"#))
        }
    }
}
