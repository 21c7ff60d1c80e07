import Foundation
import JOSE
import TestSupport
import Testing

@testable import IdentityCore

@Suite("DPoP (RFC 9449; Documentation/Protocol/OAuth.md §5.1)")
struct DPoPWireTests {
    private static let tokenPath = "/oauth2/default/v1/token"
    private static let userInfoPath = "/oauth2/default/v1/userinfo"
    private static let algorithms = #"algs="RS256 RS384 RS512 ES256 ES384 ES512""#
    private static let signIn =
        "grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=openid+offline_access&client_id=password-app"

    /// A client with a DPoP key at the server that the tests share.
    private struct Client {
        let running: RunningServer
        let maker: ProofMaker
        var now: Date { running.clock.now }

        init(_ running: RunningServer) throws {
            self.running = running
            maker = try ProofMaker()
        }

        func proof(
            _ method: String = "POST", _ path: String = tokenPath, nonce: String? = nil, accessToken: String? = nil,
            changing claims: [String: JSONValue?] = [:], header: [String: JSONValue?] = [:]
        ) throws -> String {
            try maker.proof(
                method, RunningServer.origin + path, at: now, nonce: nonce, accessToken: accessToken, changing: claims, header: header)
        }

        func post(_ proofs: [String], _ form: String = signIn) async throws -> WireResponse {
            try await running.wire.post(tokenPath, form, headers: proofs.map { ("DPoP", $0) })
        }

        /// Requests a nonce from the server.
        func nonce() async throws -> String {
            let response = try await post([try proof()])
            return try #require(response["DPoP-Nonce"], "\(response.status) \(response.body)")
        }

        func tokens() async throws -> JSONValue {
            let response = try await post([try proof(nonce: await nonce())])
            #expect(response.status == 200, "\(response.body)")
            return try response.json
        }

        func userInfo(_ token: String, scheme: String = "DPoP", _ proofs: [String]) async throws -> WireResponse {
            try await running.wire.get(
                userInfoPath, headers: [("Authorization", "\(scheme) \(token)")] + proofs.map { ("dpop", $0) })
        }
    }

    // MARK: - The token endpoint

