import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire

@Suite("Attempts to replace a strong proof by a weaker proof")
struct WeakerProofTests {
    private static let lost = "UV_PERMANENTLY_UNAVAILABLE"

    @Test(
        "If user verification is required, a response signed by the possession key is rejected, even if it reports the other key as unavailable"
    )
    func requiredVerification() async throws {
        let org = try await PushFixture { $0.authenticators[0].userVerification = .required }
        let phone = try await org.enroll(userVerification: true)
        _ = try await org.waiting()
        #expect(try await org.answer(phone, consent: Self.lost, at: 12).why?.contains("user verification is required") == true)
        // The challenge still requires the user verification key. An approval with the possession key is not enough.
        let waiting = try await org.waiting(at: 20)
        #expect(try await org.answer(phone, at: 22).why?.contains("user verification is required") == true)
        #expect(try await org.poll(waiting, at: 25).refused == .authorizationPending)
    }

    @Test("A phone without a user verification key gets no challenge after its authenticator is changed to require this key")
    func requiredLater() async throws {
        let org = try await PushFixture()
        _ = try await org.enroll()
        var definition = PushFixture.definition
        definition.authenticators[0].userVerification = .required
        _ = try await org.engine.apply(definition, context: PushFixture.context(5))
        #expect(try await org.challenge(org.mfaToken(at: 10), at: 11).refused == .accessDenied)
    }

    @Test("A poll of an approved push gets no tokens if the phone's enrollment is deleted before the poll")
    func deletedApprover() async throws {
        let org = try await PushFixture { definition in
            for index in definition.applications.indices where definition.applications[index].id == "phone-app" {
                definition.applications[index].grantTypes.append(PushFixture.firstFactor)
            }
        }
        let phone = try await org.enroll()
        let code = try await org.primary(client: "phone-app", server: nil, at: 10).get().secret()
        _ = try await org.answer(phone, at: 11).get()
        let authorization = DeviceAuthorization.ssws(try phone.authorization(at: 12).signed())
        try await org.engine.deleteDeviceEnrollment(
            id: phone.enrollmentID, authorization: authorization, context: PushFixture.context(12)
        ).get()
        let answer = try await org.pollFirst(code, scope: DeviceFixture.manage, client: "phone-app", server: nil, at: 13)
        #expect(answer.refused == .invalidGrant)
    }

