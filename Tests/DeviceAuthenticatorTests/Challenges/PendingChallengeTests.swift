import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Pulling challenges (D5-8, Documentation/Protocol/Devices.md §2.8)")
struct PendingChallengeTests {
    @Test("A pull of pending challenges requests the enrollment's own link and returns verified challenges")
    func pull() async throws {
        let phone = try TestPhone()
        let enrollment: any AuthenticatorEnrollmentProtocol = try await phone.enroll()
        phone.org.wait(with: try phone.org.challenge("ft1"), try phone.org.challenge("ft2"))
        let challenges = try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token)
        #expect(challenges.map(\.transactionId) == ["ft1", "ft2"])
        #expect(challenges.allSatisfy { $0.appInstanceName == "Acme Portal" && $0.userResponse == .userNotResponded })
        let request = try #require(phone.org.requests(.pending).first)
        #expect(request.url?.absoluteString == "https://id.example.com/idp/myaccount/app-authenticators/pfd1/push/notifications")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/json; okta-version=1.0.0")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer manage-secret")
        try await challenges[1].resolve(onRemediation: approving)
        #expect(try phone.org.answers().map { $0.claims["tx"] } == ["ft2"])
    }

    @Test("A pull of pending challenges omits invalid challenges and challenges of another enrollment, and keeps expired challenges")
    func elements() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        let good = try phone.org.challenge("good")
        let other: JSONValue = ["authenticatorEnrollmentId": "pfd2", "userId": "00u2", "methodEnrollmentId": "opf2"]
        let list: [JSONValue] = [
            ["payloadVersion": "IDXv2", "challenge": .string(good)], ["payloadVersion": "IDXv1"],
            ["payloadVersion": "IDXv1", "challenge": "x"],
            ["payloadVersion": "IDXv1", "challenge": .string(try phone.org.challenge(more: ["challengeContext": nil]))],
            ["payloadVersion": "IDXv1", "challenge": .string(try phone.org.challenge("other", more: other))],
            [
                "payloadVersion": "IDXv1",
                "challenge": .string(try phone.org.challenge("old", at: ManualClock.start.addingTimeInterval(-9000))),
            ],
            ["payloadVersion": "IDXv1", "challenge": .string(good), "more": 1],
        ]
        phone.org.answer(.pending, .json(.array(list)))
        let challenges = try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token)
        #expect(challenges.map(\.transactionId) == ["old", "good"])
        #expect(await failure { try await challenges[0].resolve(onRemediation: approving) }?.reason == .expired)
    }

    @Test(
        "If the response to a pull of challenges is not a list of challenges, the pull throws the published error",
        arguments: ["", "{}", "[7]", "hello", "[[]]"])
    func noList(body: String) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        phone.org.answer(.pending, .text(body))
        let error = await failure { try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token) }
        guard case .genericError("Failed to decode server payload")? = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
    }

    @Test("A pull of challenges fails without a request if the enrollment has no stored link to pending challenges")
    func noLink() async throws {
        let phone = try TestPhone()
        var answer = phone.org.enrollment()
        answer["methods"] = ["push": ["id": "opf1"]]
        phone.org.answer(.enroll, .json(answer))
        let enrollment = try await phone.enroll()
        let error = await failure { try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token) }
        guard case .internalError("Failed to construct pending challenge URL")? = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        #expect(phone.org.requests(.pending).isEmpty)
    }

    @Test("A pull of challenges distinguishes a rejected token, a deleted enrollment and a network failure, and keeps the enrollment")
    func failures() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        phone.org.answer(.pending, .failure("E0000011", status: 401), .failure("E0000154", status: 410), .offline)
        for reason in [DeviceAuthenticatorError.Reason.tokenRefused, .enrollmentGone, .network] {
            #expect(await failure { try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token) }?.reason == reason)
        }
        #expect(enrollment.enrollmentState == .active)
        #expect(try phone.authenticator.allEnrollments().count == 1)
    }

    @Test("If the org's keys are unavailable, a pull returns challenges as unverified and without content")
    func unverified() async throws {
        let phone = try TestPhone()
        phone.org.answer(.discovery, .offline, .offline, .offline)
        let enrollment = try await phone.enroll()
        phone.org.wait(with: try phone.org.challenge())
        let challenge = try #require(try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token).first)
        #expect((challenge as? PushChallenge)?.isVerified == false && challenge.appInstanceName == nil)
        try await challenge.resolve(onRemediation: approving)
        #expect(phone.org.requests(.verify).count == 1)
    }

    @Test("The callback variant of retrievePushChallenges returns an empty list if no challenge is pending")
    func callback() async throws {
        let phone = try TestPhone()
        let enrollment: any AuthenticatorEnrollmentProtocol = try await phone.enroll()
        let result = await withCheckedContinuation { continuation in
            enrollment.retrievePushChallenges(authenticationToken: TestPhone.token, allowedClockSkewInSeconds: 10) {
                continuation.resume(returning: $0)
            }
        }
        #expect(try result.get().isEmpty)
    }
}
