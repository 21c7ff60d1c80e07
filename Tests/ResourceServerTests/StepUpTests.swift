import Foundation
import JOSE
import Synchronization
import TestSupport
import Testing

@testable import ResourceServer

@Suite("Step-up challenges of a resource server (RFC 9470)")
struct StepUpTests {
    private static let path = "/api/messages/private"
    private static let twoFactors = "urn:okta:loa:2fa:any"
    private static let seconds = Int64(TestIssuer.now.timeIntervalSince1970)
    private static let weak = "This request needs a stronger sign-in. Sign in again with the acr_values of the challenge."
    private static let untimed =
        "This request needs a recent sign-in, and the access token has no auth_time. Sign in again with max_age."
    private static let old = "This request needs a newer sign-in: at most 300 seconds old. Sign in again with max_age."

    let issuer: TestIssuer
    let time = ManualClock(TestIssuer.now)

    init() throws {
        issuer = try TestIssuer()
    }

    private func token(acr: JSONValue?, time: JSONValue?, changing further: [String: JSONValue?] = [:]) throws -> String {
        try issuer.token(changing: ["acr": acr, "auth_time": time].merging(further) { $1 })
    }

    // MARK: - Over HTTP

    @Test("The resource server answers a token with an accepted acr and a recent auth_time with the private messages")
    func accepted() async throws {
        try await RunningMessages.with(AccessTokenVerifier(issuer, time: time), time: time) { ask, _ in
            for level in [Self.twoFactors, "phr", "phrh"] {
                let token = try token(acr: .string(level), time: .integer(Self.seconds - 300))
                let answer = try await ask(Self.path, ["Authorization": "Bearer \(token)"], "GET")
                #expect(answer.status == 200)
                #expect(answer.json?["messages"]?.arrayValue?.count == 1)
            }
        }
    }

    static let refused: [(String, JSONValue?, JSONValue?, String)] = [
        ("no acr", nil, .integer(seconds - 10), weak),
        ("a weaker acr", "urn:okta:loa:1fa:pwd", .integer(seconds - 10), weak),
        ("an acr in other letters", "URN:OKTA:LOA:2FA:ANY", .integer(seconds - 10), weak),
        ("a list of acr values", [.string(twoFactors)], .integer(seconds - 10), weak),
        ("no auth_time", .string(twoFactors), nil, untimed),
        ("an auth_time that is a text", .string(twoFactors), .string("\(seconds - 10)"), untimed),
        ("an auth_time beyond all dates", .string(twoFactors), 1e300, untimed),
        ("a negative auth_time", .string(twoFactors), .integer(-1), untimed),
        ("an auth_time in the future", .string(twoFactors), .integer(seconds + 61), old),
        ("an old auth_time", .string(twoFactors), .integer(seconds - 361), old),
    ]

    @Test(
        "The resource server answers an insufficient sign-in with 401 and a challenge that names acr_values and max_age", arguments: refused
    )
    func challenge(_ name: String, _ acr: JSONValue?, _ authenticated: JSONValue?, _ description: String) async throws {
        try await RunningMessages.with(AccessTokenVerifier(issuer, time: time), time: time) { ask, _ in
            let token = try token(acr: acr, time: authenticated)
            let answer = try await ask(Self.path, ["Authorization": "Bearer \(token)", "Origin": "https://app.test"], "GET")
            #expect(answer.status == 401)
            #expect(
                answer.header("WWW-Authenticate")
                    == #"Bearer realm="api://default", error="insufficient_user_authentication", error_description="\#(description)", "#
                    + #"acr_values="urn:okta:loa:2fa:any phr phrh", max_age="300""#)
            #expect(answer.json == ["error": "insufficient_user_authentication", "error_description": .string(description)])
            #expect(answer.header("Access-Control-Expose-Headers")?.contains("WWW-Authenticate") == true)
            // The same token is good for the route without this requirement.
            #expect(try await ask("/api/messages", ["Authorization": "Bearer \(token)"], "GET").status == 200)
        }
    }

    @Test("The resource server answers an insufficient sign-in in a request with a DPoP proof with a challenge of the scheme DPoP")
    func dpop() async throws {
        let maker = try ProofMaker()
        let verifier = AccessTokenVerifier(issuer, time: time, proofs: ProofRules(origin: "https://api.example.com"))
        try await RunningMessages.with(verifier, time: time) { ask, _ in
            let token = try token(acr: nil, time: nil, changing: ["cnf": ["jkt": .string(maker.thumbprint)]])
            let proof = try maker.proof("GET", "https://api.example.com" + Self.path, at: time.now, accessToken: token)
            let answer = try await ask(Self.path, ["Authorization": "DPoP \(token)", "DPoP": proof], "GET")
            #expect(answer.status == 401)
            #expect(
                answer.header("WWW-Authenticate")
                    == #"DPoP realm="api://default", error="insufficient_user_authentication", error_description="\#(Self.weak)", "#
                    + #"acr_values="urn:okta:loa:2fa:any phr phrh", max_age="300", algs="RS256 RS384 RS512 ES256 ES384 ES512""#)
        }
    }

