import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

/// An issuer whose texts would control the user's terminal, or imitate lines of the command, if they were shown unchanged.
final class HostileIssuer: Sendable {
    /// Escape sequences, all kinds of line breaks, and characters that change the direction of text.
    static let text =
        "evil\u{1B}[2J\u{1B}]0;title\u{7}\r\nFORGED line\nFORGED line\u{2028}FORGED line\u{85}FORGED line\u{202E}\u{9B}31m\u{7F}\u{0}"

    private let server: HostileServer
    let issuer: String
    let clientID = "hostile-app"

    /// - Parameters:
    ///   - hasRevocation: Whether the discovery document names a revocation endpoint.
    ///   - refuses: Whether the token endpoint refuses every request.
    ///   - tokenError: The error code of refusals; `nil` for a hostile one.
    init(hasRevocation: Bool = true, refuses: Bool = false, tokenError: String? = nil) throws {
        let key = try SigningKey.generate(.es256, keyID: "key")
        let port = Locked(0)
        server = try HostileServer { head in
            let origin = "http://127.0.0.1:\(port.withLock { $0 })"
            return Self.answer(to: head, origin: origin, key: key, hasRevocation: hasRevocation, refuses: refuses, tokenError: tokenError)
        }
        let bound = server.port
        port.withLock { $0 = bound }
        issuer = "http://127.0.0.1:\(server.port)"
    }

    var heads: [String] { server.heads }
    var arguments: [String] { ["--issuer", issuer, "--client-id", clientID] }

    private static func answer(
        to head: String, origin: String, key: SigningKey, hasRevocation: Bool, refuses: Bool, tokenError: String?
    ) -> HostileServer.Answer {
        let target = head.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
        let refusal: JSONValue = [
            "error": .string(tokenError ?? "invalid_" + text), "error_description": .string(text),
        ]
        let apiRefusal: JSONValue = [
            "errorCode": .string("E" + text), "errorSummary": .string(text), "errorCauses": [["errorSummary": .string(text)]],
        ]
        switch target.split(separator: "?")[0] {
        case "/.well-known/openid-configuration":
            var document: JSONValue = [
                "issuer": .string(origin), "authorization_endpoint": .string(origin + "/authorize"),
                "token_endpoint": .string(origin + "/token"), "jwks_uri": .string(origin + "/keys"),
                "userinfo_endpoint": .string(origin + "/userinfo"), "device_authorization_endpoint": .string(origin + "/device"),
                "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["ES256"],
            ]
            if hasRevocation { document["revocation_endpoint"] = .string(origin + "/revoke") }
            return json(200, document)
        case "/keys": return json(200, ["keys": .array([key.publicKey?.json()].compactMap { $0 })])
        case "/token" where !refuses:
            let now = Int64(Date().timeIntervalSince1970)
            let claims: JSONValue = [
                "iss": .string(origin), "aud": "hostile-app", "sub": .string(text), "iat": .integer(now), "exp": .integer(now + 3600),
                "auth_time": .integer(now), "preferred_username": .string(text), "name": .string(text),
            ]
            guard let idToken = try? key.sign(claims) else { return json(500, refusal) }
            return json(
                200,
                [
                    "token_type": .string("Bearer"), "expires_in": 3600, "access_token": "access-evil",
                    "refresh_token": "refresh\u{1B}[2Jevil\u{9B}", "scope": .string("openid " + text), "id_token": .string(idToken),
                ])
        case "/userinfo":
            return json(
                200, ["sub": .string(text), "evil\u{1B}[2J\nFORGED": .string(text), "name": .string(text), "nested": [.string(text)]])
        case "/device":
            return json(
                200,
                [
                    "device_code": "device", "user_code": .string(text), "verification_uri": .string(origin + "/activate"),
                    "expires_in": 600, "interval": 1,
                ])
        case "/api/v1/authn":
            return json(
                200,
                [
                    "stateToken": "state", "status": "MFA_REQUIRED", "expiresAt": "2099-01-01T00:00:00.000Z",
                    "_embedded": [
                        "user": ["id": "user", "profile": ["login": .string(text)]],
                        "factors": [
                            [
                                "id": "factor", "factorType": "question", "provider": "OKTA", "vendorName": .string(text),
                                "profile": ["question": .string(text), "questionText": .string(text)],
                                "_links": ["verify": ["href": .string(origin + "/verify"), "hints": ["allow": ["POST"]]]],
                            ]
                        ],
                    ],
                    "_links": ["cancel": ["href": .string(origin + "/cancel"), "hints": ["allow": ["POST"]]]],
                ])
        case "/authorize": return .bytes("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage")
        case "/token", "/revoke": return json(400, refusal)
        default: return json(400, apiRefusal)
        }
    }

    private static func json(_ status: Int, _ body: JSONValue) -> HostileServer.Answer {
        let text = body.serializedString
        return .bytes(
            "HTTP/1.1 \(status) Status\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
        )
    }
}
