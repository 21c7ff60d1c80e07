import Foundation
import JOSE
import Testing

@Suite("Pushed authorization requests (Documentation/Protocol/OAuth.md §5.2)")
struct PushedRequestWireTests {
    private static let app = WireRelyingParty.webApp
    private static let basic = ("Authorization", "Basic " + Data("web-app:web-app-secret-01234".utf8).base64EncodedString())

    private static func push(
        _ body: JSONValue, _ wire: WireClient, type: String = "application/json", headers: [(String, String)] = [basic]
    ) async throws -> WireResponse {
        try await wire.call("POST", "\(app.base)/par", headers: [("Content-Type", type)] + headers, body: body.serialized())
    }

    private static func json(_ changes: [String: JSONValue] = [:]) -> JSONValue {
        .object(app.parameters().mapValues(JSONValue.string).merging(changes) { $1 })
    }

    @Test(
        "A pushed authorization request can be a JSON object whose numeric parameters are JSON numbers",
        arguments: ["application/json", "Application/JSON; charset=utf-8"])
    func asJSON(type: String) async throws {
        try await PushServer.with { server in
            let answer = try await Self.push(Self.json(["max_age": 600]), server.wire, type: type)
            #expect(answer.status == 201)
            expectProtocolHeaders(answer)
            let members = try #require(try answer.json.objectValue)
            #expect(Set(members.keys) == ["request_uri", "expires_in"])
            #expect(members["expires_in"] == 300)
            let uri = try #require(members["request_uri"]?.stringValue)
            #expect(uri.hasPrefix("urn:okta:par-"))
            let browser = WireBrowser(server.wire)
            let link = "\(Self.app.base)/authorize?" + Form.encode(["client_id": Self.app.id, "request_uri": uri])
            let code = try Self.app.code(try await browser.signIn(try await browser.follow(try await browser.get(link))))
            #expect(try await Self.app.exchange(code, server.wire).status == 200)
        }
    }

    @Test(
        "A JSON pushed request needs only the client ID of a public client, and exactly one authentication method of a confidential client")
    func clients() async throws {
        let server = try await PushServer.refusing().server
        let reading = JSONValue.object(WireRelyingParty.readingApp.parameters().mapValues(JSONValue.string))
        #expect(try await Self.push(reading, server.wire, headers: []).status == 201)
        try expectRefusal(try await Self.push(Self.json(), server.wire, headers: []), 401, "invalid_client")
        try expectRefusal(try await Self.push(Self.json(["client_id": "unknown"]), server.wire, headers: []), 401, "invalid_client")
        let both = try await Self.push(Self.json(["client_secret": "web-app-secret-01234"]), server.wire)
        try expectRefusal(both, 400, "invalid_request")
    }

    @Test(
        "A pushed JSON request is rejected if a member is neither valid text nor an integer, even if the parameter is unknown",
        arguments: [["a"], ["a": "b"], .null, 1.5, true, "a\u{0}b"] as [JSONValue])
    func members(value: JSONValue) async throws {
        let server = try await PushServer.refusing().server
        for name in ["login_hint", "something_else"] {
            try expectRefusal(try await Self.push(Self.json([name: value]), server.wire), 400, "invalid_request")
        }
    }

    @Test("A pushed JSON body that is malformed, not an object, or has a repeated member is rejected")
    func malformed() async throws {
        let server = try await PushServer.refusing().server
        let good = Self.json().serializedString
        for body in [
            "[]", "\"x\"", "{", "", "[\(good)]", good + good, good.dropLast() + #","x":"1","x":"2"}"#, Form.encode(Self.app.parameters()),
        ] {
            let answer = try await server.wire.call(
                "POST", "\(Self.app.base)/par", headers: [("Content-Type", "application/json"), Self.basic], body: Array(body.utf8))
            try expectRefusal(answer, 400, "invalid_request")
        }
    }

    @Test(
        "The PAR endpoint rejects unsupported content types and methods, and the token endpoint rejects JSON",
        arguments: ["text/json", "application/json; charset=latin1", "text/plain"])
    func types(type: String) async throws {
        let server = try await PushServer.refusing().server
        try expectRefusal(try await Self.push(Self.json(), server.wire, type: type), 400, "invalid_request")
        #expect(try await server.wire.get("\(Self.app.base)/par").status == 405)
        let token = try await server.wire.call(
            "POST", "\(Self.app.base)/token", headers: [("Content-Type", "application/json"), Self.basic],
            body: (["grant_type": "authorization_code", "code": "x"] as JSONValue).serialized())
        try expectRefusal(token, 400, "invalid_request")
    }

    @Test(
        "Each error of a pushed request has its documented status and code, in JSON and in a form",
        arguments: [
            (["redirect_uri": ""], "invalid_request"), (["redirect_uri": "https://evil.example.com/"], "invalid_request"),
            (["scope": ""], "invalid_scope"), (["scope": "openid unknown"], "invalid_scope"), (["response_type": ""], "invalid_request"),
            (["response_type": "id_token"], "unsupported_response_type"),
            (["response_mode": "okta_post_message"], "unsupported_response_mode"),
            (["request_uri": "urn:okta:par-x"], "invalid_request"), (["prompt": "none login"], "invalid_request"),
            (["max_age": "soon"], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
            (["id_token_hint": "x"], "invalid_request"), (["nonce": "a\u{7}"], "invalid_request"), (["dpop_jkt": "x"], "invalid_request"),
        ])
    func errors(changes: [String: String], error: String) async throws {
        let server = try await PushServer.refusing().server
        let asJSON = try await Self.push(Self.json(changes.mapValues(JSONValue.string)), server.wire)
        try expectRefusal(asJSON, 400, error)
        let asForm = try await server.wire.post("\(Self.app.base)/par", Form.encode(Self.app.parameters(changes)), headers: [Self.basic])
        try expectRefusal(asForm, 400, error)
    }

    @Test("A pushed request with OpenID Connect scopes but without openid returns 403 access_denied, and other scopes do not need openid")
    func withoutOpenID() async throws {
        let server = try await PushServer.refusing().server
        for scope in ["profile", "messages.read email", "address offline_access"] {
            try expectRefusal(try await Self.push(Self.json(["scope": .string(scope)]), server.wire), 403, "access_denied")
        }
        for scope in ["messages.read", "messages.read offline_access", "openid profile"] {
            #expect(try await Self.push(Self.json(["scope": .string(scope)]), server.wire).status == 201)
        }
    }

    @Test("A pushed request is rejected for a client without the code grant, an unknown server or a repeated parameter")
    func others() async throws {
        let server = try await PushServer.refusing().server
        let app = WireRelyingParty(id: "no-code-app", redirectURI: "https://nocode.example.com/callback")
        try expectRefusal(try await server.wire.post("\(app.base)/par", Form.encode(app.parameters())), 400, "unauthorized_client")
        let unknown = try await server.wire.post("/oauth2/unknown/v1/par", Form.encode(Self.app.parameters()), headers: [Self.basic])
        #expect(unknown.status == 404)
        let twice = try await server.wire.post(
            "\(Self.app.base)/par", Form.encode(Self.app.parameters()) + "&state=again", headers: [Self.basic])
        try expectRefusal(twice, 400, "invalid_request")
    }
}
