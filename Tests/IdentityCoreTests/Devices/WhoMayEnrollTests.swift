import Foundation
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore

@Suite("Authorization to enroll a device")
struct WhoMayEnrollTests {
    @Test("A sign-in with only a password can enroll the user's first phone, but not a second phone")
    func firstAndSecond() async throws {
        let fixture = try await DeviceFixture()
        let token = try await fixture.weakToken()
        let first = try await fixture.enrolledPhone(by: token)
        let second = try Phone(userID: first.userID)
        for token in [token, try await fixture.weakToken(at: 2)] {
            let refused = try await fixture.enroll(second.enrollment(), token, at: 3)
            #expect(refused.code == "E0000006" && refused.status == 403 && refused.why == "second factor is not proved")
        }
        #expect(try await fixture.enrollments().map(\.id) == [first.enrollmentID])
        #expect(try await fixture.enroll(second.enrollment(), fixture.strongToken(), at: 3).code == nil)
        #expect(try await fixture.enrollments().count == 2)
    }

    @Test("A user with another enrolled factor needs a two-factor sign-in to enroll a phone")
    func otherFactor() async throws {
        let fixture = try await DeviceFixture()
        let id = try await fixture.userID()
        try await fixture.organization.store.enroll(.totp, of: id, at: DeviceFixture.context().now)
        let phone = try Phone(userID: id)
        #expect(try await fixture.enroll(phone.enrollment(), fixture.weakToken()).code == "E0000006")
        #expect(try await fixture.enroll(phone.enrollment(), fixture.strongToken()).code == nil)
    }

    @Test("To enroll a phone, the user must prove even a suspended push factor, but not a factor on a deleted device")
    func closedFactors() async throws {
        let fixture = try await DeviceFixture {
            $0.authenticators.append(PushAuthenticator(id: "autother", name: "Other", clientID: "other-phone-app"))
        }
        let first = try await fixture.enrolledPhone()
        func attempt() async throws -> String? {
            let token = DeviceAuthorization.bearer(try await fixture.accessToken(client: "other-phone-app"))
            return try await fixture.enroll(Phone(userID: first.userID).enrollment(authenticator: "autother"), token, at: 2).why
        }
        #expect(try await attempt() == "second factor is not proved")
        #expect(try await fixture.engine.suspendEnrollment(first.enrollmentID, context: DeviceFixture.context(2)))
        #expect(try await attempt() == "second factor is not proved")
        #expect(try await fixture.engine.suspendDevice(first.deviceID, context: DeviceFixture.context(2)))
        #expect(try await attempt() == "second factor is not proved")
        #expect(try await fixture.engine.deleteDevice(first.deviceID, context: DeviceFixture.context(2)))
        #expect(try await attempt() == nil)
    }

    @Test("To enroll a phone, the user need not prove a push factor whose authenticator is inactive")
    func pushOff() async throws {
        let other = PushAuthenticator(id: "autother", name: "Other", clientID: "other-phone-app")
        let fixture = try await DeviceFixture { $0.authenticators.append(other) }
        let first = try await fixture.enrolledPhone()
        try await fixture.reconfigure {
            $0.authenticators[0].isActive = false
            $0.authenticators.append(other)
        }
        let token = DeviceAuthorization.bearer(try await fixture.accessToken(client: "other-phone-app"))
        let body = try Phone(userID: first.userID).enrollment(authenticator: "autother")
        #expect(try await fixture.enroll(body, token, at: 2).code == nil)
    }

    @Test("If a password sign-in enrolls two first phones concurrently, only one phone is enrolled")
    func race() async throws {
        let fixture = try await DeviceFixture()
        let id = try await fixture.userID()
        let token = try await fixture.weakToken()
        let (first, second) = (try Phone(userID: id).enrollment(), try Phone(userID: id).enrollment())
        let store = InterruptedStore(fixture.organization.store)
        store.beforeNextCommit { () async throws in
            #expect(try await fixture.enroll(second, token).code == nil)
        }
        let slower = Engine(store: store, environment: fixture.engine.environment)
        let answer = try await slower.enrollDevice(first, authorization: token, context: DeviceFixture.context(1))
        #expect(answer.why == "second factor is not proved")
        #expect(try await fixture.enrollments().count == 1)
    }

