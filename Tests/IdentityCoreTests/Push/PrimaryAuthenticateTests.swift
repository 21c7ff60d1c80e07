import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

@Suite("Push as first factor")
struct PrimaryAuthenticateTests {
    private let org: PushFixture

    init() async throws {
        org = try await PushFixture()
    }

    private func refusal(_ result: Result<StartedChallenge, Refusal>) throws -> Refusal {
        guard case .failure(let refusal) = result else { throw NoSuchThing("refusal") }
        return refusal
    }

    @Test("A push request for an unknown user, a user without a phone or a suspended user gets the same 403 access_denied response")
    func alike() async throws {
        _ = try await org.enroll(PushFixture.john)
        _ = try await org.engine.setStatus(
            userID: try await org.userID(PushFixture.john), to: .suspended, context: PushFixture.context(1))
        var answers: [Refusal] = []
        // The logins are those of an unknown user, a suspended user without a phone, an active user without a phone, and a suspended user
        // with a phone.
        for login in ["unknown@example.com", "closed@example.com", PushFixture.jane, PushFixture.john] {
            var refusal = try refusal(try await org.primary(login))
            refusal.reason = ""
            answers.append(refusal)
        }
        #expect(answers.allSatisfy { $0 == answers[0] })
        #expect(answers[0].code == .accessDenied && answers[0].status == .forbidden)
        #expect(answers[0].members.isEmpty)
    }

    @Test("A push request for an unknown user or a user without a phone stores no transaction")
    func nothingStored() async throws {
        _ = try await org.primary()
        _ = try await org.primary("unknown@example.com")
        let count = try await org.store.read { try $0.records(.transaction, after: nil, limit: 10).count }
        #expect(count == 0)
    }

    @Test(
        "A push request is rejected if the phone's enrollment is deleted or its authenticator is inactive",
        arguments: ["enrollment", "authenticator"])
    func closed(what: String) async throws {
        let phone = try await org.enroll()
        _ = try await org.primary().get()
        if what == "enrollment" {
            let own = DeviceAuthorization.ssws(try phone.authorization(at: 12).signed())
            try await org.engine.deleteDeviceEnrollment(
                id: phone.enrollmentID, authorization: own, context: PushFixture.context(12)
            ).get()
        } else {
            var definition = PushFixture.definition
            definition.authenticators[0].isActive = false
            _ = try await org.engine.apply(definition, context: PushFixture.context(12))
        }
        #expect(try refusal(try await org.primary(at: 13)).status == .forbidden)
    }

    @Test("A push request for an unassigned user gets the same response as a request for an unknown user name")
    func unassigned() async throws {
        _ = try await org.enroll(PushFixture.john)
        var own = try refusal(try await org.primary(PushFixture.john, client: "closed-app"))
        var unknown = try refusal(try await org.primary("unknown@example.com", client: "closed-app"))
        #expect(own.reason == "challenge: user is not assigned to the application")
        (own.reason, unknown.reason) = ("", "")
        #expect(own == unknown && own.code == .accessDenied && own.status == .forbidden)
    }

    @Test(
        "A push request with an empty or unsuitable hint gets invalid_request, and a request for an unavailable factor gets 403 access_denied",
        arguments: [
            ("channel_hint", "pigeon", Refusal.Code.invalidRequest, false), ("channel_hint", "", .invalidRequest, false),
            ("channel_hint", "sms", .accessDenied, true), ("login_hint", "", .invalidRequest, false),
            ("challenge_hint", "urn:okta:params:oauth:grant-type:otp", .invalidRequest, false),
            ("challenge_hint", "urn:okta:params:oauth:grant-type:webauthn", .accessDenied, true),
        ])
    func parameters(name: String, value: String, code: Refusal.Code, isForbidden: Bool) async throws {
        _ = try await org.enroll()
        let refusal = try refusal(try await org.primary(at: 11, [name: value]))
        #expect(refusal.code == code && refusal.status == (isForbidden ? .forbidden : nil))
        #expect(isForbidden || refusal.description.contains(name), "\(refusal.description)")
    }

    @Test("A client without the push grant types gets unauthorized_client at every endpoint of a push sign-in")
    func grant() async throws {
        #expect(try await org.primary(client: "no-push-app").refused == .unauthorizedClient)
        #expect(try await org.challenge("mfa_any", client: "no-push-app").refused == .unauthorizedClient)
        #expect(try await org.pollFirst("oob_any", client: "no-push-app", at: 12).refused == .unauthorizedClient)
        #expect(try await org.poll("mfa_any", "oob_any", client: "no-push-app", at: 12).refused == .unauthorizedClient)
    }

    @Test(
        "Too many push requests for one user name get 429 invalid_grant, for a known and for an unknown user name",
        arguments: [PushFixture.jane, "unknown@example.com"])
    func attempts(login: String) async throws {
        let org = try await PushFixture { $0.rateLimits.perUser = 3 }
        for _ in 0..<3 { _ = try await org.primary(login) }
        let refusal = try refusal(try await org.primary(login))
        #expect(refusal.code == .invalidGrant && refusal.status == .tooManyRequests && refusal.rateLimit?.limit == 3)
    }

    @Test("If two factors are required, a push request for a user whose phone has no user verification key is refused")
    func twoFactorsSimplePhone() async throws {
        _ = try await org.enroll()
        #expect(try refusal(try await org.primary(client: "direct-app")).status == .forbidden)
    }

    @Test(
        "If two factors are required, an approval by the user verification key counts as two, and an approval by the possession key is rejected"
    )
    func twoFactors() async throws {
        let phone = try await org.enroll(userVerification: true)
        let code = try await org.primary(client: "direct-app").get().secret()
        #expect(try await org.newest(phone, at: 12)["userVerification"]?.stringValue == "REQUIRED")
        #expect(try await org.answer(phone, at: 12).code == "E0000001")
        #expect(try await org.pollFirst(code, client: "direct-app", at: 13).refused == .authorizationPending)
        _ = try await org.answer(phone, consent: "APPROVED_USER_VERIFICATION", with: .userVerification, at: 14).get()
        let tokens = try await org.pollFirst(code, client: "direct-app", at: 18).get()
        let methods = try claims(of: tokens.idToken)["amr"]?.stringArrayValue ?? []
        #expect(methods.first == "swk" && methods.last == "mfa")
    }

    @Test(
        "If the account is locked, suspended or gets a new password after a push approval, the poll gets no tokens, even after a reactivation",
        arguments: ["lock", "suspend", "password"])
    func changed(how: String) async throws {
        let phone = try await org.enroll()
        let code = try await org.primary().get().secret()
        _ = try await org.answer(phone, at: 12).get()
        let user = try await org.userID()
        switch how {
        case "lock":
            for attempt in 0..<10 {
                _ = try await org.signIn(client: "one-factor-app", at: 13, ["password": "wrong-\(attempt)"])
            }
        case "suspend": _ = try await org.engine.setStatus(userID: user, to: .suspended, context: PushFixture.context(13))
        default: _ = try await org.engine.setPassword(userID: user, to: "Another-Horse-8", context: PushFixture.context(13))
        }
        #expect(try await org.pollFirst(code, at: 17).refused == .invalidGrant)
        _ = try await org.engine.setStatus(userID: user, to: .active, context: PushFixture.context(18))
        _ = try await org.engine.unlock(userID: user, context: PushFixture.context(18))
        #expect(try await org.pollFirst(code, at: 19).refused == .invalidGrant)
    }
}
