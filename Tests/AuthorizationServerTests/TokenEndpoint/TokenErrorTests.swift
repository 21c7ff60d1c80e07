import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Token endpoint errors")
struct TokenErrorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var form: String
        var path = "/oauth2/default/v1/token"
        var status = 400
        var error: String
        var text: String

        var testDescription: String { "\(error): \(form.prefix(90))" }
    }

    private static let jane = "username=jane.doe@example.com&password=Correct-Horse-7"
    private static let noSuchClient = "The client credentials are wrong, or the client is not known."
    private static let severalKinds = "The request carries more than one kind of client credentials."
    private static let assertionType =
        "A client assertion needs both client_assertion and client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer."

    static let rows: [Row] = [
        // 400 invalid_request: missing or malformed parameter, several client credentials, bad assertion type
        Row(form: "client_id=password-app", error: "invalid_request", text: "The request needs the parameter grant_type."),
        Row(
            form: "client_id=password-app&grant_type=password&username=jane.doe@example.com&scope=openid", error: "invalid_request",
            text: "The request needs the parameter password."),
        Row(
            form: "client_id=password-app&grant_type=password&username=&password=x&scope=openid", error: "invalid_request",
            text: "The request needs the parameter username."),
        Row(
            form: "client_id=password-app&grant_type=refresh_token", error: "invalid_request",
            text: "The request needs the parameter refresh_token."),
        Row(
            form: "client_id=password-app&grant_type=password&grant_type=password", error: "invalid_request",
            text: "The parameter 'grant_type' occurs more than once."),
        Row(
            form: "client_id=password-app&grant_type=pass%2", error: "invalid_request",
            text: "The request has a percent sign that two hexadecimal digits do not follow."),
        Row(
            form: "client_id=password-app&grant_type=password&password=%FF", error: "invalid_request",
            text: "The request has a parameter that is not UTF-8."),
        Row(
            form: "client_id=service-app&client_secret=x&client_assertion=y&grant_type=client_credentials", error: "invalid_request",
            text: severalKinds),
        Row(
            form: "client_id=service-app&client_assertion_type=wrong&client_assertion=y&grant_type=client_credentials",
            error: "invalid_request", text: assertionType),
        // 401 invalid_client: missing, unknown or wrong credentials
        Row(form: "grant_type=password", status: 401, error: "invalid_client", text: "The request carries no client credentials."),
        Row(form: "grant_type=password&client_id=unknown", status: 401, error: "invalid_client", text: noSuchClient),
        Row(
            form: "grant_type=client_credentials&client_id=service-app&client_secret=wrong&scope=messages.read", status: 401,
            error: "invalid_client", text: noSuchClient),
        Row(
            form: "grant_type=client_credentials&client_id=service-app&scope=messages.read", status: 401, error: "invalid_client",
            text: noSuchClient),
        // 400 invalid_grant: the same response for a wrong password, an unknown user and a suspended user
        Row(
            form: "client_id=password-app&grant_type=password&username=jane.doe@example.com&password=wrong&scope=openid",
            error: "invalid_grant", text: "The credentials provided were invalid."),
        Row(
            form: "client_id=password-app&grant_type=password&username=unknown&password=wrong&scope=openid", error: "invalid_grant",
            text: "The credentials provided were invalid."),
        Row(
            form: "client_id=password-app&grant_type=password&username=suspended@example.com&password=Correct-Horse-8&scope=openid",
            error: "invalid_grant", text: "The credentials provided were invalid."),
        Row(
            form: "client_id=password-app&grant_type=refresh_token&refresh_token=unknown", error: "invalid_grant",
            text: "The refresh token is invalid or expired."),
        // 400 unauthorized_client, unsupported_grant_type
        Row(
            form: "client_id=password-app&grant_type=client_credentials&scope=messages.read", error: "unauthorized_client",
            text: #"The client is not authorized to use the grant_type "client_credentials". Enable it for the application."#),
        Row(
            form: "client_id=refresh-app&grant_type=password&\(jane)&scope=openid", error: "unauthorized_client",
            text: #"The client is not authorized to use the grant_type "password". Enable it for the application."#),
        Row(
            form: "client_id=password-app&grant_type=urn:ietf:params:oauth:grant-type:saml2-bearer&assertion=x",
            error: "unsupported_grant_type", text: "The authorization server does not support this grant_type."),
        // 400 invalid_scope: missing or unknown scope
        Row(
            form: "client_id=password-app&grant_type=password&\(jane)", error: "invalid_scope",
            text: "The request names no scope, and the server has no default ones."),
        Row(
            form: "client_id=password-app&grant_type=password&\(jane)&scope=openid+launch_rockets", error: "invalid_scope",
            text: "One or more scopes are not available to this client on this authorization server: launch_rockets."),
        // 400 access_denied: policy denies, user not assigned
        Row(
            form: "client_id=password-app&grant_type=password&\(jane)&scope=openid", path: "/oauth2/closed/v1/token",
            error: "access_denied", text: "Policy evaluation failed for this request: no access policy rule allows it."),
        Row(
            form: "client_id=staff-app&grant_type=password&\(jane)&scope=openid", error: "access_denied",
            text: "You are not allowed to sign in to this application."),
    ]

    @Test("Each documented token endpoint error has its status, error code, description and headers", arguments: rows)
    func documented(row: Row) async throws {
        let response = try await RunningServer.with { try await $0.wire.post(row.path, row.form) }
        try expectOAuthError(response, row.status, row.error, row.text)
        #expect(response["WWW-Authenticate"] == nil)
        for name in ["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset", "x-okta-request-id", "Date"] {
            #expect(response[name] != nil, "\(name) is missing")
        }
    }

    @Test("A refresh request for scopes beyond the grant is rejected with invalid_scope")
    func widerRefresh() async throws {
        try await RunningServer.with { running in
            let token = try #require(try await running.signIn(scope: "openid offline_access")["refresh_token"]?.stringValue)
            let response = try await running.wire.post(
                "/oauth2/default/v1/token",
                "client_id=password-app&grant_type=refresh_token&refresh_token=\(token)&scope=openid+profile")
            try expectOAuthError(response, 400, "invalid_scope", "A refresh cannot ask for more scopes than were granted.")
        }
    }

    @Test("A refresh token of another authorization server is rejected with invalid_grant")
    func foreignRefreshToken() async throws {
        try await RunningServer.with { running in
            let token = try #require(try await running.signIn()["refresh_token"]?.stringValue)
            let response = try await running.wire.post(
                "/oauth2/v1/token", "client_id=password-app&grant_type=refresh_token&refresh_token=\(token)")
            try expectOAuthError(response, 400, "invalid_grant", "The refresh token is invalid or expired.")
        }
    }

    @Test(
        "Wrong or malformed Basic credentials are rejected with 401 and a Basic challenge",
        arguments: ["Basic c2VydmljZS1hcHA6d3Jvbmc=", "Basic ???"])
    func basicChallenge(header: String) async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.post(
                "/oauth2/default/v1/token", "grant_type=client_credentials&scope=messages.read", headers: [("Authorization", header)])
        }
        #expect(response.status == 401)
        #expect(try response.json["error"] == "invalid_client")
        #expect(response["WWW-Authenticate"] == #"Basic realm="countersign", charset="UTF-8""#)
    }

    @Test("Basic credentials together with a secret in the body are rejected with invalid_request")
    func basicAndBody() async throws {
        let response = try await RunningServer.with { running in
            try await running.wire.post(
                "/oauth2/default/v1/token", "grant_type=client_credentials&client_id=post-app&client_secret=post-app-secret-0123",
                headers: [("Authorization", "Basic cG9zdC1hcHA6cG9zdC1hcHAtc2VjcmV0LTAxMjM=")])
        }
        try expectOAuthError(response, 400, "invalid_request", Self.severalKinds)
    }

    @Test(
        "A token request that exceeds the rate limit gets 429 E0000047 with all rate-limit headers, and requests are accepted in the next window",
        .onOneServer
    )
    func rateLimit() async throws {
        try await RunningServer.fresh(rateLimits: .init(perClient: 100, perAddress: 2, perUser: 100)) { running in
            let form = "client_id=password-app&grant_type=refresh_token&refresh_token=x"
            for remaining in [1, 0] {
                let response = try await running.wire.post("/oauth2/default/v1/token", form)
                #expect(response.status == 400)
                #expect(response["x-rate-limit-limit"] == "2")
                #expect(response["x-rate-limit-remaining"] == String(remaining))
            }
            let refused = try await running.wire.post(
                "/oauth2/default/v1/token", form, headers: [("X-Okta-Retry-For", "abc"), ("X-Okta-Retry-Count", "1")])
            #expect(refused.status == 429)
            #expect(refused["Cache-Control"] == "no-cache, no-store" && refused["Pragma"] == "no-cache")
            try expectAPIError(refused, code: "E0000047", summary: "Too many requests. Wait and try again.")
            #expect(refused["x-rate-limit-limit"] == "2")
            #expect(refused["x-rate-limit-remaining"] == "0")
            // The clock shows 1,800,000,000, which is a full minute. The header names the next full minute.
            #expect(refused["x-rate-limit-reset"] == "1800000060")
            #expect(refused["Retry-After"] == "60")
            #expect(refused["Date"] == "Fri, 15 Jan 2027 08:00:00 GMT")
            running.clock.advance(by: 60)
            let later = try await running.wire.post("/oauth2/default/v1/token", form)
            #expect(later.status == 400)
            #expect(later["Date"] == "Fri, 15 Jan 2027 08:01:00 GMT")
        }
    }
}
