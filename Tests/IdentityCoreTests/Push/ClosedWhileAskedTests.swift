import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import OAuthEndpoints

@Suite("Suspension or deletion during a pending challenge")
struct ClosedWhileAskedTests {
    /// The entities that an administrator can close between the challenge and the answer (Documentation/Protocol/Devices.md §2.12).
    enum Closure: CaseIterable, Sendable {
        case suspendedEnrollment, deletedEnrollment, suspendedDevice, deletedDevice, suspendedUser, deactivatedUser

        func close(_ phone: Phone, _ org: PushFixture, at seconds: TimeInterval) async throws {
            let context = PushFixture.context(seconds)
            switch self {
            case .suspendedEnrollment: #expect(try await org.engine.suspendEnrollment(phone.enrollmentID, context: context))
            case .deletedEnrollment: try await org.delete(phone, at: seconds)
            case .suspendedDevice: #expect(try await org.engine.suspendDevice(phone.deviceID, context: context))
            case .deletedDevice: #expect(try await org.engine.deleteDevice(phone.deviceID, context: context))
            case .suspendedUser: _ = try await org.engine.setStatus(userID: phone.userID, to: .suspended, context: context)
            case .deactivatedUser: _ = try await org.engine.setStatus(userID: phone.userID, to: .deactivated, context: context)
            }
        }

        /// Opens the entity again. Returns `false` if it is closed permanently.
        func open(_ phone: Phone, _ org: PushFixture, at seconds: TimeInterval) async throws -> Bool {
            let context = PushFixture.context(seconds)
            switch self {
            case .suspendedEnrollment: return try await org.engine.suspendEnrollment(phone.enrollmentID, false, context: context)
            case .suspendedDevice: return try await org.engine.suspendDevice(phone.deviceID, false, context: context)
            case .suspendedUser:
                _ = try await org.engine.setStatus(userID: phone.userID, to: .active, context: context)
                return true
            case .deletedEnrollment, .deletedDevice, .deactivatedUser: return false
            }
        }

        var expected: (code: String, status: Int) {
            switch self {
            case .suspendedEnrollment: ("E0000180", 423)
            case .deletedEnrollment: ("E0000154", 410)
            case .suspendedDevice: ("E0000152", 403)
            case .deletedDevice: ("E0000153", 410)
            case .suspendedUser: ("E0000155", 423)
            case .deactivatedUser: ("E0000156", 410)
            }
        }

        var isOfUser: Bool { self == .suspendedUser || self == .deactivatedUser }
    }

    @Test(
        "After a suspension, deletion or deactivation, a phone's response gets the error code of Devices.md §2.12, and is accepted after a reactivation",
        arguments: Closure.allCases)
    func answer(closure: Closure) async throws {
        let org = try await PushFixture()
        let phone = try await org.enroll()
        let waiting = try await org.waiting()
        let challenge = try await org.newest(phone, at: 12)
        try await closure.close(phone, org, at: 13)
        for consent in ["APPROVED_CONSENT_PROMPT", "DENIED_CONSENT_PROMPT"] {
            let refused = try await org.send(PushFixture.sign(phone, challenge, consent: consent, at: 14), at: 14)
            #expect(refused.code == closure.expected.code && refused.status == closure.expected.status, "\(consent)")
        }
        #expect(try await org.log("user.mfa.push.answer").isEmpty)
        #expect(try await org.poll(waiting, at: 15).refused == .authorizationPending)
        guard try await closure.open(phone, org, at: 16) else { return }
        #expect(try await org.send(PushFixture.sign(phone, challenge, at: 17), at: 17).get() == .approved)
        _ = try await org.poll(waiting, at: 21).get()
    }