    @Test("An enrollment fails if its device is deleted at the same time")
    func deletedMeanwhile() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let body = try phone.again(for: try await fixture.userID(DeviceFixture.john)).enrollment(attestation: phone.attestation().signed())
        let store = InterruptedStore(fixture.organization.store)
        store.beforeNextCommit { () async throws in
            #expect(try await fixture.engine.deleteDevice(phone.deviceID, context: DeviceFixture.context(2)))
        }
        let slower = Engine(store: store, environment: fixture.engine.environment)
        let answer = try await slower.enrollDevice(
            body, authorization: fixture.weakToken(of: DeviceFixture.john), context: DeviceFixture.context(2))
        #expect(answer.code == "E0000153")
        #expect(try await fixture.enrollments(of: DeviceFixture.john).isEmpty)
    }

    @Test(
        "A phone can be enrolled only within 15 minutes after the sign-in",
        arguments: [(898.0, nil), (901.0, "key: sign-in is too old")] as [(TimeInterval, String?)])
    func freshness(age: TimeInterval, reason: String?) async throws {
        let fixture = try await DeviceFixture()
        let phone = try Phone(userID: try await fixture.userID())
        #expect(try await fixture.enroll(phone.enrollment(), fixture.weakToken(), at: age).why == reason)
    }

    @Test("A newly issued token of an old sign-in cannot enroll a phone")
    func refreshed() async throws {
        let fixture = try await DeviceFixture()
        let token = try await fixture.accessToken(methods: ["pwd", "mfa"], signedInAt: 0, issuedAt: 2_000)
        let phone = try Phone(userID: try await fixture.userID())
        #expect(try await fixture.enroll(phone.enrollment(), .bearer(token), at: 2_001).why == "key: sign-in is too old")
    }

    @Test(
        "A token of a non-interactive grant, such as CIBA or client credentials, cannot enroll a phone",
        arguments: [
            "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange",
            "urn:ietf:params:oauth:grant-type:device_code", "urn:openid:params:grant-type:ciba", "client_credentials",
        ])
    func grantTypes(grantType: String) async throws {
        let fixture = try await DeviceFixture()
        let phone = try Phone(userID: try await fixture.userID())
        let token = try await fixture.accessToken(grantType: grantType, methods: ["pwd", "mfa"])
        let refused = try await fixture.enroll(phone.enrollment(), .bearer(token))
        #expect(refused.code == "E0000006" && refused.why == "key: no interactive sign-in")
    }

    @Test("After a password sign-in enrolls the first phone, neither its token nor its refreshed token can enroll a second phone")
    func wholeSignIn() async throws {
        let fixture = try await DeviceFixture()
        let tokens = try await fixture.organization.signIn(
            "openid offline_access \(DeviceFixture.manage)", client: "phone-app", server: nil
        ).get()
        #expect(tokens.scopes.contains(DeviceFixture.manage))
        var phone = try Phone(userID: try await fixture.userID())
        try phone.remember(await fixture.enroll(phone.enrollment(), .bearer(tokens.accessToken)).get())
        let second = try Phone(userID: phone.userID)
        #expect(try await fixture.enroll(second.enrollment(), .bearer(tokens.accessToken)).code == "E0000006")
        // A refreshed token lacks the scope.
        let refreshed = try await fixture.organization.refresh(tokens.refreshToken, client: "phone-app", server: nil, at: 2).get()
        #expect(!refreshed.scopes.contains(DeviceFixture.manage))
        #expect(try await fixture.enroll(second.enrollment(), .bearer(refreshed.accessToken), at: 3).why == "scope is missing")
        // From now on, a password alone gets no token with this scope.
        let again = try await fixture.organization.signIn(DeviceFixture.manage, client: "phone-app", server: nil, at: 2)
        #expect(again.refused == .mfaRequired)
    }

    @Test("A user's only phone can enroll again with its attestation and no other factor, but not if the user has another phone")
    func attested() async throws {
        let fixture = try await DeviceFixture()
        let first = try await fixture.enrolledPhone()
        let token = try await fixture.weakToken(at: 1)
        let again = try first.again().enrollment(attestation: first.attestation().signed())
        #expect(try await fixture.enroll(again, token, at: 2).code == nil)
        // If the user already has a phone, that phone must approve the enrollment.
        _ = try await fixture.enrolledPhone(at: 3)
        let third = try first.again().enrollment(attestation: first.attestation(at: 5).signed())
        #expect(try await fixture.enroll(third, fixture.weakToken(at: 4), at: 5).why == "second factor is not proved")
    }

    @Test("Enrolling on another user's phone is rejected if the user has not proved the existing second factor")
    func strangersPhone() async throws {
        let fixture = try await DeviceFixture()
        _ = try await fixture.enrolledPhone()
        let strangers = try await fixture.enrolledPhone(of: DeviceFixture.john)
        let body = try strangers.again(for: try await fixture.userID()).enrollment(attestation: strangers.attestation().signed())
        #expect(try await fixture.enroll(body, fixture.weakToken(), at: 2).why == "second factor is not proved")
        #expect(try await fixture.enrollments().count == 1)
    }

    @Test(
        "If an enrolled phone approves a push, the user can enroll a second phone; if a phone denies the push, the sign-in gets access_denied"
    )
    func approvedByTheFirst() async throws {
        let fixture = try await PushFixture()
        let first = try await fixture.enroll()
        let second = try await fixture.enroll(existing: first, at: 20)
        #expect(second.enrollmentID != first.enrollmentID)
        let mfaToken = try await fixture.mfaToken(scope: DeviceFixture.manage, client: "phone-app", server: nil, at: 40)
        let code = try await fixture.challenge(mfaToken, client: "phone-app", server: nil, at: 40).get().secret()
        #expect(try await fixture.answer(second, consent: "DENIED_CONSENT_PROMPT", at: 41).get() == .denied)
        let refused = try await fixture.poll(mfaToken, code, client: "phone-app", server: nil, at: 42)
        #expect(refused.refused == .accessDenied)
        // The app repeats the poll, and then tries tokens without the second factor.
        let repeated = try await fixture.poll(mfaToken, code, client: "phone-app", server: nil, at: 48)
        #expect(repeated.refused != nil)
        let password = try await fixture.signIn(scope: "openid", client: "phone-app", server: nil, at: 49).get().accessToken
        for (token, code) in [(password, "E0000006"), (mfaToken, "E0000011")] {
            let third = try await fixture.engine.enrollDevice(
                Phone(userID: first.userID).enrollment(), authorization: .bearer(token), context: PushFixture.context(50))
            #expect(third.code == code, "\(third)")
        }
        let enrolled = try await fixture.engine.deviceEnrollments(ofUser: try await fixture.userID())
        #expect(Set(enrolled.map(\.id)) == [first.enrollmentID, second.enrollmentID])
    }
}