    @Test("A poll after an approval gets no tokens if the approving phone's enrollment was suspended before the poll")
    func suspendedApprover() async throws {
        let org = try await PushFixture()
        let phone = try await org.enroll()
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, at: 12).get()
        _ = try await org.engine.suspendEnrollment(phone.enrollmentID, true, context: PushFixture.context(13))
        #expect(try await org.poll(waiting, at: 14).refused == .invalidGrant)
    }

    @Test("A back-channel request for the device enrollment scope gets invalid_scope")
    func backchannelScope() async throws {
        let org = try await PushFixture { definition in
            for index in definition.applications.indices where definition.applications[index].id == "bank" {
                definition.applications[index].grantedAPIScopes = DeviceFixture.allScopes
            }
        }
        _ = try await org.enroll()
        let asked = ["login_hint": PushFixture.jane, "scope": "openid \(DeviceFixture.manage)"]
        #expect(try await org.backchannel(asked, server: nil).refused == .invalidScope)
    }

    @Test("A back-channel request has no number challenge, even if the authenticator's number challenge is set to always")
    func backchannelNumber() async throws {
        let org = try await PushFixture { $0.authenticators[0].numberChallenge = .always }
        let phone = try await org.enroll()
        _ = try await org.backchannel().get()
        #expect(try await org.newest(phone, at: 12)["challengeContext"]?["numberChoices"] == nil)
        _ = try await org.answer(phone, at: 13).get()
    }

    @Test("A push sign-in makes the origin of the challenge request known, but not a different origin of the poll")
    func knownPlace() async throws {
        let org = try await PushFixture { $0.authenticators[0].numberChallenge = .risky }
        let phone = try await org.enroll()
        let token = try await org.mfaToken(at: 10)
        let started = try await org.challenge(token, at: 11).get()
        let number = started.members["binding_code"]?.stringValue
        #expect(number != nil)
        _ = try await org.answer(phone, number: number, at: 12).get()
        var elsewhere = PushFixture.context(13)
        elsewhere.address = "198.51.100.7"
        let poll = TokenRequest(
            server: "default", client: ClientCredentials(clientID: "direct-app", endpoint: TestOrganization.tokenURL("default")),
            parameters: ["grant_type": PushFixture.secondFactor, "mfa_token": token, "oob_code": try started.secret()])
        _ = try await org.engine.token(poll, context: elsewhere).get()
        let user = try #require(try await org.engine.user(login: PushFixture.jane))
        let app = Application(id: "a", name: "a", kind: .native, signOnPolicy: "")
        #expect(SignInOrigin.isKnown(SignInOrigin.fingerprint(of: PushFixture.context(0), application: app), to: user))
        #expect(!SignInOrigin.isKnown(SignInOrigin.fingerprint(of: elsewhere, application: app), to: user))
    }

    @Test("If acr_values requests two factors, the challenge requires the user verification key")
    func contextClass() async throws {
        let org = try await PushFixture()
        let phone = try await org.enroll(userVerification: true)
        _ = try await org.primary(at: 10, ["acr_values": "urn:okta:loa:2fa:any"]).get()
        #expect(try await org.newest(phone, at: 11)["userVerification"]?.stringValue == "REQUIRED")
    }

    @Test("A response to an expired challenge gets an error that states the expiry, even after the clean-up of expired records")
    func swept() async throws {
        let org = try await PushFixture()
        let phone = try await org.enroll()
        let waiting = try await org.waiting(at: 10)
        let answer = try PushFixture.sign(phone, try await org.newest(phone, at: 11), at: 400)
        _ = try await org.engine.removeExpired(now: TestOrganization.time(400), limit: 10_000)
        #expect(try await org.poll(waiting, at: 401).refused == .expiredToken)
        #expect(try await org.poll(waiting, at: 407).refused == .expiredToken)
        let late = try await org.send(answer, at: 402)
        #expect(late.code == "E0000001" && late.why == "The challenge has expired.")
        #expect(try await org.challenge(waiting.mfaToken, at: 910).refused == .accessDenied)
    }

    @Test("After 20 invalid responses to a challenge in a minute, further responses get E0000047 until the next minute")
    func manyAnswers() async throws {
        let org = try await PushFixture()
        let phone = try await org.enroll()
        _ = try await org.waiting()
        let challenge = try await org.newest(phone, at: 11)
        for _ in 0..<20 {
            #expect(try await org.send(PushFixture.sign(phone, challenge, consent: "NOTHING", at: 12), at: 12).code == "E0000001")
        }
        #expect(try await org.send(PushFixture.sign(phone, challenge, at: 12), at: 12).code == "E0000047")
        _ = try await org.send(PushFixture.sign(phone, challenge, at: 80), at: 80).get()
    }

    @Test("Introspection of a refresh token does not show the device enrollment scope")
    func introspection() async throws {
        let org = try await PushFixture()
        let tokens = try await org.signIn(
            scope: "openid offline_access \(DeviceFixture.manage)", client: "phone-app", server: nil, at: 10
        ).get()
        let refresh = try #require(tokens.refreshToken)
        let request = TokenRequest(
            server: nil, client: ClientCredentials(clientID: "phone-app", endpoint: TestOrganization.tokenURL(nil)),
            parameters: ["token": refresh])
        let answer = try await org.engine.introspect(request, context: PushFixture.context(11)).get()
        #expect(answer.isActive && answer.json["scope"] == "openid offline_access", "\(answer.json)")
    }
}
