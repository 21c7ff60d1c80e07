import Crypto
import Foundation
import JOSE
import StoreSQLite
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

@Suite("Issuing of DPoP-bound tokens (RFC 9449 sections 5 to 8; Documentation/Protocol/OAuth.md §5.1)")
struct BoundGrantTests {
    private let organization: TestOrganization
    private let client: ProvingClient
    private let thief: ProvingClient

    init() async throws {
        organization = try await ProvingClient.organization()
        client = try ProvingClient(organization)
        thief = try ProvingClient(organization)
    }

    // MARK: - Issuing

    @Test("A token request with a DPoP proof gets an access token that is bound to the proof's key, and introspection shows the binding")
    func bound() async throws {
        let tokens = try await client.signIn(proof: try client.proof()).get()
        #expect(tokens.tokenType == "DPoP")
        #expect(tokens.nextNonce == nil)
        let binding: JSONValue = ["jkt": .string(client.maker.thumbprint)]
        #expect(try claims(of: tokens.accessToken)["cnf"] == binding)
        #expect(try claims(of: tokens.idToken)["cnf"] == nil)
        let known = try await organization.introspect(tokens.accessToken)
        #expect(known.json["token_type"] == "DPoP")
        #expect(known.json["cnf"] == binding)
        let refresh = try await organization.introspect(tokens.refreshToken)
        #expect(refresh.json["token_type"] == "DPoP")
        #expect(refresh.json["cnf"] == binding)
    }

    @Test("A token request without a DPoP proof gets bearer tokens, and the server stores no key")
    func unbound() async throws {
        let tokens = try await client.signIn(proof: nil).get()
        #expect(tokens.tokenType == "Bearer")
        #expect(try claims(of: tokens.accessToken)["cnf"] == nil)
        #expect(try await organization.introspect(tokens.accessToken).json["token_type"] == "Bearer")
        #expect(try await organization.introspect(tokens.refreshToken).json["cnf"] == nil)
        let record = try #require(try await organization.grants().first).record
        #expect(!String(decoding: record.payload, as: UTF8.self).contains("jkt"))
    }

    @Test("A client credentials request with a DPoP proof gets an access token that is bound to the proof's key")
    func service() async throws {
        let tokens = try await client.token(
            ["grant_type": "client_credentials", "scope": "messages.read"], proof: try client.proof(), client: TestOrganization.service
        ).get()
        #expect(tokens.tokenType == "DPoP")
        #expect(try claims(of: tokens.accessToken)["cnf"] == ["jkt": .string(client.maker.thumbprint)])
    }

    @Test("A client with dpop_bound_access_tokens gets invalid_dpop_proof for a password grant or a refresh without a proof")
    func required() async throws {
        let refused = try await client.signIn("bound-app", proof: nil)
        #expect(refused.refused == .invalidDPoPProof)
        #expect(refused.reason == "dpop: required")
        let tokens = try await client.signIn("bound-app", proof: try client.proof()).get()
        #expect(try await client.refresh(tokens.refreshToken, client: "bound-app", proof: nil).refused == .invalidDPoPProof)
    }

    // MARK: - Invalid proofs

    @Test("A password grant with an invalid DPoP proof is rejected with the specific reason, and creates no grant")
    func badProofs() async throws {
        let good = try client.proof()
        var repeated = good
        repeated.values.append(good.values[0])
        var none = good
        none.values = []
        var get = good
        get.method = "GET"
        var elsewhere = good
        elsewhere.url = TestOrganization.tokenURL("other")
        let cases: [(PresentedProof, String)] = [
            (repeated, "dpop: 2 headers"), (none, "dpop: 0 headers"), (get, "dpop: invalidClaim"), (elsewhere, "dpop: invalidClaim"),
            (try client.proof(at: -301), "dpop: expired"), (try client.proof(at: 302), "dpop: issuedInFuture"),
            (try client.proof(changing: ["jti": nil]), "dpop: missingClaim"),
            (PresentedProof(values: ["a.b.c"], method: "POST", url: ProvingClient.url), "dpop: malformed"),
        ]
        for (proof, reason) in cases {
            let result = try await client.signIn(proof: proof)
            #expect(result.refused == .invalidDPoPProof, "\(reason)")
            #expect(result.reason == reason)
        }
        #expect(try await organization.grants().isEmpty)
    }

