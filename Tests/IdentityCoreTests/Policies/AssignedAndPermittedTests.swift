import Foundation
import JOSE
import Testing

@testable import IdentityCore

@Suite("Application assignments and permitted grants")
struct AssignedAndPermittedTests {
    @Test("A user without an assignment to the application cannot sign in by password, push or back channel")
    func unknownUser() async throws {
        let org = try await PushFixture { definition in
            for index in definition.applications.indices
            where ["direct-app", "one-factor-app", "bank"].contains(definition.applications[index].id) {
                definition.applications[index].assignment = .init()
            }
        }
        _ = try await org.enroll()
        for client in ["direct-app", "one-factor-app"] {
            #expect(try await org.signIn(client: client, at: 10).refused == .accessDenied)
        }
        #expect(try await org.primary(at: 11).refused == .accessDenied)
        #expect(try await org.backchannel(at: 12).refused == .unknownUserID)
        // With a wrong password, the response does not reveal the missing assignment.
        let wrong = try await org.signIn(client: "one-factor-app", at: 13, ["password": "guessed"])
        #expect(wrong.refused == .invalidGrant)
        let reasons = try await org.log("user.authentication.password").filter { $0.clientID == "one-factor-app" }.compactMap(\.reason)
        #expect(reasons.contains { $0.contains("user is not assigned to the application") })
    }

    /// Returns an organization with the guide's access rule for two factors. The rule permits codes and pushes, but not passwords.
    private static func guideRule(_ more: [String] = []) async throws -> PushFixture {
        try await PushFixture { definition in
            let rule = AccessRule(name: "codes and pushes", grantTypes: ["authorization_code", PushFixture.secondFactor] + more)
            definition.authorizationServers[1].accessPolicies = [AccessPolicy(name: "guide", rules: [rule])]
        }
    }

    @Test("If an access rule permits the push grant but not the password grant, a password and an approved push return tokens")
    func twoFactors() async throws {
        let org = try await Self.guideRule()
        let phone = try await org.enroll()
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        _ = try await org.poll(waiting, at: 16).get()
    }

    @Test(
        "If one factor is required, an access rule without the password grant denies a password sign-in, and the log names the failed condition"
    )
    func oneFactor() async throws {
        let org = try await Self.guideRule()
        #expect(try await org.signIn(client: "one-factor-app", at: 10).refused == .accessDenied)
        let reasons = try await org.engine.systemLog(SystemLogQuery(since: .distantPast, limit: 1_000)).events.compactMap(\.reason)
        #expect(reasons.contains("policy: guide/codes and pushes: grantType"))
        _ = try await Self.guideRule(["password"]).signIn(client: "one-factor-app", at: 10).get()
    }

    @Test(
        "The authenticator metadata contains the kind of the authenticator, custom_app or okta_verify",
        arguments: [PushAuthenticator.Kind.customApp, .oktaVerify])
    func kinds(kind: PushAuthenticator.Kind) async throws {
        let fixture = try await DeviceFixture { $0.authenticators[0].kind = kind }
        let metadata = try await fixture.configuration(fixture.weakToken()).get()
        #expect(metadata.arrayValue?.first?["key"]?.stringValue == (kind == .customApp ? "custom_app" : "okta_verify"))
    }
}
