import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Reading a push (D5, Documentation/Protocol/Devices.md §3.6 and §4.1)")
struct ChallengeParsingTests {
    @Test("In a push payload, plain names take precedence over names with the prefix okta unless the plain value is not a string")
    func payloadNames() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let good = try phone.org.challenge()
        let payloads: [[AnyHashable: Any]] = [
            ["payloadVersion": "IDXv1", "challenge": good], ["okta.payloadVersion": "IDXv1", "okta.challenge": good],
            ["payloadVersion": 7, "okta.payloadVersion": "IDXv1", "challenge": ["x"], "okta.challenge": good],
            [
                "payloadVersion": "IDXv1", "okta.payloadVersion": "other", "challenge": good, "okta.challenge": "other",
                "aps": ["alert": "hi"],
            ],
        ]
        for payload in payloads {
            #expect(try phone.authenticator.parsePushNotification(userInfo: payload).transactionId == "ft1")
        }
    }

    @Test("A notification whose payload is not a push challenge causes the error pushNotRecognized")
    func foreignPush() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let good = try phone.org.challenge()
        let payloads: [[AnyHashable: Any]] = [
            [:], ["aps": ["alert": "hi"]], ["payloadVersion": "IDXv2", "challenge": good], ["payloadVersion": "IDXv1"], ["challenge": good],
            ["payloadVersion": "idxv1", "challenge": good], [7: "IDXv1"], ["aps": ["payloadVersion": "IDXv1", "challenge": good]],
        ]
        for payload in payloads {
            #expect(throws: DeviceAuthenticatorError.pushNotRecognized) {
                try phone.authenticator.parsePushNotification(userInfo: payload)
            }
        }
    }

    @Test(
        "The notification action that the user selects sets the challenge's user response",
        arguments: [
            ("APPROVE_BUTTON", PushChallengeUserResponse.userApproved), ("DENY_BUTTON", .userDenied), ("REVIEW_BUTTON", .userNotResponded),
            ("com.apple.UNNotificationDefaultActionIdentifier", .userNotResponded), (nil, .userNotResponded),
        ] as [(String?, PushChallengeUserResponse)])
    func actions(identifier: String?, response: PushChallengeUserResponse) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.authenticator.parsePushNotification(
            userInfo: ["payloadVersion": "IDXv1", "challenge": try phone.org.challenge()], actionIdentifier: identifier)
        #expect(challenge.userResponse == response)
    }

    @Test("A challenge whose signature is verified shows its signed content (D5-6, D5-7)")
    func members() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let challenge = try phone.parse(try phone.org.challenge())
        #expect(challenge.isVerified)
        #expect(challenge.transactionId == "ft1")
        #expect(challenge.originURL == (try url("https://id.example.com")))
        #expect(challenge.transactionTime == ManualClock.start)
        #expect(challenge.expirationTime == ManualClock.start.addingTimeInterval(300))
        #expect(challenge.appInstanceName == "Acme Portal")
        #expect(challenge.clientLocation == "Lyon, France")
        #expect(challenge.clientOS == "MAC_OS_X")
        #expect(challenge.cibaBindingMessage == nil && challenge.numberChoices == nil)
        #expect(challenge.userResponse == .userNotResponded)
    }

    @Test("A challenge with an unknown key exposes its content only after verification")
    func unverified() async throws {
        let phone = try TestPhone()
        phone.org.answer(.discovery, .offline)
        try await phone.enroll()
        let jwt = try phone.org.challenge(
            context: ["transactionType": "CIBA", "bindingMessage": "Pay", "numberChoices": [10, 20, 30]])
        let challenge = try phone.parse(jwt)
        #expect(!challenge.isVerified)
        #expect(challenge.appInstanceName == nil && challenge.clientLocation == nil && challenge.clientOS == nil)
        #expect(challenge.cibaBindingMessage == nil && challenge.numberChoices == nil)
        try await challenge.verify()
        #expect(challenge.isVerified)
        #expect(
            challenge.appInstanceName == "Acme Portal" && challenge.clientLocation == "Lyon, France" && challenge.clientOS == "MAC_OS_X")
        #expect(challenge.cibaBindingMessage == "Pay" && challenge.numberChoices == ["10", "20", "30"])
    }

    @Test("A challenge for an unknown enrollment causes an error that contains the challenge, which cannot be resolved")
    func unknownEnrollment() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let jwt = try phone.org.challenge(more: ["authenticatorEnrollmentId": "pfd9"])
        do {
            _ = try phone.parse(jwt)
            Issue.record("the challenge was accepted")
        } catch DeviceAuthenticatorError.accountNotFoundForChallenge(let challenge) {
            #expect(challenge.transactionId == "ft1")
            #expect(challenge.originURL == nil && challenge.appInstanceName == nil)
            #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .enrollmentUnknown)
        }
        #expect(phone.org.requests(.verify).isEmpty)
    }

    @Test(
        "A challenge is accepted if its token type has any letter case, is empty or is missing",
        arguments: ["OKTA-PushBind+JWT", "", nil] as [String?])
    func type(type: String?) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        #expect(try phone.parse(phone.org.challenge(type: type.map { .string($0) })).isVerified)
    }

    @Test("By default, a challenge can be approved up to 300 seconds after its expiry, and a later approval fails as expired")
    func skew() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.clock.advance(by: 599)
        try await phone.parse(phone.org.challenge()).resolve(onRemediation: approving)
        phone.clock.advance(by: 2)
        let late = try phone.parse(phone.org.challenge("ft2", at: ManualClock.start))
        #expect(await failure { try await late.resolve(onRemediation: approving) }?.reason == .expired)
        let strict = try phone.parse(phone.org.challenge("ft3", at: phone.clock.now.addingTimeInterval(-302)), skew: 1)
        #expect(await failure { try await strict.resolve(onRemediation: approving) }?.reason == .expired)
        #expect(phone.org.requests(.verify).count == 1)
        let early = try phone.parse(phone.org.challenge("ft4", at: phone.clock.now.addingTimeInterval(302)))
        #expect(await failure { try await early.resolve(onRemediation: approving) }?.reason == .untrustedChallenge)
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("The binding message of a CIBA challenge is percent-decoded, and a message with invalid escapes is ignored")
    func bindingMessage() async throws {
        let phone = try TestPhone()
        try await phone.enroll(ciba: true)
        for (wire, shown) in [("100%25 of 5 %E2%82%AC", "100% of 5 €"), ("100%", nil), ("plain", "plain"), ("%00%zz", nil)]
            as [(JSONValue, String?)]
        {
            let jwt = try phone.org.challenge(context: ["transactionType": "CIBA", "bindingMessage": wire])
            #expect(try phone.parse(jwt).cibaBindingMessage == shown)
        }
        #expect(try phone.parse(phone.org.challenge(context: ["bindingMessage": "hello"])).cibaBindingMessage == nil)
    }

    @Test("Number choices can be integers or strings, are shown with at least two digits, and are rejected if any choice is invalid")
    func numbers() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        #expect(try phone.parse(phone.org.challenge(context: ["numberChoices": [7, 42, "08"]])).numberChoices == ["07", "42", "08"])
        for hostile: JSONValue in [
            [], [1], ["1", "1"], [1, "x"], [1, -2], [1, 2.5], "12", [1, "<b>"], .array((0..<11).map { .integer($0) }),
        ] {
            #expect(throws: SecurityError.self) { try phone.parse(phone.org.challenge(context: ["numberChoices": hostile])) }
        }
    }

    @Test("A dump of a challenge, or of an error or a step that contains the challenge, shows no part of the token")
    func dumped() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let jwt = try phone.org.challenge()
        let challenge = try phone.parse(jwt)
        let signature = try #require(jwt.split(separator: ".").last)
        let step = RemediationStepMessage(reasonType: .userVerificationFailed, message: "m", challenge: challenge, error: nil)
        var shown = ""
        dump(challenge, to: &shown)
        dump(DeviceAuthenticatorError.accountNotFoundForChallenge(challenge), to: &shown)
        dump(step, to: &shown)
        shown += "\(challenge)" + String(reflecting: challenge)
        #expect(shown.contains("ft1"))
        #expect(!shown.contains(signature) && !shown.contains("nonce-1") && !shown.contains("Acme Portal"))
    }
}
