import Foundation
import TestSupport
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire
@testable import Store

/// Attacks on the time between the read of a sign-in and its commit, and on proofs that are accepted once.
@Suite("Concurrent account changes and repeated proofs in a sign-in")
struct OvertakenSignInTests {
    /// Signs Jane in with an engine that runs a change between the read and the commit.
    ///
    /// Jane has signed in from this origin before, so the sign-in does not write the user record. Only the condition of the commit detects
    /// the change.
    private func signIn(
        _ organization: TestOrganization, beforeSecondRead: Bool = false, _ more: [String: String] = [:],
        overtakenBy change: @escaping @Sendable (_ userID: String) async throws -> Void
    ) async throws -> Result<TokenResponse, Refusal> {
        let user = try #require(try await organization.janesID())
        _ = try await organization.signIn().get()
        let store = InterruptedStore(organization.store)
        let slow = Engine(store: store, environment: organization.engine.environment)
        if beforeSecondRead {
            store.beforeSecondRead { try await change(user) }
        } else {
            store.beforeNextCommit { try await change(user) }
        }
        return try await slow.token(
            TokenRequest(
                server: "default", client: ClientCredentials(clientID: "password-app", endpoint: ""),
                parameters: [
                    "grant_type": "password", "username": TestOrganization.jane, "password": TestOrganization.janesPassword,
                    "scope": "openid offline_access",
                ].merging(more) { $1 }),
            context: TestOrganization.context(TestOrganization.time(0)))
    }

    @Test("A sign-in is rejected if the account is suspended while the password is checked")
    func deactivated() async throws {
        let organization = try await TestOrganization()
        let answer = try await signIn(organization) { [store = organization.store] user in
            let stored = try await store.read { try $0.record(.user, id: user).map(StoredUser.init) }
            guard let stored else { throw NoSuchThing("user") }
            var closed = stored.value
            closed.status = .suspended
            _ = try await store.commit([.put(try stored.record(holding: closed))])
        }
        #expect(answer.refused == .invalidGrant)
    }

    @Test("A sign-in is rejected if the user is signed out everywhere during the sign-in, and the next sign-in succeeds")
    func signedOut() async throws {
        let organization = try await TestOrganization()
        let answer = try await signIn(organization) { user in
            _ = try await organization.engine.signOutEverywhere(
                userID: user, context: TestOrganization.context(TestOrganization.time(0)))
        }
        #expect(answer.refused == .invalidGrant)
        #expect(try await organization.grants().count == 1)
        #expect(try await organization.introspect(try organization.signIn().get().accessToken).isActive)
    }

    @Test("A sign-in is rejected if the user is signed out everywhere after the password check, before the server reads the user's factors")
    func signedOutBeforeFactors() async throws {
        let organization = try await TestOrganization()
        let factors = ["acr_values": "urn:okta:loa:2fa:any:ifpossible"]
        let answer = try await signIn(organization, beforeSecondRead: true, factors) { user in
            try await organization.engine.signOutEverywhere(
                userID: user, context: TestOrganization.context(TestOrganization.time(0)))
        }
        #expect(answer.refused == .invalidGrant)
        #expect(try await organization.grants().count == 1)
        #expect(try await signIn(organization, factors) { _ in }.refused == nil)
    }

    @Test("A wrong password counts even if its DPoP proof is replayed concurrently, and the server checks no password for a used proof")
    func replayedProof() async throws {
        let organization = try await ProvingClient.organization()
        let client = try ProvingClient(organization)
        // The proof is used between the read and the commit, as by a simultaneous request.
        let store = InterruptedStore(organization.store)
        for _ in 0..<3 {
            let fresh = try client.proof()
            let parameters = [
                "grant_type": "password", "client_id": "password-app", "username": TestOrganization.jane, "password": "wrong",
                "scope": "openid",
            ]
            var racing = client
            racing.engine = Engine(store: store, environment: organization.engine.environment)
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
        let meter = OperationMeter()
        let repeated = try await OperationMeter.$current.withValue(meter) { try await client.signIn(proof: proof) }
        #expect(repeated.refused == .invalidDPoPProof)
        #expect(meter.take()[.passwordHash] == nil, "The password is not checked.")
    }

    @Test("A correct authenticator code is consumed even if the access policy denies the tokens")
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

    @Test("The result of a code check for one channel is not reused for another channel")
    func otherFactor() async throws {
        let app = try await AppFixture()
        func check(_ channel: CodeChannel) -> Check<FactorVerdict> {
            let verifier = CodeVerifier(
                environment: app.engine.environment, channel: channel, enrollments: [], owner: "", now: TestOrganization.time(0))
            return Check(.code("1"), of: nil, enrollments: [], policy: PasswordPolicy(), by: verifier)
        }
        #expect(check(.sms) == check(.sms))
        #expect(check(.sms) != check(.email))
    }

    @Test("An approved push leaves the user record unchanged if the sign-in is rejected because the user is no longer assigned")
    func refusedApproval() async throws {
        let org = try await PushFixture()
        let phone = try await org.enroll()
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        var closed = PushFixture.definition
        for index in closed.applications.indices where closed.applications[index].id == "direct-app" {
            closed.applications[index].assignment = .init()
        }
        _ = try await org.engine.apply(closed, context: PushFixture.context(13))
        let id = try await org.userID()
        let before = try await org.store.read { try $0.record(.user, id: id)?.payload }
        #expect(try await org.poll(waiting, at: 20).refused == .accessDenied)
        #expect(try await org.store.read { try $0.record(.user, id: id)?.payload } == before)
    }
}
