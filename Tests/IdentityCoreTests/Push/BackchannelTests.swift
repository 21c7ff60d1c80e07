import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints
@testable import OAuthWire

@Suite("Back-channel requests")
struct BackchannelTests {
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture()
        phone = try await org.enroll()
    }

    private func ask(
        _ more: [String: String] = [:], hint: [String: String] = ["login_hint": PushFixture.jane], at seconds: TimeInterval = 11
    ) async throws -> Result<StartedChallenge, Refusal> {
        try await org.backchannel(["scope": "openid"].merging(hint) { $1 }.merging(more) { $1 }, at: seconds)
    }

    @Test("After the phone approves a back-channel request, the client gets tokens once")
    func approved() async throws {
        let started = try await ask(["binding_message": "Pay 10 % to Ada"]).get()
        let id = try started.secret()
        #expect(started.members == ["auth_req_id": .string(id), "expires_in": 300, "interval": 5])
        #expect(id.hasPrefix("ft_"))
        let challenge = try await org.newest(phone, at: 12)
        #expect(challenge["challengeContext"]?["transactionType"] == "CIBA")
        #expect(challenge["challengeContext"]?["bindingMessage"] == "Pay 10 %25 to Ada")
        #expect(challenge["authorizationServerId"] == "default")
        #expect(try await org.pollBackchannel(id, at: 13).refused == .authorizationPending)
        #expect(try await org.answer(phone, at: 14).get() == .approved)
        let tokens = try await org.pollBackchannel(id, at: 18).get()
        #expect(try claims(of: tokens.idToken)["amr"]?.stringArrayValue == ["swk"])
        #expect(try claims(of: tokens.idToken)["sub"]?.stringValue == (try await org.userID()))
        #expect(try await org.pollBackchannel(id, at: 23).refused == .invalidGrant)
    }

    @Test("A poll of a denied back-channel request returns access_denied once, and then invalid_grant")
    func denied() async throws {
        let id = try await ask().get().secret()
        _ = try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: 12).get()
        #expect(try await org.pollBackchannel(id, at: 17).refused == .accessDenied)
        #expect(try await org.pollBackchannel(id, at: 22).refused == .invalidGrant)
    }

    @Test("A client that polls a back-channel request too fast gets slow_down")
    func tooFast() async throws {
        let id = try await ask().get().secret()
        #expect(try await org.pollBackchannel(id, at: 12).refused == .authorizationPending)
        #expect(try await org.pollBackchannel(id, at: 13).refused == .slowDown)
    }

    @Test("A poll with an unknown auth_req_id, by another client or at another server gets invalid_grant, and the request stays pending")
    func borrowed() async throws {
        let id = try await ask().get().secret()
        #expect(try await org.pollBackchannel("ft_nobody", at: 12).refused == .invalidGrant)
        #expect(try await org.pollBackchannel(id, client: "vault", at: 13).refused == .invalidGrant)
        #expect(try await org.pollBackchannel(id, server: "other", at: 14).refused == .invalidGrant)
        #expect(try await org.pollFirst(id, client: "direct-app", at: 15).refused == .invalidGrant)
        _ = try await org.answer(phone, at: 16).get()
        _ = try await org.pollBackchannel(id, at: 17).get()
    }

    @Test("A response with the transaction type of a sign-in is rejected for a back-channel request")
    func otherKind() async throws {
        _ = try await ask().get()
        var challenge = try await org.newest(phone, at: 12)
        challenge["challengeContext"]?["transactionType"] = "LOGIN"
        let answer = try PushFixture.sign(phone, challenge, at: 12)
        #expect(try await org.send(answer, at: 12).code == "E0000001")
    }

    @Test("A back-channel request is valid for the requested 1 to 300 seconds", arguments: [("1", 1), ("300", 300), ("", 300)])
    func expiry(asked: String, seconds: Int) async throws {
        let started = try await ask(["request_expiry": asked]).get()
        #expect(started.members["expires_in"]?.intValue == seconds)
        let end = 11 + Double(seconds)
        let challenge = try await org.newest(phone, at: end - 0.5)
        #expect(try await org.pollBackchannel(started.secret(), at: end - 0.4).refused == .authorizationPending)
        let late = try await org.send(PushFixture.sign(phone, challenge, at: end), at: end)
        #expect(late.why == "The challenge has expired.")
        #expect(try await org.pollBackchannel(started.secret(), at: end).refused == .expiredToken)
    }

    @Test(
        "A request_expiry that is not a whole number from 1 to 300 gets invalid_request",
        arguments: ["0", "301", "-1", "1.5", "soon", " 60", "99999999999999999999"])
    func expiryRefused(asked: String) async throws {
        #expect(try await ask(["request_expiry": asked]).refused == .invalidRequest)
    }

    @Test("A binding message with more than 100 characters or with invisible characters is rejected")
    func message() async throws {
        let longest = String(repeating: "ä", count: 100)
        for good in ["Pay 10", longest, String(repeating: "🔑", count: 100)] {
            #expect(try await ask(["binding_message": good]).refused == nil, "\(good)")
        }
        let joined = String(repeating: "👩‍👩‍👧‍👦", count: 30)
        for bad in [longest + "ä", "Pay 10\nto Ada", "Pay\u{0}", "\u{1B}[2J", joined] {
            #expect(try await ask(["binding_message": bad]).refused == .invalidBindingMessage, "\(bad)")
        }
    }

    @Test("A back-channel request without a hint, with two hints or with a login_hint_token gets invalid_request")
    func hints() async throws {
        #expect(try await ask(hint: [:]).refused == .invalidRequest)
        #expect(try await ask(hint: ["login_hint": PushFixture.jane, "id_token_hint": "x.y.z"]).refused == .invalidRequest)
        #expect(try await ask(hint: ["login_hint_token": "x.y.z"]).refused == .invalidRequest)
    }

    @Test("An id_token_hint that was issued to the client identifies the user, and any other token gets unknown_user_id")
    func idTokenHint() async throws {
        let id = try await ask().get().secret()
        _ = try await org.answer(phone, at: 12).get()
        let own = try #require(try await org.pollBackchannel(id, at: 17).get().idToken)
        _ = try await ask(hint: ["id_token_hint": own], at: 20).get()
        #expect(try await org.pending(phone, at: 21).count == 1)
        let others = try #require(try await org.signIn(client: "one-factor-app", at: 22).get().idToken)
        for hint in [others, "x.y.z", own + "x"] {
            #expect(try await ask(hint: ["id_token_hint": hint], at: 23).refused == .unknownUserID)
        }
    }

    @Test(
        "An unknown user, a suspended user and a user whose phone lacks the back-channel capability get the same unknown_user_id response")
    func unknown() async throws {
        _ = try await org.enroll(PushFixture.john, transactionTypes: ["LOGIN"])
        var answers: [Refusal] = []
        for login in ["unknown@example.com", "closed@example.com", PushFixture.john] {
            guard case .failure(var refusal) = try await ask(hint: ["login_hint": login]) else { throw NoSuchThing("refusal") }
            refusal.reason = ""
            answers.append(refusal)
        }
        #expect(answers.allSatisfy { $0 == answers[0] })
        #expect(answers[0].code == .unknownUserID && answers[0].status == nil)
    }

    @Test("If a phone disables the back-channel capability, its pending back-channel request is removed and new requests are rejected")
    func capabilityOff() async throws {
        _ = try await ask().get()
        let patch: JSONValue = ["methods": ["push": ["capabilities": ["transactionTypes": ["LOGIN"]]]]]
        _ = try await org.engine.updateDeviceEnrollment(
            id: phone.enrollmentID, patch: patch, authorization: .ssws(try phone.authorization(at: 12).signed()),
            context: PushFixture.context(12)
        ).get()
        #expect(try await org.pending(phone, at: 13).isEmpty)
        #expect(try await ask(at: 14).refused == .unknownUserID)
    }

    @Test("If two factors are required, a back-channel request is sent only to a phone with a user verification key")
    func twoFactors() async throws {
        let request = ["login_hint": PushFixture.jane, "scope": "openid"]
        #expect(try await org.backchannel(request, client: "vault").refused == .unknownUserID)
        let better = try await org.enroll(existing: phone, userVerification: true, at: 12)
        let id = try await org.backchannel(request, client: "vault", at: 14).get().secret()
        #expect(try await org.pending(phone, at: 15).isEmpty)
        #expect(try await org.answer(better, at: 15).code == "E0000001")
        _ = try await org.answer(better, consent: "APPROVED_USER_VERIFICATION", with: .userVerification, at: 16).get()
        let methods = try claims(of: try await org.pollBackchannel(id, client: "vault", at: 17).get().idToken)["amr"]?.stringArrayValue
        #expect(methods?.last == "mfa")
    }

    @Test("A back-channel request requires the grant type, a correct client secret, the scope openid and only known scopes")
    func clients() async throws {
        let request = ["login_hint": PushFixture.jane, "scope": "openid"]
        #expect(try await org.backchannel(request, client: "direct-app").refused == .unauthorizedClient)
        let wrong = TokenRequest(
            server: "default", client: ClientCredentials(basic: ("bank", "guessed"), endpoint: TestOrganization.tokenURL("default")),
            parameters: request)
        #expect(try await org.engine.backchannelAuthorize(wrong, context: PushFixture.context(11)).refused == .invalidClient)
        #expect(try await ask(["scope": "email"]).refused == .invalidScope)
        #expect(try await ask(["scope": "openid nonsense"]).refused == .invalidScope)
        #expect(try await ask(["scope": ""]).refused == .invalidScope)
    }
}
