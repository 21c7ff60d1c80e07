import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Requests on the wire")
struct WireFormatTests {
    @Test(
        "Form encoding escapes reserved characters and line breaks",
        arguments: [
            ("a b", "a+b"), ("+/&=?", "%2B%2F%26%3D%3F"), ("100%", "100%25"), ("é", "%C3%A9"), ("a-b_c.d~e*", "a-b_c.d~e*"),
            ("one\ntwo", "one%0D%0Atwo"), ("one\r\ntwo", "one%0D%0Atwo"), ("", ""),
        ])
    func escapes(value: String, expected: String) {
        #expect(FormEncoding.body([("name", value)]) == "name=\(expected)")
    }

    @Test("Form encoding sorts the fields by name")
    func sorts() {
        #expect(FormEncoding.body([("b", "2"), ("a", "1"), ("a_b", "3")]) == "a=1&a_b=3&b=2")
    }

    @Test("Adding parameters to a URL keeps the existing query, and escapes values so that they cannot add parameters")
    func query() {
        #expect(FormEncoding.query(adding: [("client_id", "a&b=c d")], to: "tenant=1") == "tenant=1&client_id=a%26b%3Dc%20d")
    }

    @Test("A token request is a form POST with the parameters of client and grant, and without cookies")
    func tokenRequest() async throws {
        let issuer = try IssuerFixture()
        _ = try await issuer.signIn(issuer.response())
        let request = try #require(issuer.session.requests("/v1/token").first)
        #expect(request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded; charset=UTF-8")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/json; charset=UTF-8")
        #expect(request.value(forHTTPHeaderField: "User-Agent")?.contains("okta-authfoundation-swift/") == true)
        #expect(!request.httpShouldHandleCookies)
        #expect(
            String(decoding: request.httpBody ?? Data(), as: UTF8.self)
                == "client_id=app&grant_type=password&password=a+b%26c&scope=openid+profile+offline_access&username=jane")
    }

    @Test(
        "The technical description of a response that is not JSON contains the URL, size, content type and advice, but not the response body"
    )
    func answerOfAProxy() async throws {
        let issuer = try IssuerFixture()
        let page = ScriptedIssuer.Reply(headers: ["Content-Type": "text/html"], body: "<html>secret</html>")
        issuer.session.on("/v1/token") { _, _ in page }
        let token = try Token.fixture()
        let error = try #require(await #expect(throws: (any Error).self) { try await issuer.client.refresh(token) })
        let text = technicalText(of: error)
        for part in ["id.example.com/oauth2/default/v1/token", "19 bytes", "“text/html”", "no JSON", "Check that the issuer's URL"] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(!text.contains("secret"))
    }

    @Test("A refresh request has a scope parameter only if the app requests a part of the scopes")
    func refreshRequest() async throws {
        let issuer = try IssuerFixture()
        let reply = issuer.response()
        issuer.session.on("/v1/token") { _, _ in reply }
        let token = try Token.fixture()
        _ = try await issuer.client.refresh(token)
        _ = try await issuer.client.refresh(token, scope: ["openid"])
        let forms = issuer.session.forms("/v1/token")
        #expect(forms.first == ["client_id": "app", "grant_type": "refresh_token", "refresh_token": "refresh-1"])
        #expect(forms.last?["scope"] == "openid")
    }

    @Test("The client's additional HTTP headers are sent with a token request")
    func headers() async throws {
        let issuer = try IssuerFixture()
        issuer.client.additionalHttpHeaders = ["X-Device-Token": "d1"]
        _ = try await issuer.signIn(issuer.response())
        #expect(issuer.session.requests("/v1/token").first?.value(forHTTPHeaderField: "X-Device-Token") == "d1")
    }

    @Test("OAuth errors and Okta API errors are decoded into a technical description, and any other error into the status code")
    func errors() async throws {
        let issuer = try IssuerFixture()
        let oauth = await #expect(throws: APIClientError.self) {
            try await issuer.signIn(
                .json(#"{"error":"invalid_grant","error_description":"The credentials were wrong.","left":2}"#, status: 400))
        }
        #expect(oauth?.serverError?.code == .invalidGrant)
        #expect(oauth?.serverError?.statusCode == 400)
        #expect(oauth?.serverError?.additionalValues["left"] as? Int == 2)
        #expect(oauth?.debugDescription == "The credentials were wrong. (invalid_grant, status 400)")
        let api = await #expect(throws: APIClientError.self) {
            try await issuer.signIn(
                .json(
                    #"{"errorCode":"E0000011","errorSummary":"Invalid token.","errorLink":"l","errorId":"i","errorCauses":[{"errorSummary":"Old."}]}"#,
                    status: 401))
        }
        #expect(api?.debugDescription == "Invalid token. Old. (E0000011, status 401, error i)")
        let neither = await #expect(throws: APIClientError.self) { try await issuer.signIn(.json("<html>", status: 500)) }
        #expect(neither == .statusCode(500))
    }

    @Test("A 401 without a body is decoded as an OAuth error from the WWW-Authenticate header")
    func challenge() async throws {
        let issuer = try IssuerFixture()
        issuer.session.on("/v1/userinfo") { _, _ in
            ScriptedIssuer.Reply(
                status: 401, headers: ["WWW-Authenticate": #"Bearer error="invalid_token", error_description="The token has expired.""#])
        }
        let error = await #expect(throws: APIClientError.self) { try await issuer.client.userInfo(token: .fixture()) }
        #expect(error?.serverError?.code == .invalidToken && error?.serverError?.statusCode == 401)
        #expect(error?.isTransient == false)
        #expect(error?.debugDescription.contains("The token has expired.") == true)
    }

    @Test("The debug log of requests contains neither passwords nor tokens")
    func redacts() async throws {
        let lines = Locked<[String]>([])
        let observer = DebugAPIRequestObserver { line in lines.withLock { $0.append(line) } }
        observer.showHeaders = true
        let issuer = try IssuerFixture()
        observer.startObserving(client: issuer.client)
        issuer.session.on("/v1/userinfo") { _, _ in .json(#"{"sub":"00u1"}"#) }
        let token = try await issuer.signIn(issuer.response(access: "secret-access", refresh: "secret-refresh"))
        _ = try await issuer.client.userInfo(token: token)
        _ = try await issuer.client.refresh(token)
        let text = lines.withLock { $0.joined(separator: "\n") }
        #expect(text.contains("grant_type=password") && text.contains("password=…") && text.contains("Authorization: …"))
        for secret in ["a+b%26c", "secret-access", "secret-refresh"] { #expect(!text.contains(secret)) }
    }

    @Test("The debug log shows harmless fields of a form, and nothing of a body with another content type")
    func debugLogOfBodies() throws {
        var request = URLRequest(url: try url("https://id.example.com/v1/token?scope=openid&login_hint=jane"))
        request.httpMethod = "POST"
        func text(_ type: String?, _ body: String) -> String {
            request.setValue(type, forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(body.utf8)
            return RedactedRequest(request, showsHeaders: false).description
        }
        let start = "POST https://id.example.com/v1/token?scope=openid&login_hint=…\n"
        let form = text("application/x-www-form-urlencoded; charset=UTF-8", "grant_type=password&password=secret")
        #expect(form == start + "grant_type=password&password=…")
        let json = #"{"username":"jane","password":"secret=1&scope=more"}"#
        for type in ["application/json", nil, "text/plain"] { #expect(text(type, json) == start + "…") }
    }

    @Test(
        "A redirect is followed within the origin, and to another https origin only for a GET request without credentials",
        arguments: [
            ("GET", false, "https://id.example.com/b", true), ("POST", true, "https://id.example.com/b", true),
            ("GET", false, "https://other.example.com/", true), ("GET", true, "https://other.example.com/", false),
            ("POST", false, "https://other.example.com/", false), ("GET", false, "http://id.example.com/b", false),
            ("GET", true, "https://id.example.com:8443/b", false),
        ])
    func redirects(method: String, authorized: Bool, target: String, isFollowed: Bool) throws {
        var original = URLRequest(url: try url("https://id.example.com/a"))
        original.httpMethod = method
        if authorized { original.setValue("Bearer x", forHTTPHeaderField: "Authorization") }
        #expect(RedirectRule.follows(URLRequest(url: try url(target)), from: original) == isFollowed)
    }

    @Test("Client authentication supports client_secret_post, client_secret_basic, private_key_jwt and client_secret_jwt")
    func clientAuthentication() throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let endpoint = try url("https://id.example.com/v1/token")
        var configuration = try OAuth2Client.Configuration.fixture
        func proof(_ method: OAuth2Client.ConfidentialAuthentication) throws -> ClientProof {
            configuration.confidentialAuthentication = method
            return try ClientProof(configuration: configuration, endpoint: endpoint, now: now, randomness: .system)
        }
        #expect(try proof(.clientSecretPost("s3cret")).parameters["client_secret"]?.stringValue == "s3cret")
        #expect(
            try proof(.clientSecretBasic("s3 cret:")).headers["Authorization"]
                == "Basic \(Data("app:s3+cret%3A".utf8).base64EncodedString())")
        let key = try IssuerKeys.es256.get()
        let jwk = key.privateJWK.json(includingPrivateMembers: true).serializedString
        let assertion = try JWT(try #require(proof(.privateKeyJWT(jwk: jwk, algorithm: .es256)).parameters["client_assertion"]).stringValue)
        #expect(assertion.issuer == "app" && assertion.subject == "app" && assertion.audience == endpoint.absoluteString)
        #expect(assertion.expirationTime == now.addingTimeInterval(300))
        let keys = try JSONDecoder().decode(JWKS.self, from: Data(IssuerKeys.set([key]).utf8))
        #expect(try assertion.validate(using: keys))
        let secret = String(repeating: "x", count: 32)
        let signed = try #require(proof(.clientSecretJWT(secret)).parameters["client_assertion"]).stringValue
        #expect(try JWT(signed).header.algorithm == .hs256)
        #expect(throws: ClientKeyError.self) { try proof(.privateKeyJWT(jwk: "{}")) }
        #expect(!"\(configuration)".contains("s3"))
    }
}