    @Test("A client whose first DPoP proof lacks a nonce gets a nonce from the server, repeats the request and gets a bound token")
    func dance() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let first = try await client.post([try client.proof()])
            try expectOAuthError(first, 400, "use_dpop_nonce", "The proof must carry the nonce of the header DPoP-Nonce.")
            let nonce = try #require(first["DPoP-Nonce"])
            let second = try await client.post([try client.proof(nonce: nonce)])
            #expect(second.status == 200)
            #expect(second["DPoP-Nonce"] == nil)
            #expect(try second.json["token_type"] == "DPoP")
            let access = try #require(try second.json["access_token"]?.stringValue)
            let claims = try JSONWebSignature(parsing: access).unverifiedClaims()
            #expect(claims["cnf"] == ["jkt": .string(client.maker.thumbprint)])
        }
    }

    @Test("CORS headers let a page of another origin send DPoP proofs and read the nonce")
    func crossOrigin() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let response = try await running.wire.post(
                Self.tokenPath, Self.signIn, headers: [("DPoP", try client.proof()), ("Origin", "https://app.test")])
            #expect(response["Access-Control-Expose-Headers"]?.contains("DPoP-Nonce") == true)
            let preflight = try await running.wire.call("OPTIONS", Self.tokenPath, headers: [("Origin", "https://app.test")])
            #expect(preflight["Access-Control-Allow-Headers"]?.contains("DPoP") == true)
        }
    }

    @Test("An invalid DPoP proof returns 400 invalid_dpop_proof with a description of the defect")
    func badProofs() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let nonce = try await client.nonce()
            var privateKey = client.maker.jwk
            privateKey["d"] = "AQAB"
            let hour = Int64(client.now.timeIntervalSince1970) - 3_600
            let cases: [([String], String)] = [
                (["nonsense"], "A signed token has three segments, joined by dots (RFC 7515, section 7.1)."),
                ([""], "A signed token has three segments, joined by dots (RFC 7515, section 7.1)."),
                (
                    [try client.proof(nonce: nonce), try client.proof(nonce: nonce)], "The request has more than one DPoP header."
                ),
                ([try client.proof(nonce: nonce, header: ["typ": "JWT"])], "The proof's type (typ) is not dpop+jwt."),
                (
                    [try client.proof(nonce: nonce, header: ["jwk": privateKey])],
                    "The proof's key has private members. Send the public part only, and make a new key: this one is known now."
                ),
                (
                    [try client.proof(nonce: nonce, header: ["jwk": try ProofMaker().jwk])],
                    "The proof's signature is not one by the key in its header."
                ),
                ([try client.proof("GET", nonce: nonce)], "The proof is for another method (htm)."),
                ([try client.proof("POST", Self.userInfoPath, nonce: nonce)], "The proof is for another URL (htu)."),
                (
                    [try client.proof(nonce: nonce, changing: ["htu": .string("http://127.0.0.1:\(running.wire.port)\(Self.tokenPath)")])],
                    "The proof is for another URL (htu)."
                ),
                (
                    [try client.proof(nonce: nonce, changing: ["iat": .integer(hour)])],
                    "The proof was made too long ago (iat). Make a new one for each request, and check the clock."
                ),
            ]
            for (proofs, description) in cases {
                try expectOAuthError(try await client.post(proofs), 400, "invalid_dpop_proof", description)
            }
        }
    }

    @Test("A replayed DPoP proof is rejected, and a proof with an unknown nonce gets a valid nonce")
    func replayAndForeignNonce() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let proof = try client.proof(nonce: await client.nonce())
            #expect(try await client.post([proof]).status == 200)
            try expectOAuthError(
                try await client.post([proof]), 400, "invalid_dpop_proof", "The proof was used before. Make a new one for each request.")
            let foreign = try await client.post([try client.proof(nonce: "invented")])
            try expectOAuthError(foreign, 400, "use_dpop_nonce", "The proof must carry the nonce of the header DPoP-Nonce.")
            #expect(foreign["DPoP-Nonce"] != nil)
        }
    }

    @Test("A DPoP-bound refresh token requires a proof by its key, and a client registered for DPoP gets no token without a proof")
    func refresh() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let thief = try Client(running)
            let token = try #require(try await client.tokens()["refresh_token"]?.stringValue)
            let form = "grant_type=refresh_token&client_id=password-app&refresh_token=\(token)"
            try expectOAuthError(
                try await client.post([], form), 400, "invalid_dpop_proof",
                "The request needs a proof by the key that the grant is bound to.")
            let nonce = try await client.nonce()
            try expectOAuthError(
                try await thief.post([try thief.proof(nonce: nonce)], form), 400, "invalid_dpop_proof",
                "The proof is by another key than the one that the grant is bound to.")
            let refreshed = try await client.post([try client.proof(nonce: nonce)], form)
            #expect(refreshed.status == 200)
            #expect(try refreshed.json["token_type"] == "DPoP")
            try expectOAuthError(
                try await running.wire.post(Self.tokenPath, Self.signIn.replacing("password-app", with: "bound-app")), 400,
                "invalid_dpop_proof", "The client's tokens are bound to a key: send a proof in the header DPoP.")
        }
    }

    @Test("After a day the server returns a new DPoP nonce with a successful response, and three days later it rejects the old nonce")
    func turn() async throws {
        try await RunningServer.fresh { running in
            let client = try Client(running)
            let nonce = try await client.nonce()
            running.clock.advance(by: 86_400)
            let response = try await client.post([try client.proof(nonce: nonce)])
            #expect(response.status == 200)
            let next = try #require(response["DPoP-Nonce"])
            #expect(next != nonce)
            running.clock.advance(by: 3 * 86_400)
            #expect(try await client.post([try client.proof(nonce: nonce)]).status == 400)
            #expect(try await client.post([try client.proof(nonce: next)]).status == 200)
        }
    }

    // MARK: - Userinfo and introspection

    @Test("Userinfo accepts a DPoP-bound access token with a valid proof, and introspection returns the key thumbprint")
    func userInfo() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let token = try #require(try await client.tokens()["access_token"]?.stringValue)
            let response = try await client.userInfo(token, [try client.proof("GET", Self.userInfoPath, accessToken: token)])
            #expect(response.status == 200)
            #expect(try response.json["sub"]?.stringValue?.hasPrefix("00u") == true)
            let known = try await running.wire.post(
                "/oauth2/default/v1/introspect", "token=\(token)",
                headers: [("Authorization", "Basic " + Data("service-app:service-app-secret%2B%2F%25".utf8).base64EncodedString())])
            #expect(try known.json["token_type"] == "DPoP")
            #expect(try known.json["cnf"] == ["jkt": .string(client.maker.thumbprint)])
        }
    }

    @Test("Introspection returns the key thumbprint of a DPoP-bound refresh token, and no thumbprint for an unbound refresh token")
    func boundRefreshToken() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let bound = try #require(try await client.tokens()["refresh_token"]?.stringValue)
            let plain = try #require(try await client.post([]).json["refresh_token"]?.stringValue)
            func known(_ token: String) async throws -> JSONValue {
                try await running.wire.post(
                    "/oauth2/default/v1/introspect", "client_id=password-app&token=\(token)&token_type_hint=refresh_token"
                ).json
            }
            let ofBound = try await known(bound)
            #expect(ofBound["active"] == true && ofBound["token_type"] == "DPoP")
            #expect(ofBound["cnf"] == ["jkt": .string(client.maker.thumbprint)])
            let ofPlain = try await known(plain)
            #expect(ofPlain["active"] == true && ofPlain["token_type"] == "Bearer" && ofPlain["cnf"] == nil)
        }
    }

    @Test("If the DPoP proof is missing or invalid, userinfo rejects a bound token with 401 and a challenge that states the reason")
    func userInfoRefuses() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let thief = try Client(running)
            let token = try #require(try await client.tokens()["access_token"]?.stringValue)
            func proof(_ changes: [String: JSONValue?] = [:]) throws -> String {
                try client.proof("GET", Self.userInfoPath, accessToken: token, changing: changes)
            }
            let used = try proof()
            #expect(try await client.userInfo(token, [used]).status == 200)
            let cases: [(String, [String], String, String)] = [
                ("Bearer", [], "invalid_token", "The access token is bound to a key: send it with the scheme DPoP and a proof."),
                (
                    "Bearer", [try proof()], "invalid_token",
                    "The access token is bound to a key: send it with the scheme DPoP and a proof."
                ),
                ("DPoP", [], "invalid_dpop_proof", "The request needs a proof in the header DPoP."),
                ("DPoP", [used], "invalid_dpop_proof", "The proof was used before. Make a new one for each request."),
                ("DPoP", [try proof(), try proof()], "invalid_dpop_proof", "The request has more than one DPoP header."),
                ("DPoP", [try proof(["ath": nil])], "invalid_dpop_proof", "The proof lacks the hash of the access token (ath)."),
                ("DPoP", [try proof(["ath": "x"])], "invalid_dpop_proof", "The proof is for another access token (ath)."),
                ("DPoP", [try proof(["htm": "POST"])], "invalid_dpop_proof", "The proof is for another method (htm)."),
                ("DPoP", [try proof(["htu": "https://id.example.com"])], "invalid_dpop_proof", "The proof is for another URL (htu)."),
                (
                    "DPoP", [try thief.proof("GET", Self.userInfoPath, accessToken: token)], "invalid_token",
                    "The access token is bound to another key than the one that made the proof."
                ),
            ]
            for (scheme, proofs, error, description) in cases {
                let response = try await client.userInfo(token, scheme: scheme, proofs)
                #expect(response.status == 401)
                #expect(response.body.isEmpty)
                #expect(
                    response["WWW-Authenticate"]
                        == #"DPoP error="\#(error)", error_description="\#(description)", \#(Self.algorithms)"#)
                #expect(response["DPoP-Nonce"] == nil)
            }
            let foreign = try await client.userInfo(token, [try proof(["nonce": "invented"])])
            #expect(foreign.status == 401)
            #expect(foreign["WWW-Authenticate"]?.hasPrefix(#"DPoP error="use_dpop_nonce""#) == true)
            #expect(foreign["DPoP-Nonce"] != nil)
        }
    }

    @Test(
        "Userinfo rejects an unbound token with the scheme DPoP and a bound token in a form, and offers both schemes if the token is missing"
    )
    func schemes() async throws {
        try await RunningServer.with { running in
            let client = try Client(running)
            let bearer = try #require(try await running.signIn()["access_token"]?.stringValue)
            let response = try await client.userInfo(bearer, [try client.proof("GET", Self.userInfoPath, accessToken: bearer)])
            #expect(response.status == 401)
            #expect(
                response["WWW-Authenticate"]
                    == #"DPoP error="invalid_token", error_description="The access token is bound to no key: "#
                    + #"send it with the scheme Bearer.", \#(Self.algorithms)"#)
            let bound = try #require(try await client.tokens()["access_token"]?.stringValue)
            #expect(try await running.wire.post(Self.userInfoPath, "access_token=\(bound)").status == 401)
            let none = try await running.wire.get(Self.userInfoPath)
            #expect(none["WWW-Authenticate"] == #"Bearer realm="countersign", DPoP \#(Self.algorithms)"#)
        }
    }

    @Test("If the DPoP proof is missing, a device endpoint rejects a bound token with 401 and a DPoP challenge")
    func devices() async throws {
        try await DeviceServer.with({ $0.dpop = DPoPPolicy(requiresNonce: false) }) { server in
            let maker = try ProofMaker()
            let now = server.running.clock.now
            let tokenURL = RunningServer.origin + "/oauth2/v1/token"
            let answer = try await server.wire.post(
                "/oauth2/v1/token",
                "client_id=phone-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=\(DeviceServer.manage)",
                headers: [("DPoP", try maker.proof("POST", tokenURL, at: now))])
            let token = try #require(try answer.json["access_token"]?.stringValue, "\(answer.body)")
            let path = "/.well-known/app-authenticator-configuration"
            let proof = try maker.proof("GET", RunningServer.origin + path, at: now, accessToken: token)
            let good = try await server.wire.get(
                path + "?oauthClientId=phone-app",
                headers: [DeviceServer.version, ("Authorization", "DPoP \(token)"), ("DPoP", proof)])
            #expect(good.status == 200, "\(good.body)")
            for (scheme, error) in [("Bearer", "invalid_token"), ("DPoP", "invalid_dpop_proof")] {
                let refused = try await server.call("GET", path + "?oauthClientId=phone-app", token: token, scheme: scheme)
                #expect(refused.status == 401)
                #expect(try refused.json["errorCode"] == "E0000011")
                #expect(refused["WWW-Authenticate"]?.hasPrefix(#"DPoP error="\#(error)", "#) == true)
            }
        }
    }
}
