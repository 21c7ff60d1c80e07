import Foundation
import TestSupport

@testable import AuthFoundation

extension OAuth2Client.Configuration {
    static var fixture: Self {
        get throws {
            OAuth2Client.Configuration(
                issuerURL: try url(ScriptedIssuer.base), clientId: "app", scope: "openid profile offline_access")
        }
    }
}

extension Token {
    /// Returns a token with the members of a server's response.
    static func fixture(
        id: String = "session-1", access: String = "access-1", refresh: String? = "refresh-1", deviceSecret: String? = nil,
        expiresIn: Int64 = 3600, issuedAt: Date = Date(timeIntervalSince1970: 1_800_000_000), claims: [String: JSON]? = nil
    ) throws -> Token {
        var members: [String: JSON] = [
            "token_type": .string("Bearer"), "access_token": .string(access), "expires_in": .integer(expiresIn),
            "scope": .string("openid profile offline_access"),
        ]
        members["refresh_token"] = refresh.map(JSON.string)
        members["device_secret"] = deviceSecret.map(JSON.string)
        if let claims {
            let header = Data(#"{"alg":"RS256","kid":"key-1","typ":"JWT"}"#.utf8).base64URLEncoded
            let body = JSON.object(claims).text?.base64URLEncoded ?? ""
            members["id_token"] = .string("\(header).\(body).\(Data("signature".utf8).base64URLEncoded)")
        }
        return try Token(
            id: id, issuedAt: issuedAt, context: Token.Context(configuration: .fixture), response: .object(members))
    }
}

extension ScriptedIssuer.Reply {
    static let invalidGrant = json(#"{"error":"invalid_grant","error_description":"The refresh token is invalid."}"#, status: 400)

    static func tokens(_ access: String, refresh: String? = nil, expiresIn: Int = 3600) -> Self {
        let refreshMember = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
        return json(#"{"token_type":"Bearer","access_token":"\#(access)","expires_in":\#(expiresIn)\#(refreshMember)}"#)
    }
}
