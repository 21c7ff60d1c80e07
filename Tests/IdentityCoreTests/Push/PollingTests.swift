import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints

@Suite("Polling for the response of a phone")
struct PollingTests {
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture()
        phone = try await org.enroll()
    }

    @Test("A poll for a push returns authorization_pending, then tokens with the time and methods of the factors, and then invalid_grant")
    func secondFactor() async throws {
        let token = try await org.mfaToken(at: 10)
        let started = try await org.challenge(token, at: 11).get()
        #expect(
            started.members == [
                "challenge_type": .string(PushFixture.secondFactor), "oob_code": .string(try started.secret()), "channel": "push",
                "binding_method": "none", "expires_in": 300, "interval": 5,
            ])
        let waiting = PushFixture.Waiting(mfaToken: token, oobCode: try started.secret())
        #expect(try await org.poll(waiting, at: 12).refused == .authorizationPending)
        #expect(try await org.answer(phone, at: 15).get() == .approved)
        let tokens = try await org.poll(waiting, at: 17).get()
        #expect(tokens.scopes == ["openid", "offline_access"])
        for token in [tokens.idToken, tokens.accessToken] {
            let claims = try claims(of: token)
            #expect(claims["auth_time"]?.doubleValue == TestOrganization.start.timeIntervalSince1970.rounded(.down) + 15)
        }
        #expect(try claims(of: tokens.idToken)["amr"]?.stringArrayValue == ["pwd", "swk", "mfa"])
        #expect(try await org.poll(waiting, at: 22).refused == .invalidGrant)
        #expect(try await org.challenge(token, at: 23).refused == .accessDenied)
    }

    @Test("After an approved push as the only factor, the ID token has amr swk without mfa, and a further poll gets invalid_grant")
    func firstFactor() async throws {
        let started = try await org.primary(at: 11).get()
        #expect(started.members["challenge_type"] == nil)
        let code = try started.secret()
        #expect(try await org.pollFirst(code, at: 12).refused == .authorizationPending)
        _ = try await org.answer(phone, at: 13).get()
        let tokens = try await org.pollFirst(code, at: 17).get()
        #expect(try claims(of: tokens.idToken)["amr"]?.stringArrayValue == ["swk"])
        #expect(try await org.pollFirst(code, at: 22).refused == .invalidGrant)
    }

    @Test("The ID token of a push sign-in contains the requested acr", arguments: ["1fa:any", "2fa:any:ifpossible"])
    func contextClass(name: String) async throws {
        let asked = "urn:okta:loa:\(name)"
        let code = try await org.primary(at: 11, ["acr_values": asked]).get().secret()
        _ = try await org.answer(phone, at: 13).get()
        #expect(try claims(of: try await org.pollFirst(code, at: 17).get().idToken)["acr"]?.stringValue == asked)
    }

    @Test("A poll of a denied push returns access_denied once, and the mfa_token can send another push")
    func denied() async throws {
        let waiting = try await org.waiting()
        #expect(try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: 12).get() == .denied)
        #expect(try await org.poll(waiting, at: 17).refused == .accessDenied)
        #expect(try await org.poll(waiting, at: 22).refused == .invalidGrant)
        #expect(try await org.log("user.authentication.push").map(\.outcome) == [.denied])
        let again = try await org.challenge(waiting.mfaToken, at: 23).get().secret()
        _ = try await org.answer(phone, at: 24).get()
        _ = try await org.poll(waiting.mfaToken, again, at: 25).get()
    }

    @Test("A new push replaces a denied push that the client has not polled, and a poll for the old push gets invalid_grant")
    func deniedAndAskedAgain() async throws {
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: 12).get()
        let again = try await org.challenge(waiting.mfaToken, at: 13).get().secret()
        #expect(try await org.pending(phone, at: 14).count == 1)
        #expect(try await org.poll(waiting, at: 17).refused == .invalidGrant)
        #expect(try await org.poll(waiting.mfaToken, again, at: 18).refused == .authorizationPending)
    }

    @Test("Of two concurrent polls of a denied push, one gets access_denied and the other invalid_grant, and the log has one denial")
    func polledTwice() async throws {
        let waiting = try await org.waiting()
        _ = try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: 12).get()
        async let first = org.poll(waiting, at: 17).refused
        async let second = org.poll(waiting, at: 17).refused
        #expect(try await Set([first, second]) == [.accessDenied, .invalidGrant])
        #expect(try await org.log("user.authentication.push").count { $0.outcome == .denied } == 1)
        _ = try await org.challenge(waiting.mfaToken, at: 18).get()
    }

    @Test("A poll for an unanswered push returns authorization_pending until the push expires, then expired_token")
    func expired() async throws {
        let waiting = try await org.waiting()
        #expect(try await org.poll(waiting, at: 310).refused == .authorizationPending)
        #expect(try await org.poll(waiting, at: 311).refused == .expiredToken)
    }

    @Test("A poll that is too early gets slow_down, and each slow_down adds five seconds to the interval")
    func slowDown() async throws {
        let waiting = try await org.waiting()
        let polls: [(TimeInterval, Refusal.Code)] = [
            (12, .authorizationPending), (16.6, .authorizationPending), (18, .slowDown), (24, .slowDown), (38, .slowDown),
            (57.6, .authorizationPending),
        ]
        for (seconds, code) in polls { #expect(try await org.poll(waiting, at: seconds).refused == code, "at \(seconds)") }
    }

    @Test("After slow_down and an approval, the client gets its tokens at the next poll, even if that poll is early")
    func slowDownAndApproved() async throws {
        let waiting = try await org.waiting()
        _ = try await org.poll(waiting, at: 12)
        #expect(try await org.poll(waiting, at: 12.5).refused == .slowDown)
        _ = try await org.answer(phone, at: 13).get()
        _ = try await org.poll(waiting, at: 13.1).get()
    }

    @Test(
        "A push approval is accepted only with the number that the app shows, and a wrong number denies the sign-in",
        arguments: ["right", "wrong", "none"])
    func number(picked: String) async throws {
        let org = try await PushFixture { $0.authenticators[0].numberChallenge = .always }
        let phone = try await org.enroll()
        let token = try await org.mfaToken()
        let started = try await org.challenge(token).get()
        #expect(started.members["binding_method"] == "transfer")
        let shown = try #require(started.members["binding_code"]?.stringValue)
        let challenge = try await org.newest(phone, at: 12)
        let choices = try #require(challenge["challengeContext"]?["numberChoices"]?.stringArrayValue)
        #expect(Set(choices).count == 3 && choices.contains(shown) && choices.allSatisfy { $0.count == 2 })
        let number = picked == "right" ? shown : picked == "wrong" ? choices.first { $0 != shown } : nil
        let answer = try PushFixture.sign(phone, challenge, number: number, at: 13)
        let result = try await org.send(answer, at: 13)
        let poll = try await org.poll(token, try started.secret(), at: 17)
        switch picked {
        case "right":
            #expect(try result.get() == .approved)
            _ = try poll.get()
        case "wrong":
            #expect(result.code == "E0000001")
            #expect(poll.refused == .accessDenied)
        default:
            #expect(result.code == "E0000001")
            #expect(poll.refused == .authorizationPending)
        }
    }
}