    @Test("The resource server answers a missing or expired token with the usual challenge, even if the route needs a step-up")
    func otherRefusals() async throws {
        try await RunningMessages.with(AccessTokenVerifier(issuer, time: time), time: time) { ask, _ in
            let none = try await ask(Self.path, [:], "GET")
            #expect(none.status == 401)
            #expect(none.header("WWW-Authenticate") == #"Bearer realm="api://default""#)
            let expired = try token(acr: nil, time: nil, changing: ["exp": 1_000])
            let answer = try await ask(Self.path, ["Authorization": "Bearer \(expired)"], "GET")
            #expect(answer.header("WWW-Authenticate")?.contains(#"error="invalid_token""#) == true)
        }
    }

    @Test("A step-up challenge of the resource server also names the required scopes if the token lacks one of them")
    func scopes() async throws {
        let verifier = AccessTokenVerifier(issuer, time: time, requiredScopes: ["messages.write"])
        try await RunningMessages.with(verifier, time: time) { ask, _ in
            let weak = try await ask(Self.path, ["Authorization": "Bearer \(try token(acr: nil, time: nil))"], "GET")
            #expect(weak.status == 401)
            #expect(weak.header("WWW-Authenticate")?.contains(#", scope="messages.write", acr_values="#) == true)
            let strong = try token(acr: .string(Self.twoFactors), time: .integer(Self.seconds))
            let unscoped = try await ask(Self.path, ["Authorization": "Bearer \(strong)"], "GET")
            #expect(unscoped.status == 403)
            #expect(unscoped.header("WWW-Authenticate")?.contains(#"error="insufficient_scope""#) == true)
        }
    }

    // MARK: - The verifier

    @Test("The access token verifier measures the age of a sign-in with its own clock and tolerates its leeway")
    func age() async throws {
        let verifier = AccessTokenVerifier(issuer, time: time)
        let text = try token(acr: nil, time: .integer(Self.seconds))
        let requirement = AuthenticationRequirement(maxAge: 100)
        time.advance(by: 160)
        _ = try await verifier.verify(text, authentication: requirement)
        _ = try verifier.verifyNow(text, authentication: requirement)
        time.advance(by: 1)
        #expect(await refusal { try await verifier.verify(text, authentication: requirement) } == .insufficientAuthentication)
        #expect(await refusal { try verifier.verifyNow(text, authentication: requirement) } == .insufficientAuthentication)
        let error = await #expect(throws: AccessTokenError.self) { try await verifier.verify(text, authentication: requirement) }
        #expect(error?.requiredAuthentication == requirement)
        _ = try await verifier.verify(text)
    }

    @Test("A token of a service without a user meets no requirement for the sign-in, and meets a requirement without conditions")
    func service() async throws {
        let verifier = AccessTokenVerifier(issuer, time: time)
        let text = try token(acr: nil, time: nil, changing: ["sub": "app", "uid": nil])
        #expect(await refusal { try await verifier.verify(text, authentication: .init(maxAge: 86_400)) } == .insufficientAuthentication)
        #expect(await refusal { try await verifier.verify(text, authentication: .init(acrValues: ["phr"])) } == .insufficientAuthentication)
        _ = try await verifier.verify(text, authentication: .init())
    }

    @Test("A verified access token has the time, the context class and the methods of the sign-in")
    func claims() async throws {
        let verifier = AccessTokenVerifier(issuer, time: time)
        let token = try await verifier.verify(
            token(acr: "phr", time: .integer(Self.seconds - 5), changing: ["amr": ["pop", "mfa"]]))
        #expect(token.authenticationTime == TestIssuer.now.addingTimeInterval(-5))
        #expect(token.authenticationContextClass == "phr")
        #expect(token.authenticationMethods == ["pop", "mfa"])
        let plain = try await verifier.verify(issuer.token())
        #expect(plain.authenticationTime == nil && plain.authenticationContextClass == nil && plain.authenticationMethods == [])
    }

    @Test("In introspection mode, the access token verifier checks the sign-in by the claims of the introspection response")
    func introspection() async throws {
        let verifier = AccessTokenVerifier(issuer, time: time, mode: .introspection(.init(id: "api", secret: "secret")))
        let active: JSONValue = [
            "active": true, "iss": .string(TestIssuer.url), "aud": "api://default", "client_id": "app", "acr": "phr",
            "auth_time": .integer(Self.seconds - 10), "exp": .integer(Self.seconds + 100),
        ]
        issuer.state.withLock { $0.introspection = active }
        _ = try await verifier.verify("opaque", authentication: .init(acrValues: ["phr"], maxAge: 60))
        #expect(
            await refusal { try await verifier.verify("opaque", authentication: .init(acrValues: ["phrh"])) }
                == .insufficientAuthentication)
    }

    @Test("The values of an authentication requirement are limited to values that a challenge can contain")
    func limits() async throws {
        #expect(AuthenticationRequirement(maxAge: -5).maxAge == 0)
        #expect(AuthenticationRequirement(maxAge: .max).maxAge == 315_360_000)
        #expect(AuthenticationRequirement(acrValues: ["a b", "c"]).acrValues == ["a", "b", "c"])
        let unusable = AuthenticationRequirement(acrValues: ["\"", "ä", "\\", "\n"])
        #expect(unusable.acrValues == [])
        // A requirement without a usable value accepts no token.
        let verifier = AccessTokenVerifier(issuer, time: time)
        let text = try token(acr: "\"", time: .integer(Self.seconds))
        #expect(await refusal { try await verifier.verify(text, authentication: unusable) } == .insufficientAuthentication)
    }
}
