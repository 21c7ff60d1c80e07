import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests a device with a wrong clock. The org's clock is right, and its responses have a `Date`.
@Suite("A device whose clock is wrong")
struct WrongClockTests {
    /// Returns a phone whose clock is this number of seconds ahead of the org's clock.
    private static func phone(ahead: TimeInterval, org: TestOrg = TestOrg()) throws -> TestPhone {
        let phone = try TestPhone(org: org)
        let clock = phone.clock
        org.keepTime { clock.now.addingTimeInterval(-ahead) }
        return phone
    }

    private static func serverTime(_ phone: TestPhone, ahead: TimeInterval) -> Date { phone.clock.now.addingTimeInterval(-ahead) }

    /// Returns the claims of the sent assertions.
    private static func assertions(_ phone: TestPhone) throws -> [ClaimSet] {
        try phone.org.requests(.token).map { request in
            let body = String(decoding: request.httpBody ?? Data(), as: UTF8.self)
            return try JSONWebSignature(parsing: String(body.split(separator: "assertion=").last ?? "")).unverifiedClaims()
        }
    }

    @Test(
        "If the device's clock is wrong, the maintenance token request is repeated with the server's time",
        arguments: [-7_200.0, -300, 300, 7_200, 80_000])
    func maintenanceToken(ahead: TimeInterval) async throws {
        let phone = try Self.phone(ahead: ahead)
        try await phone.enroll()
        // A new process does not know the org's time yet.
        let enrollment = try #require(try phone.authenticator.allEnrollments().first)
        #expect(try await enrollment.retrieveMaintenanceToken().access_token == "maintenance-secret")
        let sent = try Self.assertions(phone)
        #expect(sent.count == 2 && sent[0].jwtID != sent[1].jwtID)
        let claims = sent[1]
        let time = Self.serverTime(phone, ahead: ahead).timeIntervalSince1970
        #expect(abs((claims.issuedAt ?? 0) - time) <= 1 && abs((claims.expiresAt ?? 0) - time - 300) <= 1)
        // The phone knows the org's time now, so it sends only one assertion.
        _ = try await enrollment.retrieveMaintenanceToken()
        #expect(try Self.assertions(phone).count == 3)
    }

    @Test("If the device's clock is wrong, the device attestation of a second enrollment has the server's time", arguments: [-300.0, 300])
    func attestation(ahead: TimeInterval) async throws {
        let phone = try Self.phone(ahead: ahead)
        try await phone.enroll()
        try await phone.enroll()
        let body = try #require(try phone.org.bodies(.enroll).last)
        let token = try #require(body["device"]?["deviceAttestation"]?["clientInstanceKeyAttestation"]?.stringValue)
        let issuedAt = try #require(try JSONWebSignature(parsing: token).unverifiedClaims().issuedAt)
        #expect(abs(issuedAt - Self.serverTime(phone, ahead: ahead).timeIntervalSince1970) <= 1)
    }

    @Test(
        "If the device's clock is wrong, the response to a pushed challenge has the server's time",
        arguments: [-1_200.0, -300, 300, 1_200], [false, true])
    func pushedChallenge(ahead: TimeInterval, isVerified: Bool) async throws {
        let phone = try Self.phone(ahead: ahead)
        try await phone.enroll(verification: isVerified)
        let more: JSONValue = isVerified ? ["userVerification": "REQUIRED"] : [:]
        let challenge = try phone.parse(try phone.org.challenge(at: Self.serverTime(phone, ahead: ahead), more: more))
        try await challenge.resolve(onRemediation: approving)
        let answer = try #require(try phone.org.answers().last)
        #expect(abs((answer.claims.issuedAt ?? 0) - Self.serverTime(phone, ahead: ahead).timeIntervalSince1970) <= 1)
        #expect(answer.claims["challengeResponseContext"]?["userConsent"]?.stringValue?.hasPrefix("APPROVED_") == true)
    }