    @Test("The client is authenticated before its DPoP proof is checked")
    func clientFirst() async throws {
        let proof = PresentedProof(values: ["x"], method: "POST", url: ProvingClient.url)
        let result = try await client.token(["grant_type": "password", "client_id": "unknown"], proof: proof)
        #expect(result.refused == .invalidClient)
    }

    @Test("The token endpoint rejects a replayed DPoP proof, in a sign-in and in a refresh")
    func replay() async throws {
        let proof = try client.proof()
        let tokens = try await client.signIn(proof: proof).get()
        let again = try await client.signIn(proof: proof, at: 1)
        #expect(again.refused == .invalidDPoPProof)
        #expect(again.reason == "dpop: used")
        let byRefresh = try await client.refresh(tokens.refreshToken, proof: proof, at: 2)
        #expect(byRefresh.reason == "dpop: used")
        #expect(try await organization.grants().count == 1)
        #expect(try await client.refresh(tokens.refreshToken, proof: try client.proof(at: 3), at: 3).refused == nil)
    }

    @Test("Two DPoP keys can use the same jti, but a second proof with the same key and jti is rejected")
    func ids() async throws {
        let fixed: [String: JSONValue?] = ["jti": "the same"]
        #expect(try await client.signIn(proof: try client.proof(changing: fixed)).refused == nil)
        #expect(try await thief.signIn(proof: try thief.proof(changing: fixed)).refused == nil)
        #expect(try await client.signIn(proof: try client.proof(at: 9, changing: fixed), at: 9).reason == "dpop: used")
    }

