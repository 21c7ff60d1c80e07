import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import Store

@Suite("Deleting and suspending devices")
struct DeletingEnrollmentsTests {
    @Test("A deleted enrollment is reported as deleted for 30 days and then removed")
    func deletes() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        #expect(try await fixture.delete(phone, fixture.strongToken()).code == nil)
        #expect(try await fixture.enrollments().isEmpty)
        let line = try #require(try await fixture.organization.log().last)
        #expect(line.type == "device.enrollment.delete" && line.outcome == .success && line.reason == phone.enrollmentID)
        let deleted = try await fixture.stored(phone)
        #expect(deleted.status == .deleted && deleted.push?.pushToken == "")

        let month = 30.0 * 86_400
        let late = try await fixture.delete(phone, fixture.strongToken(at: month), at: month + 1)
        #expect(late.code == "E0000154" && late.status == 410)
        #expect(try await fixture.configuration(.ssws(phone.authorization(at: month).signed()), at: month).code == "E0000154")
        let gone = try await fixture.delete(phone, fixture.strongToken(at: month), at: month + 3)
        #expect(gone.code == "E0000007" && gone.status == 404)
        _ = try await fixture.engine.removeExpired(now: TestOrganization.time(month + 3), limit: 100_000)
        let left: [Record] = try await fixture.organization.store.read { view in
            try view.records(.enrollment, after: nil, limit: 10) + view.records(.device, after: nil, limit: 10)
        }
        #expect(left.isEmpty)
    }

    @Test("A sign-in with only a password cannot delete the user's phone enrollment or enroll another phone")
    func weak() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let token = try await fixture.weakToken()
        let refused = try await fixture.delete(phone, token)
        #expect(refused.code == "E0000006" && refused.why == "second factor is not proved")
        #expect(try await fixture.enroll(Phone(userID: phone.userID).enrollment(), token).code == "E0000006")
        #expect(try await fixture.enrollments().count == 1)
        let line = try #require(try await fixture.organization.log().last { $0.type == "device.enrollment.delete" })
        #expect(line.outcome == .denied && line.userID == phone.userID)
    }

    @Test("Deleting an enrollment requires a recent sign-in")
    func oldSignIn() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let refused = try await fixture.delete(phone, fixture.strongToken(), at: 3_000)
        #expect(refused.code == "E0000006" && refused.why == "key: sign-in is too old")
        #expect(try await fixture.enrollments().count == 1)
    }

    @Test("After its enrollment is deleted, a device can enroll again for the same user and gets a new enrollment id")
    func again() async throws {
        let fixture = try await DeviceFixture()
        let first = try await fixture.enrolledPhone()
        #expect(try await fixture.delete(first, fixture.strongToken()).code == nil)
        var second = try first.again()
        try second.remember(
            await fixture.enroll(second.enrollment(attestation: first.attestation(at: 3).signed()), fixture.weakToken(), at: 3).get())
        #expect(second.deviceID == first.deviceID && second.enrollmentID != first.enrollmentID)
        #expect(try await fixture.storedDevice(second).unusedSince == nil)
        #expect(try await fixture.delete(first, fixture.strongToken()).code == "E0000154")
    }

    @Test("A device counts as unused only after its last enrollment is deleted")
    func deviceStays() async throws {
        let fixture = try await DeviceFixture()
        let janes = try await fixture.enrolledPhone()
        var johns = try janes.again(for: try await fixture.userID(DeviceFixture.john))
        try johns.remember(
            await fixture.enroll(
                johns.enrollment(attestation: janes.attestation().signed()), fixture.weakToken(of: DeviceFixture.john), at: 2
            ).get())
        #expect(try await fixture.delete(janes, fixture.strongToken()).code == nil)
        #expect(try await fixture.storedDevice(johns).unusedSince == nil)
        #expect(try await fixture.delete(johns, fixture.strongToken(of: DeviceFixture.john)).code == nil)
        #expect(try await fixture.storedDevice(johns).unusedSince != nil)
    }

    // MARK: - Administrators

    private enum Closed: String, CaseIterable, Sendable {
        case suspendedEnrollment, suspendedDevice, deletedDevice

        func close(_ phone: Phone, _ engine: Engine) async throws {
            let context = DeviceFixture.context(2)
            switch self {
            case .suspendedEnrollment: #expect(try await engine.suspendEnrollment(phone.enrollmentID, context: context))
            case .suspendedDevice: #expect(try await engine.suspendDevice(phone.deviceID, context: context))
            case .deletedDevice: #expect(try await engine.deleteDevice(phone.deviceID, context: context))
            }
        }

        var expected: (code: String, status: Int) {
            switch self {
            case .suspendedEnrollment: ("E0000180", 423)
            case .suspendedDevice: ("E0000152", 403)
            case .deletedDevice: ("E0000153", 410)
            }
        }
    }

    @Test(
        "Device API requests for a suspended enrollment, a suspended device or a deleted device get the error code of Devices.md §2.12",
        arguments: Closed.allCases)
    private func closed(how: Closed) async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let token = try await fixture.strongToken()
        try await how.close(phone, fixture.engine)
        func isExpected(_ result: Result<some Any, DeviceRefusal>) -> Bool {
            result.code == how.expected.code && result.status == how.expected.status
        }
        #expect(isExpected(try await fixture.update(phone, ["pushToken": "aa"], token, at: 3)))
        #expect(isExpected(try await fixture.delete(phone, token, at: 3)))
        #expect(isExpected(try await fixture.configuration(.ssws(phone.authorization(at: 3).signed()), at: 3)))
        #expect(
            isExpected(
                try await fixture.engine.pendingChallenges(
                    enrollmentID: phone.enrollmentID, authorization: token, context: DeviceFixture.context(3))))
        let again = try phone.again().enrollment(attestation: phone.attestation(at: 3).signed())
        #expect(isExpected(try await fixture.enroll(again, token, at: 3)))
        let assertion = try await fixture.maintenanceToken(phone.assertion(at: 3).signed(), at: 3)
        #expect(assertion.refused == .invalidGrant)
    }

    @Test("A suspended enrollment or device can be reactivated, but a deleted device cannot")
    func reopens() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let context = DeviceFixture.context(2)
        #expect(try await fixture.engine.suspendEnrollment(phone.enrollmentID, context: context))
        #expect(try await !fixture.engine.suspendEnrollment(phone.enrollmentID, context: context))
        #expect(try await fixture.enrollments().map(\.status) == ["suspended"])
        #expect(try await fixture.engine.suspendEnrollment(phone.enrollmentID, false, context: context))
        #expect(try await fixture.engine.suspendDevice(phone.deviceID, context: context))
        #expect(try await fixture.enrollments().map(\.status) == ["suspended"])
        #expect(try await fixture.engine.suspendDevice(phone.deviceID, false, context: context))
        #expect(try await fixture.update(phone, ["pushToken": "aa"], fixture.strongToken(), at: 3).code == nil)
        #expect(try await fixture.engine.deleteDevice(phone.deviceID, context: context))
        #expect(try await !fixture.engine.suspendDevice(phone.deviceID, false, context: context))
        #expect(try await !fixture.engine.deleteDevice("guo00000000000000000", context: context))
        #expect(try await fixture.enrollments().isEmpty)
    }

    // MARK: - Push tokens

    @Test(
        "A gateway's report marks the current push token as unregistered until the app registers a token again, and an outdated report has no effect"
    )
    func deadToken() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        func died(_ token: String, since: TimeInterval?) async throws -> Bool? {
            try await fixture.engine.pushTokenDied(
                enrollmentID: phone.enrollmentID, token: token, since: since.map(TestOrganization.time), context: DeviceFixture.context(9))
            return try await fixture.stored(phone).push?.isTokenDead
        }
        #expect(try await died("aa", since: nil) == false)
        #expect(try await died("00ff12", since: 0) == false)
        #expect(try await died("00ff12", since: 1) == true)
        #expect(try await fixture.organization.log().last?.type == "device.push_token.died")
        #expect(try await fixture.update(phone, ["pushToken": "00ff12"], fixture.strongToken(), at: 10).code == nil)
        #expect(try await fixture.stored(phone).push?.isTokenDead == false)
        #expect(try await died("00ff12", since: 9) == false)
        #expect(try await died("00ff12", since: nil) == true)
        try await fixture.engine.pushTokenDied(
            enrollmentID: "pfd00000000000000000", token: "aa", since: nil, context: DeviceFixture.context(9))
    }
}
