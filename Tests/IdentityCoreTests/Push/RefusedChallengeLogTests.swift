import Foundation
import TestSupport
import Testing

@testable import IdentityCore

@Suite("Log events of rejected challenges")
struct RefusedChallengeLogTests {
    private let org: PushFixture

    init() async throws { org = try await PushFixture() }

    private func lines() async throws -> [LogEvent] {
        try await org.log("user.mfa.push.challenge").filter { $0.outcome != .success }
    }

    @Test("If a push request is rejected because the user has no device, the log event names the user, with or without a proved password")
    func noDevice() async throws {
        let phone = try await org.enroll()
        let token = try await org.mfaToken()
        try await org.delete(phone, at: 11)
        #expect(try await org.challenge(token, at: 12).refused == .accessDenied)
        #expect(try await org.primary(at: 13).refused == .accessDenied)
        let lines = try await lines()
        #expect(lines.map(\.clientID) == ["direct-app", "one-factor-app"])
        #expect(lines.map(\.time) == [TestOrganization.time(12), TestOrganization.time(13)])
        for line in lines {
            #expect(line.outcome == .denied && line.userID == phone.userID && line.server == "default" && line.address == "127.0.0.1")
            #expect(line.reason?.isEmpty == false)
        }
    }

    @Test("A push request that exceeds the challenge limit is logged as a failure with the user")
    func tooMany() async throws {
        let phone = try await org.enroll()
        for second in 0..<2 { _ = try await org.primary(at: 11 + Double(second), from: "203.0.113.66").get() }
        #expect(try await org.primary(at: 13, from: "203.0.113.66").refused == .invalidGrant)
        let lines = try await lines()
        #expect(lines.map(\.outcome) == [.failure] && lines.map(\.userID) == [phone.userID])
    }

    @Test("A rejected push request for an unknown user name writes a log event, as for a user without a device")
    func unknownUser() async throws {
        for login in ["unknown@example.com", "closed@example.com", PushFixture.john] {
            #expect(try await org.primary(login).refused == .accessDenied)
        }
        let lines = try await lines()
        #expect(lines.map(\.outcome) == [.denied, .denied, .denied])
        #expect(lines.map { $0.userID == nil } == [true, true, false])
    }

    @Test("A failed challenge request of a confidential client is logged, and a failed request of a public client is not logged")
    func strangers() async throws {
        #expect(try await org.challenge("mfa_nonsense").refused == .accessDenied)
        #expect(try await org.primary(at: 12, ["channel_hint": "pigeon"]).refused == .invalidRequest)
        #expect(try await lines().isEmpty)
        #expect(try await org.backchannel(["login_hint": PushFixture.jane], at: 13).refused == .invalidScope)
        #expect(try await lines().map(\.clientID) == ["bank"])
    }
}