    @Test("Of several concurrent requests with the same DPoP proof to two servers with one database, exactly one gets tokens")
    func race() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "countersign-dpop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.sqlite").path
        let stores = [try SQLiteStore(path: path), try SQLiteStore(path: path)]
        var definition = TestOrganization.definition
        definition.dpop = DPoPPolicy(requiresNonce: false)
        let context = TestOrganization.context(TestOrganization.start)
        var clients = [client, client]
        for index in 0..<2 {
            clients[index].engine = Engine(store: stores[index], environment: organization.engine.environment)
        }
        _ = try await clients[0].engine.apply(definition, context: context)
        _ = try await clients[0].engine.maintainKeys(context, making: TestOrganization.key)
        let proof = try client.proof()
        let reasons = try await withThrowingTaskGroup(of: String?.self) { [clients] group in
            for attempt in 0..<8 {
                group.addTask {
                    try await clients[attempt % 2].token(
                        ["grant_type": "client_credentials", "scope": "messages.read"], proof: proof, client: TestOrganization.service
                    ).reason
                }
            }
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(reasons.count { $0 == nil } == 1)
        #expect(reasons.count { $0 == "dpop: used" } == 7)
        for store in stores { try await store.close() }
    }

    // MARK: - Nonces

    @Test("A refresh whose DPoP proof lacks a nonce gets use_dpop_nonce and a nonce, and the refresh token stays valid")
    func nonceDemanded() async throws {
        let tokens = try await client.signIn(proof: try client.proof()).get()
        let proof = try client.proof(at: 1, nonce: .some(nil))
        let refused = try await client.refresh(tokens.refreshToken, proof: proof)
        guard case .failure(let refusal) = refused else { throw TestOrganization.NoKey() }
        #expect(refusal.code == .useDPoPNonce)
        let nonce = try #require(refusal.nextNonce)
        let again = try await client.refresh(tokens.refreshToken, proof: try client.proof(at: 1, nonce: nonce))
        #expect(again.refused == nil)
    }

    @Test("A request that is rejected with use_dpop_nonce does not consume the client assertion")
    func assertionKept() async throws {
        let key = try #require(TestOrganization.clientKey)
        let now = Int64(TestOrganization.start.timeIntervalSince1970)
        let assertion = try key.sign([
            "iss": "key-app", "sub": "key-app", "aud": .string(ProvingClient.url), "exp": .integer(now + 60), "iat": .integer(now),
            "jti": "assertion",
        ])
        let credentials = ClientCredentials(
            assertionType: ClientAuthenticator.assertionType, assertion: assertion, endpoint: ProvingClient.url)
        let parameters = ["grant_type": "client_credentials", "scope": "messages.read"]
        let first = try await client.token(parameters, proof: try client.proof(nonce: .some(nil)), client: credentials)
        #expect(first.refused == .useDPoPNonce)
        #expect(try await client.token(parameters, proof: try client.proof(), client: credentials).refused == nil)
        #expect(try await client.token(parameters, proof: try client.proof(), client: credentials).reason == "client.assertion: used")
    }

    @Test("A DPoP nonce is accepted after two days, with a newer nonce in the response, and rejected after five days")
    func nonceAges() async throws {
        let day: TimeInterval = 86_400
        let nonce = client.nonce()
        let later = try await client.signIn(proof: try client.proof(at: 2 * day, nonce: nonce), at: 2 * day).get()
        #expect(later.nextNonce == client.nonce(at: 2 * day))
        #expect(later.nextNonce != nonce)
        #expect(try await client.signIn(proof: try client.proof(at: 5 * day, nonce: nonce), at: 5 * day).refused == .useDPoPNonce)
        #expect(try await client.signIn(proof: try client.proof(nonce: "invented")).refused == .useDPoPNonce)
    }

    @Test("Servers with the same master key accept each other's DPoP nonces, and reject the nonces of a server with another master key")
    func sharedNonces() async throws {
        var environment = organization.engine.environment
        let twin = ProofJudge(masterKeys: environment.masterKeys)
        environment.masterKeys = MasterKeys(SymmetricKey(data: [UInt8](repeating: 8, count: 32)))
        let stranger = ProofJudge(masterKeys: environment.masterKeys)
        let proof = try DPoPProof(verifying: try client.proof().values[0])
        let now = TestOrganization.start
        #expect(throws: Never.self) { try twin.possession(proof, nonceIsDemanded: true, now: now) }
        #expect(throws: Refusal.self) { try stranger.possession(proof, nonceIsDemanded: false, now: now) }
    }

    @Test("If DPoP nonces are not required, a proof without a nonce is accepted, and a proof with an invalid nonce is rejected")
    func nonceOptional() async throws {
        let organization = try await ProvingClient.organization { $0.dpop = DPoPPolicy(requiresNonce: false) }
        let client = try ProvingClient(organization)
        let tokens = try await client.signIn(proof: try client.proof(nonce: .some(nil))).get()
        #expect(tokens.tokenType == "DPoP")
        #expect(tokens.nextNonce == client.nonce())
        #expect(try await client.signIn(proof: try client.proof(nonce: "invented")).refused == .useDPoPNonce)
    }

    // MARK: - Refresh tokens

    @Test(
        "A DPoP-bound refresh token, used or unused, is rejected without a proof by its key, and the client's sign-in stays valid",
        arguments: ["password-app", "static-app"])
    func stolen(app: String) async throws {
        let tokens = try await client.signIn(app, proof: try client.proof()).get()
        for proof in [nil, try thief.proof(at: 1)] {
            let refused = try await thief.refresh(tokens.refreshToken, client: app, proof: proof)
            #expect(refused.refused == .invalidDPoPProof)
        }
        let next = try await client.refresh(tokens.refreshToken, client: app, proof: try client.proof(at: 2), at: 2).get()
        #expect(next.tokenType == "DPoP")
        #expect(try claims(of: next.accessToken)["cnf"] == ["jkt": .string(client.maker.thumbprint)])
        // The leeway has ended, so a retry with the key would revoke the family.
        for proof in [nil, try thief.proof(at: 600)] {
            let refused = try await thief.refresh(tokens.refreshToken, client: app, proof: proof, at: 600)
            #expect(refused.refused == .invalidDPoPProof)
        }
        #expect(try await organization.grants().allSatisfy { $0.revokedAt == nil })
        #expect(try await client.refresh(next.refreshToken, client: app, proof: try client.proof(at: 601), at: 601).refused == nil)
    }

    @Test("A refresh token that was issued without a DPoP proof stays unbound, but a refresh with a proof gets a bound access token")
    func unboundRefresh() async throws {
        let tokens = try await client.signIn(proof: nil).get()
        let bound = try await client.refresh(tokens.refreshToken, proof: try client.proof(at: 1)).get()
        #expect(bound.tokenType == "DPoP")
        let bearer = try await client.refresh(bound.refreshToken, proof: nil, at: 2).get()
        #expect(bearer.tokenType == "Bearer")
    }

    @Test(
        "A confidential client can refresh a DPoP-bound token without a proof or with another key, and another key binds the new access token"
    )
    func confidential() async throws {
        let tokens = try await client.signIn("web-app", proof: try client.proof()).get()
        #expect(tokens.tokenType == "DPoP")
        let other = try await thief.refresh(tokens.refreshToken, client: "web-app", proof: try thief.proof(at: 1)).get()
        #expect(try claims(of: other.accessToken)["cnf"] == ["jkt": .string(thief.maker.thumbprint)])
        #expect(try await thief.refresh(other.refreshToken, client: "web-app", proof: nil, at: 2).get().tokenType == "Bearer")
    }

    @Test("A token request that requires a certain DPoP key is rejected without a proof by that key")
    func requiredKey() async throws {
        let snapshot = try await organization.engine.snapshot()
        let proof = try DPoPProof(verifying: try client.proof().values[0])
        var request = AdmittedRequest(
            snapshot: snapshot, server: try #require(snapshot.server("default")),
            application: try #require(snapshot.application("password-app")), grantType: "authorization_code", parameters: [:],
            context: TestOrganization.context(TestOrganization.start), assertionUse: nil,
            proof: try organization.engine.proofs.possession(proof, nonceIsDemanded: true, now: TestOrganization.start))
        #expect(throws: Never.self) { try request.requireKey(nil) }
        #expect(throws: Never.self) { try request.requireKey(client.maker.thumbprint) }
        #expect(throws: Refusal.self) { try request.requireKey(thief.maker.thumbprint) }
        request.proof = nil
        #expect(throws: Never.self) { try request.requireKey(nil) }
        #expect(throws: Refusal.self) { try request.requireKey(client.maker.thumbprint) }
    }

    // MARK: - Stored

    @Test(
        "An application and organization settings without DPoP options are stored without DPoP members, and decoded with token binding off")
    func oldRecords() async throws {
        let application = try #require(TestOrganization.definition.applications.first)
        let encoded = try RecordCoding.encode(application)
        #expect(!String(decoding: encoded, as: UTF8.self).contains("bindsTokens"))
        #expect(try JSONDecoder().decode(Application.self, from: Data(encoded)) == application)
        #expect(try await organization.engine.snapshot().application("bound-app")?.dpopBoundAccessTokens == true)
        #expect(try await organization.engine.snapshot().application("web-app")?.dpopBoundAccessTokens == false)
        let settings: Record? = try await organization.store.read { try $0.record(.organization, id: OrganizationSettings.reference.id) }
        #expect(!String(decoding: try #require(settings).payload, as: UTF8.self).contains("dpop"))
    }
}
