import Foundation
import JOSE
import TestSupport
import Testing

@Suite("Authorization codes bound to a DPoP key (RFC 9449 §10)")
struct BoundCodeWireTests {
    private static let app = WireRelyingParty.readingApp

    /// A client that sends DPoP proofs to a test's server.
    private struct Client {
        let server: PushServer
        let nonce: String

        init(_ server: PushServer) async throws {
            self.server = server
            let first = try await server.wire.post(
                "\(app.base)/par", Form.encode(app.parameters()),
                headers: [("DPoP", try Self.proof(try ProofMaker(), "par", server, nonce: nil))])
            try expectRefusal(first, 400, "use_dpop_nonce")
            nonce = try #require(first["DPoP-Nonce"])
        }

        private static func proof(_ maker: ProofMaker, _ endpoint: String, _ server: PushServer, nonce: String?) throws -> String {
            try maker.proof("POST", "\(RunningServer.origin)\(app.base)/\(endpoint)", at: server.clock.now, nonce: nonce)
        }

        func proof(_ maker: ProofMaker, _ endpoint: String = "par") throws -> String {
            try Self.proof(maker, endpoint, server, nonce: nonce)
        }

        func push(_ proof: String, _ changes: [String: String] = [:]) async throws -> WireResponse {
            try await server.wire.post("\(app.base)/par", Form.encode(app.parameters(changes)), headers: [("DPoP", proof)])
        }

        func exchange(_ code: String, by maker: ProofMaker?) async throws -> WireResponse {
            try await server.wire.post(
                "\(app.base)/token",
                Form.encode([
                    "grant_type": "authorization_code", "code": code, "redirect_uri": app.redirectURI, "client_id": app.id,
                    "code_verifier": WireRelyingParty.verifier,
                ]), headers: try maker.map { [("DPoP", try proof($0, "token"))] } ?? [])
        }

        /// Checks that a code can be exchanged only with a proof of one key.
        func expect(_ code: String, isBoundTo maker: ProofMaker) async throws {
            try expectRefusal(try await exchange(code, by: try ProofMaker()), 400, "invalid_dpop_proof")
            try expectRefusal(try await exchange(code, by: nil), 400, "invalid_dpop_proof")
            let response = try await exchange(code, by: maker)
            #expect(response.status == 200, "\(response.body)")
            #expect(try response.json["token_type"] == "DPoP")
        }
    }

    @Test("The parameter dpop_jkt binds the authorization code to the DPoP key with that thumbprint")
    func named() async throws {
        try await PushServer.with { server in
            let maker = try ProofMaker()
            let client = try await Client(server)
            let browser = WireBrowser(server.wire)
            let page = try await Self.app.begin(browser, ["dpop_jkt": maker.thumbprint])
            try await client.expect(try Self.app.code(try await browser.signIn(page)), isBoundTo: maker)
        }
    }

    @Test("A DPoP proof with a pushed authorization request binds the code to the proof's key")
    func pushed() async throws {
        try await PushServer.with { server in
            let maker = try ProofMaker()
            let client = try await Client(server)
            let response = try await client.push(try client.proof(maker))
            #expect(response.status == 201, "\(response.body)")
            let uri = try #require(try response.json["request_uri"]?.stringValue)
            let browser = WireBrowser(server.wire)
            let page = try await browser.follow(
                try await browser.get("\(Self.app.base)/authorize?" + Form.encode(["client_id": Self.app.id, "request_uri": uri])))
            try await client.expect(try Self.app.code(try await browser.signIn(page)), isBoundTo: maker)
        }
    }

    @Test("A DPoP proof with a pushed request must match dpop_jkt and the endpoint, and is accepted once")
    func judged() async throws {
        try await PushServer.with { server in
            let maker = try ProofMaker()
            let client = try await Client(server)
            let other = try await client.push(try client.proof(maker), ["dpop_jkt": try ProofMaker().thumbprint])
            try expectRefusal(other, 400, "invalid_dpop_proof")
            let proof = try client.proof(maker)
            #expect(try await client.push(proof, ["dpop_jkt": maker.thumbprint]).status == 201)
            try expectRefusal(try await client.push(proof, ["dpop_jkt": maker.thumbprint]), 400, "invalid_dpop_proof")
            try expectRefusal(try await client.push(try client.proof(maker, "token")), 400, "invalid_dpop_proof")
        }
    }
}