    @Test("A challenge that has expired by the server's time is rejected, even if the device's clock is wrong")
    func expired() async throws {
        let phone = try Self.phone(ahead: -3_600)
        try await phone.enroll()
        let challenge = try phone.parse(try phone.org.challenge(at: Self.serverTime(phone, ahead: -3_600).addingTimeInterval(-1_000)))
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .expired)
        #expect(phone.org.requests(.verify).isEmpty)
    }

    @Test(
        "If the device's clock is slow and the org cannot be asked for its time, the challenge is not rejected, and can be approved later")
    func slowAndOffline() async throws {
        let phone = try Self.phone(ahead: -1_200)
        try await phone.enroll()
        let challenge = try phone.parse(try phone.org.challenge(at: Self.serverTime(phone, ahead: -1_200)))
        phone.org.answer(.organization, .offline)
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .network)
        #expect(phone.org.requests(.verify).isEmpty)
        try await challenge.resolve(onRemediation: approving)
        #expect(try phone.org.answers().count == 1)
    }

    @Test("If the server rejects a request with the corrected time too, the error names the clock difference and the remedy")
    func named() async throws {
        for (ahead, text) in [(300.0, "5 minutes ahead of"), (-300, "5 minutes behind")] {
            let phone = try Self.phone(ahead: ahead)
            let enrollment = try await phone.enroll()
            phone.org.answer(
                .token, .json(["error": "invalid_grant"], status: 400), .json(["error": "invalid_grant"], status: 400))
            let error = try #require(await failure { try await enrollment.retrieveMaintenanceToken() })
            #expect(error.reason == .clockWrong)
            let description = error.debugDescription
            #expect(description.contains("This device's clock is \(text) the server's. Set the date and time."), "\(description)")
            let shown = ErrorText(clockOffset: -ahead)
            #expect(error.userText == shown && shown.description.english.contains("5 minutes"))
        }
    }

    @Test(
        "If the device's clock is more than a day off, the error reports the difference, and signed tokens keep the device's time",
        arguments: [-90_000.0, 90_000])
    func bounded(ahead: TimeInterval) async throws {
        let phone = try Self.phone(ahead: ahead)
        let enrollment = try await phone.enroll()
        let error = try #require(await failure { try await enrollment.retrieveMaintenanceToken() })
        #expect(error.reason == .clockWrong && error.userText.description.english.contains("25 hours"), "\(error)")
        // The phone signs no token with the time of another day.
        let now = phone.clock.now.timeIntervalSince1970
        #expect(try Self.assertions(phone).allSatisfy { abs(($0.issuedAt ?? 0) - now) <= 1 })
    }

    @Test(
        "If the device's clock is more than a day off, a challenge does not count as expired, and its answer fails with the difference",
        arguments: [-90_000.0, 90_000])
    func challengeBounded(ahead: TimeInterval) async throws {
        let phone = try Self.phone(ahead: ahead)
        try await phone.enroll()
        let challenge = try phone.parse(try phone.org.challenge(at: Self.serverTime(phone, ahead: ahead)))
        let error = try #require(await failure { try await challenge.resolve(onRemediation: approving) })
        #expect(error.reason == .clockWrong && error.userText.description.english.contains("25 hours"), "\(error)")
        #expect(!challenge.isExpired)
        // The phone signs no answer with the time of another day.
        let now = phone.clock.now.timeIntervalSince1970
        #expect(try phone.org.answers().allSatisfy { abs(($0.claims.issuedAt ?? 0) - now) <= 1 })
    }

    @Test("If the device's clock is right, the error for a rejected request does not mention the clock")
    func rightClock() async throws {
        let phone = try Self.phone(ahead: 0)
        let enrollment = try await phone.enroll()
        phone.org.answer(.token, .json(["error": "invalid_grant"], status: 400))
        let error = try #require(await failure { try await enrollment.retrieveMaintenanceToken() })
        #expect(
            error.reason == .other && !error.debugDescription.contains("clock") && !error.userText.description.english.contains("clock"))
        #expect(phone.org.requests(.token).count == 1)
    }

    @Test(
        "A Date header that is malformed or from a cache does not correct the device's time",
        arguments: [
            ["Date": "never"], ["Date": "Sun, 06 Nov 99999 08:49:37 GMT"], ["Date": "-1"],
            ["Date": "Fri, 15 Jan 2027 09:00:00 GMT", "Age": "5"],
            ["Date": "Fri, 15 Jan 2027 09:00:00 GMT", "Age": "x"],
        ])
    func untrusted(headers: [String: String]) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        phone.org.answer(.token, .init(status: 400, body: Data(#"{"error":"invalid_grant"}"#.utf8), headers: headers))
        #expect(await failure { try await enrollment.retrieveMaintenanceToken() }?.reason == .other)
        _ = try await enrollment.retrieveMaintenanceToken()
        #expect(try Self.assertions(phone).allSatisfy { $0.issuedAt == 1_800_000_000 })
    }

    @Test("The time of one org does not change the time in tokens that are signed for another org")
    func otherOrg() async throws {
        let (clock, folder) = (ManualClock(sleeps: .skipped), TemporaryFolder())
        let liar = TestOrg("https://liar.example.com", id: "00o2")
        liar.keepTime { clock.now.addingTimeInterval(43_200) }
        let honest = TestOrg()
        liar.answer(.enroll, .json(liar.enrollment(2)))
        let phone = try TestPhone(org: honest, folder: folder, clock: clock)
        let device = try phone.builder.urlSession(TwoOrgs(honest, liar)).create()
        var enrollments: [any AuthenticatorEnrollmentProtocol] = []
        for org in [honest, liar] {
            enrollments.append(
                try await device.enroll(
                    authenticationToken: TestPhone.token,
                    authenticatorConfig: DeviceAuthenticatorConfig(orgURL: try url(org.url), oidcClientId: "client-1"),
                    enrollmentParameters: EnrollmentParameters(deviceToken: .empty)))
        }
        for enrollment in enrollments { _ = try? await enrollment.retrieveMaintenanceToken() }
        #expect(try Self.assertions(phone).map(\.issuedAt) == [1_800_000_000])
    }
}
