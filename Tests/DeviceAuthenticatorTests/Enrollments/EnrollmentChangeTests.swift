import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Changing an enrollment (D4, Documentation/Protocol/Devices.md §2.6)")
struct EnrollmentChangeTests {
    @Test("An update of the push token is a PATCH request with the merge patch media type in Content-Type and Accept")
    func pushToken() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        // The body of the response does not matter.
        phone.org.answer(.update, .text("ok"))
        try await enrollment.updateDeviceToken(Data([0xAB, 0x01]), authenticationToken: .bearer("maintenance-secret"))
        let request = try #require(phone.org.requests(.update).first)
        #expect(request.httpMethod == "PATCH")
        #expect(request.url?.absoluteString == "https://id.example.com/idp/myaccount/app-authenticators/pfd1")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/merge-patch+json; okta-version=1.0.0")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/merge-patch+json; okta-version=1.0.0")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer maintenance-secret")
        #expect(try phone.org.bodies(.update) == [["methods": ["push": ["pushToken": "ab01"]]]])
    }

    @Test("Turning CIBA on and off sends the list of transaction types with and without CIBA")
    func ciba() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        try await enrollment.enableCIBATransactions(authenticationToken: TestPhone.token, enable: true)
        #expect(enrollment.isCIBAEnabled)
        #expect(try phone.authenticator.allEnrollments()[0].isCIBAEnabled)
        try await enrollment.enableCIBATransactions(authenticationToken: TestPhone.token, enable: false)
        #expect(try !phone.authenticator.allEnrollments()[0].isCIBAEnabled)
        #expect(
            try phone.org.bodies(.update) == [
                ["methods": ["push": ["capabilities": ["transactionTypes": ["LOGIN", "CIBA"]]]]],
                ["methods": ["push": ["capabilities": ["transactionTypes": ["LOGIN"]]]]],
            ])
    }

    @Test("Enabling user verification sends a new key, enabling it again sends the same key, and disabling it sends null")
    func userVerification() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        try await enrollment.setUserVerification(authenticationToken: TestPhone.token, enable: true)
        #expect(try phone.authenticator.allEnrollments()[0].userVerificationEnabled)
        try await enrollment.setUserVerification(authenticationToken: TestPhone.token, enable: true)
        let bodies = try phone.org.bodies(.update)
        #expect(bodies.count == 2 && bodies[0] == bodies[1])
        #expect(phone.verifier?.requests.count == 1)
        try await phone.parse(phone.org.challenge(more: ["userVerification": "REQUIRED"])).resolve(onRemediation: approving)
        #expect(try phone.org.answers().first?.claims["keyType"] == "userVerification")
        try await enrollment.setUserVerification(authenticationToken: TestPhone.token, enable: false)
        #expect(try phone.org.bodies(.update).last == ["methods": ["push": ["keys": ["userVerification": nil]]]])
        #expect(try !phone.authenticator.allEnrollments()[0].userVerificationEnabled)
        // The client instance key and the proof-of-possession key remain.
        #expect(try phone.folder.names(of: "key").count == 2)
    }

    @Test("If the user verification key is lost, enabling user verification creates a new key")
    func lostKey() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(verification: true)
        let old = try #require(enrollment.record.verificationKeyTag)
        try FileDeviceKeyStore(directory: phone.folder.url).deleteKey(tag: old)
        try await enrollment.setUserVerification(authenticationToken: TestPhone.token, enable: true)
        #expect(enrollment.record.verificationKeyTag != old)
        #expect(try phone.folder.names(of: "key").count == 3)
    }

    @Test("If another setting changes, an enrollment whose user verification key is lost still has user verification enabled")
    func lostKeyIsKept() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(verification: true)
        try FileDeviceKeyStore(directory: phone.folder.url).deleteKey(tag: try #require(enrollment.record.verificationKeyTag))
        try await enrollment.enableCIBATransactions(authenticationToken: TestPhone.token, enable: true)
        #expect(try phone.authenticator.allEnrollments()[0].userVerificationEnabled)
    }

    @Test(
        "A failed change of an enrollment updates its state from the error code, and keeps its settings and keys",
        arguments: [
            (TestOrg.Reply.failure("E0000158", status: 400), EnrollmentState.active), (.failure("E0000152", status: 403), .suspended),
            (.failure("E0000153", status: 410), .reset), (.failure("E0000154", status: 410), .reset),
            (.failure("E0000156", status: 410), .deleted), (.failure("E0000008", status: 404), .deleted), (.offline, .active),
            (.text("not json"), .active), (.json([:]), .active),
        ])
    func failure(reply: TestOrg.Reply, state: EnrollmentState) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(verification: true)
        let keys = try phone.folder.names(of: "key")
        let calls: [(AuthenticatorEnrollment) async throws -> Void] = [
            { try await $0.setUserVerification(authenticationToken: TestPhone.token, enable: false) },
            { try await $0.enableCIBATransactions(authenticationToken: TestPhone.token, enable: true) },
        ]
        for call in calls {
            phone.org.answer(.update, reply)
            await #expect(throws: DeviceAuthenticatorError.self) { try await call(enrollment) }
            #expect(enrollment.enrollmentState == state)
            let stored = try #require(try phone.authenticator.allEnrollments().first as? AuthenticatorEnrollment)
            #expect(stored.userVerificationEnabled && !stored.isCIBAEnabled && stored.enrollmentState == state)
            #expect(try phone.folder.names(of: "key") == keys)
        }
        try await enrollment.updateDeviceToken(Data([1]), authenticationToken: TestPhone.token)
        #expect(enrollment.enrollmentState == .active)
    }

    @Test("A new user verification key is deleted if its registration fails")
    func newKeyIsRolledBack() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        let keys = try phone.folder.names(of: "key")
        phone.org.answer(.update, .failure("E0000006", status: 403))
        let error = await DeviceAuthenticatorTests.failure {
            try await enrollment.setUserVerification(authenticationToken: .bearer("maintenance-secret"), enable: true)
        }
        #expect(error?.reason == .notPermitted)
        #expect(try phone.folder.names(of: "key") == keys)
        #expect(!enrollment.userVerificationEnabled)
    }

    @Test("If the response to an enrollment change has no link to pending challenges, the stored link is kept")
    func pendingLink() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        var answer = phone.org.enrollment()
        answer["methods"] = ["push": ["id": "opf1"]]
        phone.org.answer(.update, .json(answer))
        try await enrollment.enableCIBATransactions(authenticationToken: TestPhone.token, enable: true)
        #expect(try await enrollment.retrievePushChallenges(authenticationToken: TestPhone.token).isEmpty)
    }

    @Test("An authenticator keeps the changes that another authenticator has stored in the same folder")
    func otherProcess() async throws {
        let phone = try TestPhone()
        let first = try await phone.enroll()
        let second = try #require(try phone.authenticator.allEnrollments().first)
        try await first.enableCIBATransactions(authenticationToken: TestPhone.token, enable: true)
        try await second.setUserVerification(authenticationToken: TestPhone.token, enable: true)
        let stored = try phone.authenticator.allEnrollments()[0]
        #expect(stored.isCIBAEnabled && stored.userVerificationEnabled)
        #expect(second.isCIBAEnabled)
    }

    @Test("The callback of each enrollment change is called once, off the main thread")
    func callbacks() async throws {
        let phone = try TestPhone()
        let enrollment: any AuthenticatorEnrollmentProtocol = try await phone.enroll()
        let errors = Recorder<DeviceAuthenticatorError?>()
        await withCheckedContinuation { continuation in
            enrollment.updateDeviceToken(Data([1]), authenticationToken: TestPhone.token) { error in
                errors.add(error)
                enrollment.setUserVerification(authenticationToken: TestPhone.token, enable: true) { error in
                    errors.add(error)
                    phone.org.answer(.update, .offline)
                    enrollment.enableCIBATransactions(authenticationToken: TestPhone.token, enable: true) { error in
                        #expect(!Thread.isMainThread)
                        errors.add(error)
                        continuation.resume()
                    }
                }
            }
        }
        #expect(errors.all == [nil, nil, .networkError(URLError(.notConnectedToInternet))])
    }
}
