import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Enrolling when the storage folder fails (Documentation/Protocol/Devices.md §2.5)")
struct FailedStorageTests {
    /// Replaces a file by a non-empty folder. The code under test can neither overwrite nor delete it.
    private func obstruct(_ kind: SealedEntry.Kind, _ id: String, in folder: TemporaryFolder) throws -> URL {
        let place = folder.url.appendingPathComponent(SealedEntry.fileName(kind, id), isDirectory: true)
        if FileManager.default.fileExists(atPath: place.path) { try FileManager.default.removeItem(at: place) }
        try FileManager.default.createDirectory(at: place.appendingPathComponent("inside"), withIntermediateDirectories: true)
        return place
    }

    /// Creates the folder with its encryption key, which can only be created in an empty folder.
    private func makeFolder(of phone: TestPhone) throws {
        let keys = FileDeviceKeyStore(directory: phone.folder.url)
        _ = try keys.makeKey(tag: "A")
        try keys.deleteKey(tag: "A")
    }

    @Test("If the policy cannot be stored, the phone keeps no enrollment and asks the server to delete the enrollment")
    func policyFails() async throws {
        let phone = try TestPhone()
        try makeFolder(of: phone)
        let place = try obstruct(.policy, PolicyRecord.id(organizationID: "00o1", clientID: "client-1"), in: phone.folder)
        #expect(await failure { try await phone.enroll(verification: true) }?.reason == .storage)
        #expect(try phone.authenticator.enrollments().isEmpty)
        #expect(try phone.folder.names(of: "key").isEmpty)
        let request = try #require(phone.org.requests(.delete).first)
        #expect(request.url?.absoluteString == "https://id.example.com/idp/myaccount/app-authenticators/pfd1")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer manage-secret")
        try FileManager.default.removeItem(at: place)
        try await phone.enroll()
        #expect(try phone.authenticator.enrollments().count == 1)
    }

    @Test("The enrollment store never reports a key of an enrollment or of the device as unused, and throws if an enrollment is unreadable")
    func keysInUse() async throws {
        let phone = try TestPhone()
        let record = try await phone.enroll(verification: true).record
        let store = phone.builder.store(in: phone.folder)
        let device = try #require(try store.device(of: "00o1"))
        #expect(try store.unnamed(among: record.keyTags + [device.clientInstanceKeyTag, "new"]) == ["new"])
        try Data("{".utf8).write(to: phone.folder.url.appendingPathComponent(SealedEntry.fileName(.enrollment, "pfd1")))
        #expect(throws: StorageError.self) { try store.unnamed(among: ["new"]) }
    }

    @Test("If an enrollment cannot be stored and the DELETE request fails too, the app gets the storage error")
    func deleteFails() async throws {
        let phone = try TestPhone()
        try makeFolder(of: phone)
        _ = try obstruct(.policy, PolicyRecord.id(organizationID: "00o1", clientID: "client-1"), in: phone.folder)
        phone.org.answer(.delete, .offline)
        #expect(await failure { try await phone.enroll() }?.reason == .storage)
        #expect(phone.log.text.contains("The server keeps the enrollment pfd1"))
    }

    @Test("If a key cannot be deleted, deleting the enrollment throws an error but removes the enrollment and its other keys")
    func everyKeyIsTried() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(verification: true)
        let place = try obstruct(.key, enrollment.record.possessionKeyTag, in: phone.folder)
        #expect(throws: DeviceAuthenticatorError.storageError(.itemNotFound)) { try enrollment.deleteFromDevice() }
        #expect(try phone.authenticator.enrollments().isEmpty)
        #expect(try phone.folder.names(of: "key") == [place.lastPathComponent])
    }

    @Test("A new enrollment succeeds even if a key of the enrollment that it replaces cannot be deleted")
    func oldKeyStays() async throws {
        let phone = try TestPhone()
        let old = try await phone.enroll(verification: true).record
        _ = try obstruct(.key, old.possessionKeyTag, in: phone.folder)
        phone.org.answer(.enroll, .json(phone.org.enrollment(7, user: "00u1")))
        try await phone.enroll()
        #expect(try phone.authenticator.enrollments().map(\.enrollmentId) == ["pfd7"])
        #expect(phone.org.requests(.delete).isEmpty)
        #expect(phone.log.text.contains("Part of the older enrollment"))
        // The other old key is deleted. The installation's key, the new key and the undeletable keys remain.
        #expect(try phone.folder.names(of: "key").count == 3)
        let more: JSONValue = ["authenticatorEnrollmentId": "pfd7", "methodEnrollmentId": "opf7"]
        try await phone.parse(phone.org.challenge(more: more)).resolve(onRemediation: approving)
        #expect(try phone.org.answers().count == 1)
    }
}
