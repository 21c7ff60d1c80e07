import Foundation
import IdentityCore
import JOSE
import OAuthEndpoints
import TestSupport
import Testing

/// Replay protection of held polls: the server decides a request several times, but accepts its assertion or proof once.
@Suite("Replays of held polls", .timeLimit(.minutes(5)))
struct HeldPollReplayTests {
    private static let wait25 = [("Prefer", "wait=25")]

    // MARK: - Client assertions

    private static let desk = Application(
        id: "key-desk", name: "Desk with a key", kind: .web, authentication: .privateKeyJWT, keys: TestKeys.clientKeySet,
        grantTypes: [PushOrganization.ciba], assignment: .init(everyone: true), signOnPolicy: "one factor")

    private static func assertion(_ server: HeldPollServer, lifetime: Int64 = 300) throws -> String {
        let now = Int64(server.clock.now.timeIntervalSince1970)
        let claims: JSONValue = [
            "iss": "key-desk", "sub": "key-desk", "aud": .string(RunningServer.origin + "/oauth2/default"), "iat": .integer(now),
            "exp": .integer(now + lifetime), "jti": .string(UUID().uuidString),
        ]
        return try TestKeys.client().sign(claims)
    }

    private static func post(
        _ server: HeldPollServer, _ endpoint: String, _ assertion: String, _ form: [String: String]
    ) async throws -> WireResponse {
        let credentials = [
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion": assertion,
        ]
        return try await server.wire.post(
            "\(DirectClient.custom)/\(endpoint)", Form.encode(form.merging(credentials) { $1 }), headers: wait25)
    }

    private static func poll(_ server: HeldPollServer, _ request: String, _ assertion: String) async throws -> WireResponse {
        try await post(server, "token", assertion, ["grant_type": PushOrganization.ciba, "auth_req_id": request])
    }

    private static func begin(_ server: HeldPollServer) async throws -> String {
        let form = ["scope": "openid", "login_hint": PushOrganization.jane]
        let response = try await post(server, "bc/authorize", try assertion(server), form)
        return try #require(try response.json["auth_req_id"]?.stringValue, "\(response.body)")
    }

    @Test("A held poll's client assertion is rejected in every other request, during the wait and afterwards")
    func assertion() async throws {
        try await HeldPollServer.with(.init(applications: [Self.desk])) { server in
            let phone = try await server.push.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let request = try await Self.begin(server)
            let assertion = try Self.assertion(server)
            async let answer = Self.poll(server, request, assertion)
            await server.holds(1)
            try expectRefusal(try await Self.poll(server, request, assertion), 401, "invalid_client")
            try expectRefusal(try await Self.post(server, "introspect", assertion, ["token": "x"]), 401, "invalid_client")
            #expect(server.polls.count == 1)
            try await phone.approve()
            #expect(try await answer.status == 200)
            try expectRefusal(try await Self.poll(server, request, assertion), 401, "invalid_client")
        }
    }

    @Test("The client assertion of a held poll that ended without a decision is rejected afterwards")
    func assertionOfPendingPoll() async throws {
        try await HeldPollServer.with(.init(applications: [Self.desk])) { server in
            _ = try await server.push.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let request = try await Self.begin(server)
            let assertion = try Self.assertion(server)
            async let answer = Self.poll(server, request, assertion)
            await server.holds(1)
            await server.clock.advanceOnceWatched(by: 25)
            try expectRefusal(try await answer, 400, "authorization_pending")
            try expectRefusal(try await Self.poll(server, request, assertion), 401, "invalid_client")
        }
    }

    @Test("A held poll gets its tokens even if its client assertion expires during the wait")
    func assertionExpires() async throws {
        try await HeldPollServer.with(.init(applications: [Self.desk])) { server in
            let phone = try await server.push.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let request = try await Self.begin(server)
            let assertion = try Self.assertion(server, lifetime: 2)
            async let answer = Self.poll(server, request, assertion)
            await server.holds(1)
            await server.clock.advanceOnceWatched(by: 20)
            try await phone.approve()
            #expect(try await answer.status == 200)
        }
    }

    @Test("A client that is deactivated while its poll is held gets no tokens")
    func deactivatedClient() async throws {
        try await HeldPollServer.with(.init(applications: [Self.desk])) { server in
            let phone = try await server.push.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let request = try await Self.begin(server)
            let assertion = try Self.assertion(server)
            async let answer = Self.poll(server, request, assertion)
            await server.holds(1)
            var definition = PushOrganization().definition(origin: RunningServer.origin)
            var desk = Self.desk
            desk.isActive = false
            definition.applications.append(desk)
            _ = try await server.push.engine.apply(definition, context: RequestContext(now: server.clock.now, requestID: "change"))
            try await phone.approve()
            try expectRefusal(try await answer, 401, "invalid_client")
        }
    }

    // MARK: - Proofs of possession

    private static func proof(_ server: HeldPollServer, _ maker: ProofMaker, nonce: String? = nil) throws -> (String, String) {
        let url = RunningServer.origin + DirectClient.custom + "/token"
        return ("DPoP", try maker.proof("POST", url, at: server.clock.now, nonce: nonce))
    }

    @Test("A held poll's DPoP proof is rejected in every other request, during the wait and afterwards")
    func proof() async throws {
        try await HeldPollServer.with { server in
            let phone = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            let maker = try ProofMaker()
            let nonce = try #require(try await server.poll(pending, [try Self.proof(server, maker)])["DPoP-Nonce"])
            let proof = try Self.proof(server, maker, nonce: nonce)
            async let answer = server.poll(pending, Self.wait25 + [proof])
            await server.holds(1)
            // An attacker who read the request replays it to get the tokens or to release the poll.
            await server.clock.advanceOnceWatched(by: 2)
            try expectRefusal(try await server.poll(pending, Self.wait25 + [proof]), 400, "invalid_dpop_proof")
            #expect(server.polls.count == 1)
            try await phone.approve()
            let tokens = try await answer
            #expect(tokens.status == 200)
            #expect(try tokens.json["token_type"] == "DPoP")
            try expectRefusal(try await server.poll(pending, [proof]), 400, "invalid_dpop_proof")
        }
    }

    @Test("The DPoP proof of a held poll that ended without a decision is rejected afterwards")
    func proofOfPendingPoll() async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            let maker = try ProofMaker()
            let nonce = try #require(try await server.poll(pending, [try Self.proof(server, maker)])["DPoP-Nonce"])
            let proof = try Self.proof(server, maker, nonce: nonce)
            async let answer = server.poll(pending, Self.wait25 + [proof])
            await server.holds(1)
            await server.clock.advanceOnceWatched(by: 25)
            try expectRefusal(try await answer, 400, "authorization_pending")
            try expectRefusal(try await server.poll(pending, [proof]), 400, "invalid_dpop_proof")
        }
    }
}