    @Test(
        "The server reveals a suspended, deleted or deactivated phone or user only to a request that the phone's key signed",
        arguments: Closure.allCases)
    func stranger(closure: Closure) async throws {
        let org = try await PushFixture()
        let phone = try await org.enroll()
        _ = try await org.waiting()
        let challenge = try await org.newest(phone, at: 12)
        var stranger = phone
        stranger.possessionKey = try .generate(.es256, keyID: phone.possessionKey.keyID)
        let before = try await org.send(PushFixture.sign(stranger, challenge, at: 13), at: 13)
        try await closure.close(phone, org, at: 14)
        let after = try await org.send(PushFixture.sign(stranger, challenge, at: 15), at: 15)
        #expect(before.code == "E0000001" && before.status == 400)
        guard case .failure(let old) = before, case .failure(let new) = after else { throw NoSuchThing("refusals") }
        #expect(old == new)
    }

    @Test(
        "Listing a phone's pending challenges after a suspension, deletion or deactivation gets the error code of Devices.md §2.12",
        arguments: Closure.allCases)
    func list(closure: Closure) async throws {
        let org = try await PushFixture()
        let phone = try await org.enroll()
        _ = try await org.waiting()
        #expect(try await org.pending(phone, at: 12).count == 1)
        try await closure.close(phone, org, at: 13)
        let list = try await org.engine.pendingChallenges(
            enrollmentID: phone.enrollmentID, authorization: .ssws(try phone.authorization(at: 14).signed()),
            context: PushFixture.context(14))
        #expect(list.code == closure.expected.code && list.status == closure.expected.status)
    }

    @Test(
        "After one phone is suspended or deleted, another phone of the user can approve the pending challenge",
        arguments: Closure.allCases.filter { !$0.isOfUser })
    func otherPhone(closure: Closure) async throws {
        let org = try await PushFixture()
        let first = try await org.enroll()
        let second = try await org.enroll(existing: first, at: 2)
        let waiting = try await org.waiting()
        let challenge = try await org.newest(first, at: 12)
        try await closure.close(first, org, at: 13)
        #expect(try await org.send(PushFixture.sign(first, challenge, at: 14), at: 14).code == closure.expected.code)
        #expect(try await org.poll(waiting, at: 15).refused == .authorizationPending)
        #expect(try await org.answer(second, at: 16).get() == .approved)
        #expect(try claims(of: try await org.poll(waiting, at: 20).get().idToken)["sub"]?.stringValue == second.userID)
    }

    @Test(
        "After one phone is suspended or deleted, the next challenge is sent only to the user's other phone",
        arguments: Closure.allCases.filter { !$0.isOfUser })
    func nextChallenge(closure: Closure) async throws {
        let org = try await PushFixture { $0.authenticators[0].credentials = try? PushFixture.pushCredentials() }
        let first = try await org.enroll()
        let second = try await org.enroll(existing: first, at: 2)
        try await org.change(first, ["pushToken": "aa01"], at: 4)
        try await org.change(second, ["pushToken": "bb02"], at: 4)
        try await closure.close(first, org, at: 5)
        org.outbox.clear()
        let token = try await org.mfaToken()
        let started = try await org.challenge(token).get()
        #expect(org.outbox.pushes.map(\.enrollmentID) == [second.enrollmentID] && org.outbox.pushes.map(\.pushToken) == ["bb02"])
        #expect(try await org.targets() == [second.enrollmentID])
        _ = try await org.answer(second, at: 12).get()
        _ = try await org.poll(token, started.secret(), at: 16).get()
    }

    @Test("A push request for a user whose only phone was deleted is rejected")
    func noneLeft() async throws {
        let org = try await PushFixture { $0.authenticators[0].credentials = try? PushFixture.pushCredentials() }
        let phone = try await org.enroll()
        org.outbox.clear()
        _ = try await org.primary().get()
        #expect(org.outbox.pushes.map(\.enrollmentID) == [phone.enrollmentID])
        try await org.delete(phone, at: 12)
        #expect(try await org.primary(at: 13).refused == .accessDenied)
        #expect(try await org.backchannel(at: 14).refused == .unknownUserID)
    }
}
