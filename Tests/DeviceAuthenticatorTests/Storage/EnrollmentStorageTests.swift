import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Stored enrollments (Documentation/Protocol/Devices.md §6)")
struct EnrollmentStorageTests {
    private func entry(_ kind: SealedEntry.Kind, _ id: String, in folder: TemporaryFolder) -> URL {
        folder.url.appendingPathComponent(SealedEntry.fileName(kind, id))
    }

    @Test("A new authenticator that opens the same folder finds the enrollment and can respond to a challenge")
    func restart() async throws {
        let org = TestOrg()
        let folder = TemporaryFolder()
        try await TestPhone(org: org, folder: folder).enroll(verification: true, ciba: true)
        let phone = try TestPhone(org: org, folder: folder)
        let enrollment = try #require(try phone.authenticator.allEnrollments().first)
        #expect(enrollment.enrollmentId == "pfd1" && enrollment.userVerificationEnabled && enrollment.isCIBAEnabled)
        try await phone.parse(org.challenge(more: ["userVerification": "REQUIRED"])).resolve(onRemediation: approving)
        #expect(try org.answers().first?.claims["keyType"] == "userVerification")
    }

    @Test("The phone's stored files contain no access token, push token, challenge or PIN, and no user name in plain text")
    func secrets() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(push: .tokenString("push-secret"), verification: true)
        _ = try await enrollment.retrieveMaintenanceToken()
        phone.org.wait(with: try phone.org.challenge())
        let challenge = try #require(try await enrollment.retrievePushChallenges(authenticationToken: .bearer("pull-secret")).first)
        try await challenge.resolve(onRemediation: approving)
        try await enrollment.enableCIBATransactions(authenticationToken: .bearer("change-secret"), enable: true)
        for name in try phone.folder.names {
            let text = String(decoding: try Data(contentsOf: phone.folder.url.appendingPathComponent(name)), as: UTF8.self)
            for secret in ["secret", "ada1", "nonce-1", "2468"] { #expect(!text.contains(secret), "\(secret) in \(name)") }
        }
        // It is not encrypted either.
        let key = try #require(try StoreKeyFile().key(in: .init(path: phone.folder.url.path)))
        for name in try phone.folder.names where name.hasSuffix(".json") {
            let kind = try #require(SealedEntry.Kind.allCases.first { name.hasPrefix($0.rawValue + "-") })
            let data = try Data(contentsOf: phone.folder.url.appendingPathComponent(name))
            let text = String(decoding: try SealedEntry(decoding: data, kind: kind, name: name).open(.sealed, with: key), as: UTF8.self)
            for secret in ["secret", "nonce-1", "2468"] { #expect(!text.contains(secret), "\(secret) in \(name)") }
        }
        #expect(!phone.log.text.contains("secret"))
    }

    @Test("The phone can use enrollments and keys that were stored in format 1")
    func formatOne() async throws {
        let folder = TemporaryFolder()
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/format-1", withExtension: nil))
        try FileManager.default.copyItem(at: fixture, to: folder.url)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path)
        for name in try folder.names {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.url.appendingPathComponent(name).path)
        }
        let phone = try TestPhone(org: TestOrg(publishes: [TestOrg.nextKey]), folder: folder)
        let enrollment = try #require(try phone.authenticator.enrollments().first as? AuthenticatorEnrollment)
        let record = enrollment.record
        #expect(record.id == "pfd1" && record.organizationID == "00o1" && record.organizationURL.absoluteString == "https://id.example.com")
        #expect(record.clientID == "client-1" && record.userID == "00u1" && record.userName == "ada1@example.com")
        #expect(record.deviceID == "guo1" && record.clientInstanceID == "cli-guo1" && record.methodID == "opf1")
        #expect(record.transactionTypes == 3 && record.serverErrorCode == "E0000158")
        #expect(record.createdAt == ManualClock.start && enrollment.userVerificationPolicy == .preferred)
        let store = phone.builder.store(in: folder)
        #expect(try store.challengeKeys(of: "00o1")?.issuers["https://id.example.com"]?.keys.count == 1)
        // The keys work: the user's with the PIN, and the installation's.
        let jwt = try phone.org.challenge(more: ["userVerification": "REQUIRED"], key: TestOrg.nextKey)
        let challenge = try phone.parse(jwt)
        try await challenge.resolve(onRemediation: approving)
        let body = try #require(try phone.org.bodies(.verify).first?["challengeResponse"]?.stringValue)
        #expect(try JSONWebSignature(parsing: body).unverifiedClaims()["keyType"] == "userVerification")
        phone.org.answer(.enroll, .json(phone.org.enrollment(2)))
        try await phone.enroll()
        #expect(try phone.org.bodies(.enroll).first?["device"]?["deviceAttestation"] != nil)
    }

    @Test("A stored entry of a newer format is reported and kept, and the other entries stay readable")
    func newer() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await phone.enroll()
        let file = entry(.enrollment, "pfd1", in: phone.folder)
        let newer = Data(#"{"format":2,"id":"pfd1","kind":"enrollment","shape":"unknown"}"#.utf8)
        try newer.write(to: file)
        #expect(try phone.authenticator.allEnrollments().map(\.enrollmentId) == ["pfd2"])
        #expect(phone.log.text.contains("pfd1") && phone.log.text.contains("format 2"))
        do {
            _ = try phone.authenticator.enrollments()
            Issue.record("the newer entry was skipped")
        } catch DeviceAuthenticatorError.storageError(.storageMigrationError(let text)) {
            #expect(text.contains("pfd1") && text.contains("Update the app"))
        }
        #expect(throws: DeviceAuthenticatorError.storageError(.itemNotFound)) { try phone.parse(phone.org.challenge()) }
        #expect(try Data(contentsOf: file) == newer)
        // The user can delete it explicitly.
        let second = try #require(try phone.authenticator.allEnrollments().first)
        try second.deleteFromDevice()
        #expect(try Data(contentsOf: file) == newer)
        #expect(try phone.folder.names(of: "device").count == 1)
    }

    @Test(
        "A damaged stored entry is reported and kept, and the other entries stay readable",
        arguments: ["", "{", "[]", "null", #"{"format":1}"#, #"{"format":0,"id":"pfd1"}"#, "cut", "moved", "changed"])
    func damaged(content: String) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await phone.enroll()
        let file = entry(.enrollment, "pfd1", in: phone.folder)
        var data = Data(content.utf8)
        switch content {
        case "cut": data = try Data(contentsOf: file).dropLast(40)
        case "moved": data = try Data(contentsOf: entry(.enrollment, "pfd2", in: phone.folder))
        case "changed":
            data = Data(
                String(decoding: try Data(contentsOf: file), as: UTF8.self).replacing("\"sealed\":\"", with: "\"sealed\":\"AAAA").utf8)
        default: break
        }
        try data.write(to: file)
        #expect(try phone.authenticator.allEnrollments().map(\.enrollmentId) == ["pfd2"])
        #expect(throws: DeviceAuthenticatorError.storageError(.itemNotFound)) { try phone.authenticator.enrollments() }
        #expect(try Data(contentsOf: file) == data)
        #expect(phone.log.text.contains("was left as it is"))
    }

    @Test("If the storage key file is lost, the error reports the missing key, and no new key file is created")
    func keyLost() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        try FileManager.default.removeItem(at: phone.folder.url.appendingPathComponent("key"))
        #expect(throws: DeviceAuthenticatorError.storageError(.itemNotFound)) { try phone.authenticator.enrollments() }
        let error = await failure { try await phone.enroll() }
        #expect(error?.reason == .storage && error?.debugDescription.contains("key is gone") == true)
        #expect(throws: DeviceAuthenticatorError.self) { try enrollment.deleteFromDevice() }
        #expect(try !phone.folder.names.contains("key"))
    }

    @Test("The phone rejects a storage folder that other users can write to, and a key file that other users can read")
    func permissions() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: phone.folder.url.appendingPathComponent("key").path)
        #expect(throws: DeviceAuthenticatorError.storageError(.itemNotFound)) { try phone.authenticator.enrollments() }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: phone.folder.url.path)
        #expect(throws: DeviceAuthenticatorError.storageError(.itemNotFound)) { try phone.authenticator }
    }

    @Test("Two authenticators with different folders in one process have separate enrollments")
    func twoPhones() async throws {
        let org = TestOrg()
        let first = try TestPhone(org: org)
        let second = try TestPhone(org: org)
        let (one, two) = (try first.authenticator, try second.authenticator)
        async let a = first.enroll(verification: true)
        async let b = second.enroll()
        let ids = [try await a.enrollmentId, try await b.enrollmentId]
        #expect(Set(ids) == ["pfd1", "pfd2"])
        #expect(one.allEnrollments().map(\.enrollmentId) == [ids[0]])
        #expect(two.allEnrollments().map(\.enrollmentId) == [ids[1]])
        // Each enrollment is a separate device.
        #expect(try org.bodies(.enroll).allSatisfy { $0["device"]?["clientInstanceKey"] != nil })
        try one.allEnrollments()[0].deleteFromDevice()
        #expect(two.allEnrollments().count == 1)
    }

    @Test("Concurrent enrollments through several authenticators with one folder are all stored")
    func concurrentChanges() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 2...9 {
                group.addTask {
                    phone.org.answer(.enroll, .json(phone.org.enrollment(number)))
                    try await phone.enroll()
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(try phone.authenticator.enrollments().map(\.enrollmentId)) == Set((1...9).map { "pfd\($0)" }))
        // Each has one client instance key and one proof-of-possession key.
        #expect(try phone.folder.names(of: "key").count == 10)
    }
}

extension DeviceAuthenticatorBuilder {
    func store(in folder: TemporaryFolder) -> EnrollmentStore {
        EnrollmentStore(
            folder: EntryFolder(path: folder.url.path, keySource: StoreKeyFile()), keys: FileDeviceKeyStore(directory: folder.url))
    }
}
