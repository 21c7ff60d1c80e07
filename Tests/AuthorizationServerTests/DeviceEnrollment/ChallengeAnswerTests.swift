import DeviceAPI
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Challenge answers (Documentation/Protocol/Devices.md §2.9, §2.12 and §5.5)")
struct ChallengeAnswerTests {
    private static let invalidResponse = "Api validation failed: challengeResponse"

    @Test("The approval of a push challenge returns 200 with an empty object, and a denial returns 204 without a body")
    func bodies() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            _ = try await client.begin()
            let approved = try await phone.answer(try await phone.challenge())
            #expect(approved.status == 200 && approved.body == "{}")
            #expect(approved["Content-Type"] == "application/json" && approved["Content-Length"] == "2")
            _ = try await client.begin()
            let denied = try await phone.answer(try await phone.challenge(), .deny)
            #expect(denied.status == 204 && denied.body.isEmpty)
            #expect(denied["Content-Type"] == nil && denied["Content-Length"] == nil && denied["Transfer-Encoding"] == nil)
            for response in [approved, denied] {
                #expect(response["Cache-Control"] == "no-cache, no-store" && response["x-rate-limit-remaining"] != nil)
            }
        }
    }

    /// The result of an answer, for the phone and for the client that polls.
    enum Result: Sendable { case approved, denied, failed(String), invalid(String) }

    struct Word: Sendable, CustomTestStringConvertible {
        var text: String
        var isVerified = false
        /// The result where user verification is preferred; `required` is the result where it is required.
        var preferred: Result
        var required: Result

        var testDescription: String { text + (isVerified ? " by the key that the person unlocks" : "") }
    }

    private static let given = Result.failed("user verification was given up")
    private static let otherKey = Result.invalid("the consent does not go with the key")

    static let words = [
        Word(text: "APPROVED_USER_VERIFICATION", isVerified: true, preferred: .approved, required: .approved),
        Word(
            text: "APPROVED_USER_VERIFICATION", preferred: .invalid("user verification is claimed by the other key"),
            required: .invalid("user verification is claimed by the other key")),
        Word(text: "APPROVED_CONSENT_PROMPT", preferred: .approved, required: .invalid("user verification is required")),
        Word(text: "APPROVED_CONSENT_PROMPT", isVerified: true, preferred: otherKey, required: otherKey),
        Word(text: "NONE", preferred: .approved, required: .failed("user verification is required: NONE")),
        Word(
            text: "UV_TEMPORARILY_UNAVAILABLE", preferred: .approved,
            required: .failed("user verification is required: UV_TEMPORARILY_UNAVAILABLE")),
        Word(
            text: "UV_PERMANENTLY_UNAVAILABLE", preferred: .approved,
            required: .failed("user verification is required: UV_PERMANENTLY_UNAVAILABLE")),
        Word(text: "CANCELLED_USER_VERIFICATION", preferred: given, required: given),
        Word(text: "USER_ABANDONED", preferred: given, required: given),
        Word(text: "DENIED_CONSENT_PROMPT", preferred: .denied, required: .denied),
    ]

    @Test("Each user consent value leads to its documented status and outcome (Devices.md §5.5)", arguments: words, [false, true])
    func word(word: Word, isRequired: Bool) async throws {
        try await PushServer.with(PushOrganization(userVerification: isRequired ? .required : .preferred)) { server in
            let phone = try await server.enroll(.init(verifiesUser: true))
            let client = DirectClient(server, id: "easy-app")
            let code = try await client.primaryCode()
            let challenge = try await phone.challenge()
            #expect(challenge.claims["userVerification"] == (isRequired ? "REQUIRED" : "PREFERRED"))
            let response = try await phone.answer(challenge, .says(word.text, verified: word.isVerified))
            let poll = try await client.pollPrimary(code)
            switch isRequired ? word.required : word.preferred {
            case .approved:
                #expect(response.status == 200)
                #expect(poll.status == 200, "\(poll.body)")
            case .denied:
                #expect(response.status == 204)
                try expectRefusal(poll, 400, "access_denied")
            case .failed(let why):
                try expectDeviceError(
                    response, 400, "E0000001", "Api validation failed: answer",
                    causes: ["The answer is no approval, and the sign-in was refused: \(why)."])
                try expectRefusal(poll, 400, "access_denied")
            case .invalid(let why):
                try expectDeviceError(
                    response, 400, "E0000001", "Api validation failed: answer",
                    causes: ["The answer cannot be taken: \(why). The challenge is still open."])
                try expectRefusal(poll, 400, "authorization_pending")
            }
        }
    }

    @Test(
        "A challenge answer with an unknown user consent value is rejected, and the challenge stays pending",
        arguments: ["", "approved_consent_prompt", "MAYBE"])
    func unknownWord(word: String) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let pending = try await DirectClient(server).begin()
            try expectDeviceError(
                await phone.answer(try await phone.challenge(), .says(word)), 400, "E0000001", Self.invalidResponse,
                causes: ["The answer has no known challengeResponseContext.userConsent."])
            try expectRefusal(try await DirectClient(server).poll(pending), 400, "authorization_pending")
        }
    }

    @Test("A forged challenge answer is rejected with an error that names its defect, and the challenge can still be approved")
    func forged() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let pending = try await DirectClient(server).begin()
            let challenge = try await phone.challenge()
            let good = try phone.signed(challenge)
            let stranger = try SigningKey.generate(.es256, keyID: phone.possessionKeyID)
            let parts = good.split(separator: ".").map(String.init)
            let unsigned = Base64URL.encode((["alg": "none", "typ": "okta-pushbind+jwt"] as JSONValue).serialized()) + ".\(parts[1])."
            let notTheKeys = "The signature of the token does not match."
            for (token, cause) in [
                (try phone.signed(challenge, by: stranger), notTheKeys),
                ("\(parts[0]).\(Base64URL.encode(Array("{}".utf8))).\(parts[2])", notTheKeys),
                (unsigned, "The header or the signature of the token is empty; unsigned tokens are never accepted."),
                ("a.b.c", "Not base64url without padding (RFC 7515, section 2)."),
                ("", "A signed token has three segments, joined by dots (RFC 7515, section 7.1)."),
                (
                    try phone.signed(challenge, saying: "CIBA"),
                    "The answer is for another kind of transaction (challengeResponseContext.transactionType)."
                ),
            ] {
                try expectDeviceError(
                    await phone.send(token, to: challenge), 400, "E0000001", Self.invalidResponse, causes: [cause])
            }
            try expectRefusal(try await DirectClient(server).poll(pending), 400, "authorization_pending")
            #expect(try await phone.send(good, to: challenge).status == 200)
        }
    }

    @Test("An answer to a challenge that was already answered, has expired or was cancelled is rejected with a machine-readable reason")
    func tooLate() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let summary = "Api validation failed: challenge"
            _ = try await client.begin()
            let answered = try await phone.challenge()
            let approval = try phone.signed(answered)
            #expect(try await phone.send(approval, to: answered).status == 200)
            // The phone sends the same answer again, and then an approval and a denial with new signatures.
            try expectDeviceError(
                await phone.send(approval, to: answered), 400, "E0000001", summary, causes: ["The answer was given before."],
                reason: "answered")
            for answer in [WirePhone.Answer.approve, .deny] {
                try expectDeviceError(
                    await phone.answer(answered, answer), 400, "E0000001", summary, causes: ["The challenge was answered before."],
                    reason: "answered")
            }
            let second = try await client.begin()
            let cancelled = try await phone.challenge()
            #expect(try await client.revoke(second.oobCode).status == 200)
            try expectDeviceError(
                await phone.answer(cancelled), 400, "E0000001", summary, causes: ["The sign-in was cancelled."], reason: "cancelled")
            _ = try await client.begin()
            let expired = try await phone.challenge()
            server.clock.advance(by: 300)
            try expectDeviceError(
                await phone.answer(expired), 400, "E0000001", summary, causes: ["The challenge has expired."], reason: "expired")
        }
    }

    @Test("The twenty-first answer to a challenge within a minute returns 429, and another challenge is not affected", .onOneServer)
    func limit() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let client = DirectClient(server)
            let first = try await client.begin()
            let challenge = try await phone.challenge()
            for _ in 0..<20 { #expect(try await phone.send("a.b.c", to: challenge).status == 400) }
            for answer in ["a.b.c", try phone.signed(challenge)] {
                try expectDeviceError(
                    await phone.send(answer, to: challenge), 429, "E0000047",
                    "Too many answers to one challenge. Wait a minute and try again.")
            }
            try expectRefusal(try await client.poll(first), 400, "authorization_pending")
            _ = try await client.begin()
            let other = try #require(try await phone.waiting().first { $0.token != challenge.token })
            #expect(try await phone.answer(other).status == 200)
            server.clock.advance(by: 60)
            #expect(try await phone.answer(challenge).status == 200)
        }
    }

    /// A resource that is suspended or deleted between the challenge and the answer.
    enum Closure: CaseIterable, Sendable {
        case suspendedEnrollment, deletedEnrollment, suspendedDevice, deletedDevice, suspendedUser, deactivatedUser

        func close(_ phone: WirePhone, _ server: PushServer) async throws {
            let context = RequestContext(now: server.clock.now, requestID: "close")
            switch self {
            case .suspendedEnrollment: #expect(try await server.engine.suspendEnrollment(phone.enrollmentID, context: context))
            case .deletedEnrollment: #expect(try await phone.delete().status == 204)
            case .suspendedDevice: #expect(try await server.engine.suspendDevice(phone.deviceID, context: context))
            case .deletedDevice: #expect(try await server.engine.deleteDevice(phone.deviceID, context: context))
            case .suspendedUser: _ = try await server.engine.setStatus(userID: phone.userID, to: .suspended, context: context)
            case .deactivatedUser: _ = try await server.engine.setStatus(userID: phone.userID, to: .deactivated, context: context)
            }
        }

        var expected: (status: Int, code: String, summary: String) {
            switch self {
            case .suspendedEnrollment: (423, "E0000180", "The enrollment is suspended. Ask an administrator to open it.")
            case .deletedEnrollment:
                (410, "E0000154", "The enrollment was deleted. Remove the account from the app, then enroll again.")
            case .suspendedDevice: (403, "E0000152", "The device is suspended. Ask an administrator to open it.")
            case .deletedDevice: (410, "E0000153", "The device was deleted. Remove the account from the app, then enroll again.")
            case .suspendedUser: (423, "E0000155", "The account is suspended. Ask an administrator to open it.")
            case .deactivatedUser: (410, "E0000156", "The account was deleted. Remove it from the app.")
            }
        }
    }

    @Test(
        "A challenge answer gets a specific error if the enrollment, device or user was suspended or deleted (Devices.md §2.12)",
        arguments: Closure.allCases)
    func closed(closure: Closure) async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            let pending = try await DirectClient(server).begin()
            let challenge = try await phone.challenge()
            try await closure.close(phone, server)
            let (status, code, summary) = closure.expected
            for answer in [WirePhone.Answer.approve, .deny] {
                try expectDeviceError(await phone.answer(challenge, answer), status, code, summary)
            }
            // An attacker without the device's key does not get this error.
            let stranger = try SigningKey.generate(.es256, keyID: phone.possessionKeyID)
            #expect(try await phone.send(phone.signed(challenge, by: stranger), to: challenge).status == 400)
            try expectRefusal(try await DirectClient(server).poll(pending), 400, "authorization_pending")
        }
    }

    @Test("A challenge answer is rejected if push was disabled after the challenge was sent")
    func pushOff() async throws {
        try await PushServer.with { server in
            let phone = try await server.enroll()
            _ = try await DirectClient(server).begin()
            let challenge = try await phone.challenge()
            try await server.apply(PushOrganization(isActive: false))
            try expectDeviceError(await phone.answer(challenge), 403, "E0000006", "Push is turned off.")
        }
    }
}
