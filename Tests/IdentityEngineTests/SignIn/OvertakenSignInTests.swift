import Foundation
import JOSE
import TestSupport
import Testing

@testable import IdentityEngine

/// Attacks on the time between the read of a sign-in and its commit, and on proofs that are accepted once.
@Suite("A sign-in that is overtaken or repeated")
struct OvertakenSignInTests {
    @Test("A sign-in whose account is deactivated while the password is hashed is refused.")
    func deactivated() async throws {
        let organization = try await TestOrganization()
        let user = try #require(try await organization.janesID())
        _ = try await organization.signIn().get()
        let store = InterruptedStore(organization.store)
        let slow = IdentityEngine(store: store, environment: organization.engine.environment)
        store.beforeNextCommit { [store = organization.store] in
            let stored = try await store.read { try $0.record(.user, id: user).map(StoredUser.init) }
            guard let stored else { throw NoSuchThing("user") }
            var closed = stored.value
            closed.status = .suspended
            _ = try await store.commit([.put(try stored.record(holding: closed))])
        }
        let answer = try await slow.token(
            TokenRequest(
                server: "default", client: ClientCredentials(clientID: "password-app", endpoint: ""),
                parameters: [
                    "grant_type": "password", "username": TestOrganization.jane, "password": TestOrganization.janesPassword,
                    "scope": "openid",
                ]),
            context: TestOrganization.context(TestOrganization.time(1)))
        #expect(answer.refused == .invalidGrant)
    }

    @Test("Wrong passwords with a proof that was used before are counted and lock the account.")
    func replayedProof() async throws {
        let organization = try await ProvingClient.organization()
        let client = try ProvingClient(organization)
        // The proof is used between the read and the commit, as by requests that are sent at the same time.
        let store = InterruptedStore(organization.store)
        for _ in 0..<3 {
            let fresh = try client.proof()
            let parameters = [
                "grant_type": "password", "client_id": "password-app", "username": TestOrganization.jane, "password": "wrong",
                "scope": "openid",
            ]
            var racing = client
            racing.engine = IdentityEngine(store: store, environment: organization.engine.environment)
            store.beforeNextCommit {
                var other = parameters
                other["username"] = "stranger@example.com"
                _ = try await client.token(other, proof: fresh)
            }
            let answer = try await racing.token(parameters, proof: fresh)
            #expect(answer.refused == .invalidDPoPProof)
        }
        let id = try #require(try await organization.janesID())
        let jane = try await organization.store.read { try $0.record(.user, id: id).map(StoredUser.init)?.value }
        #expect(try #require(jane)[.others][.password, isFurther: false] == 3)
        let proof = try client.proof()
        _ = try await client.signIn(proof: proof).get()
        #expect(try await client.signIn(proof: proof).refused == .invalidDPoPProof)
    }

    @Test("A right code is used up even if the access policy issues no tokens.")
    func deniedScope() async throws {
        let app = try await AppFixture { definition in
            for index in definition.authorizationServers.indices { definition.authorizationServers[index].accessPolicies = [] }
        }
        let parameters = [
            "grant_type": AppFixture.firstFactor, "login_hint": AppFixture.jane, "otp": app.code(at: 60), "scope": "openid",
        ]
        #expect(try await app.organization.token(parameters, client: "one-factor-app", at: 60).refused == .accessDenied)
        #expect(try await app.organization.token(parameters, client: "one-factor-app", at: 61).refused == .invalidGrant)
    }
}
