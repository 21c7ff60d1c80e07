import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Deleting an enrollment (D4-6 to D4-8, Documentation/Protocol/Devices.md §2.7 and §6.4)")
struct DeletionTests {
    @Test(
        "Deleting an enrollment sends the request of Devices.md §2.7 and removes the enrollment and its keys from the device"
    )
    func deleted() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(verification: true)
        try await phone.authenticator.delete(enrollment: enrollment, authenticationToken: TestPhone.token)
        let request = try #require(phone.org.requests(.delete).first)
        #expect(request.url?.absoluteString == "https://id.example.com/idp/myaccount/app-authenticators/pfd1")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/json; okta-version=1.0.0")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer manage-secret")
        #expect(request.httpBody == nil)
        #expect(try phone.authenticator.allEnrollments().isEmpty)
        // The deleted enrollment was the last one of the org.
        #expect(try phone.folder.names == ["key", "lock"])
    }

    @Test("An enrollment can be deleted with the older and with the newer callback function", arguments: [true, false])
    func spellings(older: Bool) async throws {
        let phone = try TestPhone()
        let enrollment: any AuthenticatorEnrollmentProtocol = try await phone.enroll()
        let authenticator = try phone.authenticator
        let error = await withCheckedContinuation { (continuation: CheckedContinuation<DeviceAuthenticatorError?, Never>) in
            if older {
                enrollment.delete(enrollment: enrollment, authenticationToken: TestPhone.token) { continuation.resume(returning: $0) }
            } else {
                authenticator.delete(enrollment: enrollment, authenticationToken: TestPhone.token) { continuation.resume(returning: $0) }
            }
        }
        #expect(error == nil)
        #expect(authenticator.allEnrollments().isEmpty)
    }

    @Test(
        "If the server responds that the enrollment is deleted or suspended, the deletion still removes the enrollment from the device",
        arguments: [
            ("E0000008", 404), ("E0000153", 410), ("E0000154", 410), ("E0000156", 410), ("E0000152", 403), ("E0000155", 423),
            ("E0000180", 423),
        ])
    func goneOnServer(code: String, status: Int) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        phone.org.answer(.delete, .failure(code, status: status))
        try await phone.authenticator.delete(enrollment: enrollment, authenticationToken: TestPhone.token)
        #expect(try phone.authenticator.allEnrollments().isEmpty)
    }

    @Test(
        "If a deletion fails for any other reason, the enrollment stays usable, and the app can delete the enrollment locally",
        arguments: [
            (TestOrg.Reply.failure("E0000007", status: 404), DeviceAuthenticatorError.Reason.notFound),
            (.failure("E0000011", status: 401), .tokenRefused), (.failure("E0000006", status: 403), .notPermitted),
            (.text("", status: 500), .other), (.text("<html>", status: 410), .other), (.offline, .network),
        ])
    func kept(reply: TestOrg.Reply, reason: DeviceAuthenticatorError.Reason) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        phone.org.answer(.delete, reply)
        let error = await failure { try await phone.authenticator.delete(enrollment: enrollment, authenticationToken: TestPhone.token) }
        #expect(error?.reason == reason)
        try await phone.parse(phone.org.challenge()).resolve(onRemediation: approving)
        try enrollment.deleteFromDevice()
        #expect(try phone.authenticator.allEnrollments().isEmpty)
    }

    @Test("A local deletion of an enrollment sends no request, and keeps the keys that other enrollments need")
    func fromDevice() async throws {
        let phone = try TestPhone()
        let first = try await phone.enroll(verification: true)
        try await phone.enroll()
        let requests = phone.org.routes.count
        try first.deleteFromDevice()
        try first.deleteFromDevice()
        #expect(phone.org.routes.count == requests)
        #expect(try phone.authenticator.allEnrollments().map(\.enrollmentId) == ["pfd2"])
        #expect(try phone.folder.names(of: "key").count == 2)
        #expect(try phone.folder.names(of: "device").count == 1)
        let more: JSONValue = ["authenticatorEnrollmentId": "pfd2", "userId": "00u2", "methodEnrollmentId": "opf2"]
        try await phone.parse(phone.org.challenge(more: more)).resolve(onRemediation: approving)
        #expect(try phone.org.answers().count == 1)
    }

    @Test("Deleting an enrollment of a type that the app defines fails without a request")
    func foreignType() async throws {
        let phone = try TestPhone()
        let authenticator = try phone.authenticator
        let error = await failure { try await authenticator.delete(enrollment: OwnEnrollment(), authenticationToken: TestPhone.token) }
        #expect(error == .internalError(""))
        #expect(phone.org.routes.isEmpty)
    }
}

/// An app's test double with only the public members.
struct OwnEnrollment: AuthenticatorEnrollmentProtocol {
    let enrollmentId = "own"
    let organization = Organization(id: "00o1", url: URL(fileURLWithPath: "/"))
    let user = User(id: "00u1", name: nil)
    let userVerificationEnabled = false
    let isCIBAEnabled = false

    func setUserVerification(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) { completion(.genericError("own")) }
    func enableCIBATransactions(
        authenticationToken: AuthToken, enable: Bool, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) { completion(nil) }
    func updateDeviceToken(
        _ token: Data, authenticationToken: AuthToken, completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) { completion(nil) }
    func retrievePushChallenges(
        authenticationToken: AuthToken, allowedClockSkewInSeconds: Int,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void
    ) { completion(.success([])) }
    func deleteFromDevice() throws {}
    func retrieveMaintenanceToken(
        scopes: [String], completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void
    ) { completion(.failure(.genericError("own"))) }
}
