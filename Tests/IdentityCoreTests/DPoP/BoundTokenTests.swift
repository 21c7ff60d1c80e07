import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire

@Suite("DPoP-bound access tokens at the server's own resources (RFC 9449 section 7)")
struct BoundTokenTests {
    private let organization: TestOrganization
    private let client: ProvingClient
    private let thief: ProvingClient
    private let token: String

    init() async throws {
        organization = try await ProvingClient.organization()
        client = try ProvingClient(organization)
        thief = try ProvingClient(organization)
        token = try await client.signIn(proof: try client.proof()).get().accessToken
    }

    @Test("The userinfo endpoint accepts a DPoP-bound token with a proof by its key, and requires no nonce")
    func userInfo() async throws {
        let claims = try await client.userInfo(token, proof: try client.proof(of: token)).get()
        #expect(claims["sub"]?.stringValue == (try await organization.janesID()))
    }

    @Test("The userinfo endpoint rejects a DPoP-bound token without a proof, and a bearer token with a proof")
    func downgrade() async throws {
        guard case .failure(let refusal) = try await client.userInfo(token, proof: nil) else { throw TestOrganization.NoKey() }
        #expect(refusal.code == .invalidToken)
        #expect(refusal.asksForProof)
        let bearer = try await client.signIn(proof: nil, at: 1).get().accessToken
        let result = try await client.userInfo(bearer, proof: try client.proof(of: bearer))
        #expect(result.refused == .invalidToken)
        #expect(result.reason == "dpop: bearer token with a proof")
    }

    @Test("The userinfo endpoint rejects a DPoP proof of another key, request, token or time, and a proof with an invalid nonce")
    func otherProofs() async throws {
        let other = try await client.signIn(proof: try client.proof(at: 1), at: 1).get().accessToken
        let cases: [(String, Refusal.Code, String)] = [
            (try thief.proof(of: token), .invalidToken, "dpop: another key"),
            (try client.proof(of: other), .invalidDPoPProof, "dpop: invalidClaim"),
            (try client.proof(of: token, changing: ["ath": nil]), .invalidDPoPProof, "dpop: missingClaim"),
            (try client.proof(of: token, changing: ["htm": "POST"]), .invalidDPoPProof, "dpop: invalidClaim"),
            (try client.proof(of: token, changing: ["htu": .string(ProvingClient.url)]), .invalidDPoPProof, "dpop: invalidClaim"),
            (try client.proof(of: token, at: -300), .invalidDPoPProof, "dpop: expired"),
            (try client.proof(of: token, nonce: "invented"), .useDPoPNonce, "dpop: nonce is old or foreign"),
            ("", .invalidDPoPProof, "dpop: malformed"),
        ]
        for (proof, code, reason) in cases {
            let result = try await client.userInfo(token, proof: proof)
            #expect(result.refused == code, "\(reason)")
            #expect(result.reason == reason)
        }
    }

    @Test("The userinfo endpoint accepts a DPoP proof only once")
    func replay() async throws {
        let proof = try client.proof(of: token)
        #expect(try await client.userInfo(token, proof: proof).refused == nil)
        #expect(try await client.userInfo(token, proof: proof, at: 2).reason == "dpop: used")
        #expect(try await client.userInfo(token, proof: try client.proof(of: token, at: 2), at: 2).refused == nil)
    }

    @Test("The device API accepts a DPoP-bound token only with an unused proof by its key")
    func devices() async throws {
        let fixture = try await DeviceFixture { $0.dpop = DPoPPolicy(requiresNonce: false) }
        let client = try ProvingClient(fixture.organization)
        let thief = try ProvingClient(fixture.organization)
        let orgURL = TestOrganization.tokenURL(nil)
        let token = try await fixture.engine.token(
            TokenRequest(
                server: nil, client: ClientCredentials(clientID: "phone-app", endpoint: orgURL),
                parameters: [
                    "grant_type": "password", "client_id": "phone-app", "username": TestOrganization.jane,
                    "password": TestOrganization.janesPassword, "scope": DeviceFixture.manage,
                ],
                proof: PresentedProof(
                    values: [try client.maker.proof("POST", orgURL, at: TestOrganization.start)], method: "POST", url: orgURL)),
            context: DeviceFixture.context()
        ).get().accessToken
        let url = TestOrganization.origin + "/.well-known/app-authenticator-configuration"
        func authorization(by maker: ProofMaker, _ token: String) throws -> DeviceAuthorization {
            let proof = try maker.proof("GET", url, at: TestOrganization.time(1), accessToken: token)
            return .dpop(token, PresentedProof(values: [proof], method: "GET", url: url))
        }
        let good = try authorization(by: client.maker, token)
        #expect(try await fixture.configuration(good).status == nil)
        #expect(try await fixture.configuration(good).why == "dpop: used")
        for (authorization, why) in [
            (.bearer(token), "dpop: bound token as bearer"), (try authorization(by: thief.maker, token), "dpop: another key"),
            (.dpop(token, PresentedProof(values: [], method: "GET", url: url)), "dpop: 0 headers"),
        ] as [(DeviceAuthorization, String)] {
            let refused = try await fixture.configuration(authorization)
            #expect(refused.status == 401)
            #expect(refused.code == "E0000011")
            #expect(refused.why == why)
        }
        let bearer = try await fixture.accessToken()
        #expect(try await fixture.configuration(try authorization(by: client.maker, bearer)).why == "dpop: bearer token with a proof")
    }
}
