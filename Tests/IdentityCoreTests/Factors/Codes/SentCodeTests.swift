import Foundation
import JOSE
import Testing

@testable import IdentityCore
@testable import OAuthEndpoints
@testable import Store

@Suite("Sign-in with sent codes")
struct SentCodeTests {
    @Test(
        "A code by text message or call is accepted as the second factor, and only once",
        arguments: [("sms", CodeChannel.sms, "sms"), ("voice", .voice, "tel")])
    func secondFactor(_ hint: String, _ channel: CodeChannel, _ method: String) async throws {
        let fixture = try await CodeFixture([channel])
        let token = try await fixture.organization.mfaToken()
        let started = try await fixture.ask(token, by: hint).get()
        let outbox = fixture.organization.outbox
        #expect(outbox.pushes.isEmpty && outbox.messages.count == 1)
        let message = try #require(outbox.messages.first)
        let code = try #require(message.code)
        #expect(code.utf8.count == 6 && code.allSatisfy(\.isNumber))
        #expect(message.channel == channel && message.purpose == .signIn)
        #expect(message.destination.phoneNumber?.e164 == CodeFixture.number)
        #expect(message.recipient.login == PushFixture.jane && message.recipient.firstName == "Jane")
        #expect(message.expiresAt == TestOrganization.time(11 + 300))
        #expect(!"\(message)".contains(code) && !String(reflecting: message).contains("5551234821"))
        var members = started.members
        let oobCode = try #require(members.removeValue(forKey: "oob_code")?.stringValue)
        #expect(
            members == [
                "challenge_type": .string(PushFixture.secondFactor), "channel": .string(hint), "binding_method": "prompt",
                "expires_in": 300, "interval": 5,
            ])
        let tokens = try await fixture.present(code, oobCode, token).get()
        let id = try claims(of: tokens.idToken)
        #expect(id["amr"] == .array(["pwd", .string(method), "mfa"]))
        // The code is valid once.
        #expect(try await fixture.present(code, oobCode, token).refused == .invalidGrant)
    }

    @Test("After a wrong code, the correct code is still accepted, and a request without a code gets invalid_request")
    func wrongCode() async throws {
        let fixture = try await CodeFixture()
        let token = try await fixture.organization.mfaToken()
        let sent = try await fixture.sentCode(token)
        #expect(try await fixture.present(CodeFixture.other(than: sent.code), sent.oobCode, token).refused == .invalidGrant)
        // The client polls as for a push.
        #expect(try await fixture.present(nil, sent.oobCode, token).refused == .invalidRequest)
        #expect(try await fixture.present(sent.code, sent.oobCode, token).refused == nil)
    }

    @Test("A sent code of another sign-in, client or user is rejected")
    func foreignCodes() async throws {
        let fixture = try await CodeFixture()
        try await fixture.grant(.sms, to: PushFixture.john, number: "+15557654321")
        let first = try await fixture.organization.mfaToken()
        let firstCode = try await fixture.sentCode(first)
        // An attacker with the stolen password starts a second sign-in. The code of the first sign-in is not valid for the second one. It
        // is no longer valid for the first one either.
        let second = try await fixture.organization.mfaToken(at: 50)
        let secondCode = try await fixture.sentCode(second, at: 60)
        #expect(try await fixture.present(firstCode.code, secondCode.oobCode, second, at: 61).refused == .invalidGrant)
        #expect(try await fixture.present(secondCode.code, firstCode.oobCode, first, at: 61).refused == .invalidGrant)
        #expect(try await fixture.present(secondCode.code, secondCode.oobCode, first, at: 61).refused == .invalidGrant)
        #expect(
            try await fixture.present(secondCode.code, secondCode.oobCode, second, client: "thief-app", at: 61).refused == .invalidGrant)
        let johns = try await fixture.organization.mfaToken(PushFixture.john, at: 62)
        #expect(try await fixture.present(secondCode.code, secondCode.oobCode, johns, at: 63).refused == .invalidGrant)
        #expect(try await fixture.present(secondCode.code, secondCode.oobCode, second, at: 64).refused == nil)
    }

    @Test("A sent code expires after five minutes")
    func lateCode() async throws {
        let fixture = try await CodeFixture()
        let token = try await fixture.organization.mfaToken(at: 10)
        let sent = try await fixture.sentCode(token, at: 11)
        #expect(try await fixture.present(sent.code, sent.oobCode, token, at: 311).refused == .expiredToken)
    }

    @Test("The server sends a user's codes at most every thirty seconds, and at most five codes in ten minutes")
    func resending() async throws {
        let fixture = try await CodeFixture()
        let token = try await fixture.organization.mfaToken(at: 10)
        _ = try await fixture.sentCode(token, at: 11)
        let refused = try await fixture.ask(token, at: 40)
        guard case .failure(let refusal) = refused else { throw NoSuchThing("refusal") }
        #expect(refusal.status == .tooManyRequests && refusal.rateLimit?.reset == TestOrganization.time(41))
        // Another sign-in does not reset the limit of codes.
        let other = try await fixture.organization.mfaToken(at: 39)
        #expect(try await fixture.ask(other, at: 40).refused == .invalidGrant)
        for seconds in [41.0, 71, 101, 131] { _ = try await fixture.sentCode(token, at: seconds) }
        #expect(try await fixture.ask(token, at: 161).reason == "sms: too many messages, or wrong answers")
    }

    @Test("Two accounts with the same phone number have separate message limits")
    func sharedNumber() async throws {
        let fixture = try await CodeFixture()
        try await fixture.grant(.sms, to: PushFixture.john)
        let janes = try await fixture.organization.mfaToken(at: 10)
        _ = try await fixture.sentCode(janes, at: 11)
        let johns = try await fixture.organization.mfaToken(PushFixture.john, at: 12)
        #expect(try await fixture.ask(johns, at: 13).refused == nil)
        #expect(try await fixture.ask(johns, at: 14).reason == "sms: another message was sent a moment ago")
        #expect(try await fixture.ask(janes, at: 41).refused == nil)
    }

    @Test("After five wrong codes across several sign-ins, the server sends and accepts no code of the factor for up to ten minutes")
    func guessing() async throws {
        let fixture = try await CodeFixture()
        var last: (token: String, code: String, oobCode: String)?
        for number in 0..<5 {
            let at = 10 + Double(number) * 40
            let token = try await fixture.organization.mfaToken(at: at)
            let sent = try await fixture.sentCode(token, at: at + 1)
            #expect(try await fixture.present(CodeFixture.other(than: sent.code), sent.oobCode, token, at: at + 2).refused == .invalidGrant)
            last = (token, sent.code, sent.oobCode)
        }
        let open = try #require(last)
        #expect(try await fixture.present(open.code, open.oobCode, open.token, at: 173).refused == .invalidGrant)
        let token = try await fixture.organization.mfaToken(at: 210)
        #expect(try await fixture.ask(token, at: 211).reason == "sms: too many messages, or wrong answers")
        // The first wrong answer was at 12 seconds.
        #expect(try await fixture.ask(fixture.organization.mfaToken(at: 611), at: 612).refused == nil)
    }

    @Test("Neither the store nor the system log contains a sent code in plain text")
    func secrecy() async throws {
        let fixture = try await CodeFixture()
        let token = try await fixture.organization.mfaToken()
        let sent = try await fixture.sentCode(token)
        let stored = try await fixture.organization.store.read { view in
            try RecordKind.allCases.flatMap { try view.records($0, after: nil, limit: 1_000) }
                .map { String(decoding: $0.payload, as: UTF8.self) }
        }
        #expect(stored.contains { $0.contains("user.mfa.code.send") })
        #expect(!stored.contains { $0.contains("\"\(sent.code)\"") || $0.contains(sent.oobCode) })
        let log = try await fixture.organization.log("user.mfa.code.send")
        #expect(log.map(\.reason) == ["sms, signIn"])
    }

    @Test("The log event of an undelivered message contains the channel and the error, but not the phone number")
    func undelivered() async throws {
        let fixture = try await CodeFixture()
        let sent = try await fixture.sentCode(fixture.organization.mfaToken())
        try await fixture.engine.noteUndelivered(sent.message, reason: "refused", context: PushFixture.context(12))
        let log = try await fixture.organization.log("user.mfa.code.undelivered")
        #expect(log.map(\.reason) == ["sms: refused"])
        #expect(log.first?.userID == sent.message.recipient.userID && log.first?.outcome == .failure)
    }

    @Test("A request for a code on a channel that the user has not enrolled gets access_denied")
    func notEnrolled() async throws {
        let fixture = try await CodeFixture()
        let token = try await fixture.organization.mfaToken()
        let refused = try await fixture.ask(token, by: "voice")
        #expect(refused.refused == .accessDenied && refused.reason == "challenge: the channel is not enrolled")
    }

    @Test("Sending a code cancels the pending push of the sign-in, and a poll for the push gets invalid_grant")
    func replacesPush() async throws {
        let fixture = try await CodeFixture([])
        _ = try await fixture.organization.enroll()
        try await fixture.grant(.sms)
        let token = try await fixture.organization.mfaToken()
        let pushed = try await fixture.organization.challenge(token).get()
        let oldCode = try #require(pushed.members["oob_code"]?.stringValue)
        let sent = try await fixture.sentCode(token, at: 12)
        #expect(try await fixture.present(nil, oldCode, token, at: 13).refused == .invalidGrant)
        #expect(try await fixture.present(sent.code, sent.oobCode, token, at: 14).refused == nil)
    }
}
