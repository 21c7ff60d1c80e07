import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

/// A phone is enrolled at a hostile org and an honest one. The hostile org chooses its own id and the ids of its enrollments.
@Suite("Attacks: an org that uses another org's IDs")
struct ForeignOrgTests {
    /// Returns a phone that is enrolled at the honest org, and whose network contains both orgs.
    private static func phone(hostileID: String) async throws -> (TestPhone, TestOrg, any DeviceAuthenticatorProtocol) {
        let hostile = TestOrg("https://evil.example", id: hostileID)
        let phone = try TestPhone()
        try await phone.enroll(verification: true)
        return (phone, hostile, try phone.builder.urlSession(TwoOrgs(phone.org, hostile)).create())
    }

    private static func enroll(_ device: any DeviceAuthenticatorProtocol, at org: TestOrg) async throws {
        _ = try await device.enroll(
            authenticationToken: TestPhone.token,
            authenticatorConfig: DeviceAuthenticatorConfig(orgURL: try url(org.url), oidcClientId: "client-1"),
            enrollmentParameters: EnrollmentParameters(deviceToken: .empty))
    }

    /// Checks that the enrollment at the honest org can still answer with the user verification key.
    private static func expectIntact(_ phone: TestPhone) async throws {
        let enrollments = try phone.authenticator.allEnrollments().compactMap { $0 as? AuthenticatorEnrollment }
        let record = try #require(enrollments.first { $0.enrollmentId == "pfd1" }).record
        #expect(record.organizationURL.absoluteString == phone.org.url)
        let challenge = try phone.parse(try phone.org.challenge(more: ["userVerification": "REQUIRED"]))
        try await challenge.resolve(onRemediation: approving)
        #expect(try phone.org.answers().last?.claims["keyType"] == "userVerification")
    }

    @Test("The phone rejects an enrollment at an org that uses another org's ID, and the other org's enrollment still works")
    func organizationID() async throws {
        let (phone, hostile, device) = try await Self.phone(hostileID: "00o1")
        let error = await failure { try await Self.enroll(device, at: hostile) }
        #expect(error?.debugDescription.contains(phone.org.url) == true, "\(String(describing: error))")
        #expect(hostile.routes == [.organization])
        try await Self.expectIntact(phone)
    }

    @Test("The phone does not store an enrollment with the ID of another org's enrollment, and asks the issuing org to delete it")
    func enrollmentID() async throws {
        let (phone, hostile, device) = try await Self.phone(hostileID: "00oEvil")
        // The hostile org responds with pfd1, the id of the honest org's enrollment.
        let error = await failure { try await Self.enroll(device, at: hostile) }
        #expect(error?.reason == .storage)
        #expect(hostile.routes.last == .delete)
        try await Self.expectIntact(phone)
    }

    @Test("A phone can be enrolled at two orgs, and one org's key cannot sign challenges for the other org's enrollment")
    func sideBySide() async throws {
        let (phone, hostile, device) = try await Self.phone(hostileID: "00oEvil")
        hostile.answer(.enroll, .json(hostile.enrollment(2)))
        try await Self.enroll(device, at: hostile)
        #expect(try phone.authenticator.allEnrollments().count == 2)
        // The hostile org signs a challenge for the honest org's enrollment. It uses its own issuer or that of the honest org.
        for more: JSONValue in [
            ["iss": "https://evil.example"], ["iss": "https://evil.example", "orgId": "00oEvil"],
            ["iss": "https://evil.example", "verificationUri": "https://evil.example/verify"], ["orgId": "00oEvil"],
            ["verificationUri": "https://evil.example/verify"],
        ] {
            let forged = try phone.org.challenge(more: more, key: TestOrg.foreignKey)
            #expect(throws: (any Error).self, "\(more)") { try phone.parse(forged) }
        }
        #expect(phone.org.requests(.verify).isEmpty && hostile.requests(.verify).isEmpty)
        try await Self.expectIntact(phone)
    }
}
