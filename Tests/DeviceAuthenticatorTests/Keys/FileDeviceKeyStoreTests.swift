import AuthFoundation
import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Device keys in files")
struct FileDeviceKeyStoreTests {
    private let folder = TemporaryFolder()
    private var store: FileDeviceKeyStore { FileDeviceKeyStore(directory: folder.url, secretCost: 10) }
    private let request = UserVerificationRequest(purpose: .approve, reason: "why")

    private func isValid(_ signature: Data, of message: Data, by key: DevicePublicKey) throws -> Bool {
        try P256.Signing.PublicKey(rawRepresentation: key.x + key.y)
            .isValidSignature(P256.Signing.ECDSASignature(rawRepresentation: signature), for: message)
    }

    @Test("A stored device key signs until the app deletes the key")
    func signs() throws {
        let key = try store.makeKey(tag: "A")
        let signature = try store.sign(Data("message".utf8), tag: "A")
        #expect(signature.count == 64)
        #expect(try isValid(signature, of: Data("message".utf8), by: key))
        #expect(try store.publicKey(tag: "A") == key)
        try store.deleteKey(tag: "A")
        try store.deleteKey(tag: "A")
        #expect(try store.publicKey(tag: "A") == nil)
        #expect(throws: SecurityError.keyCorrupted(DeviceKeyError.missing(tag: "A"))) { try store.sign(Data(), tag: "A") }
    }

    @Test("Device key files have mode 0600, and contain neither a private key nor the PIN in plain text")
    func files() async throws {
        _ = try store.makeKey(tag: "A")
        _ = try await store.makeGuardedKey(tag: "B", request: request, verifier: TestVerifier())
        #expect(try folder.mode() == 0o700)
        let names = try folder.names
        #expect(names.count == 4)
        for name in names { #expect(try folder.mode(of: name) == 0o600) }
        for name in names where name != "key" {
            let text = String(decoding: try Data(contentsOf: folder.url.appendingPathComponent(name)), as: UTF8.self)
            #expect(!text.contains("privateKey") && !text.contains("2468"))
        }
    }

    @Test("A PIN-protected key signs only with the correct PIN, and reports the verification method")
    func guarded() async throws {
        let verifier = TestVerifier()
        let key = try await store.makeGuardedKey(tag: "B", request: request, verifier: verifier)
        let (message, signature) = try await store.sign(guardedTag: "B", request: request, verifier: verifier) { Data($0.rawValue.utf8) }
        #expect(message == Data("pin".utf8))
        #expect(try isValid(signature, of: message, by: key))
        for outcome: Result<UserVerification, UserVerificationFailure> in [
            .success(UserVerification(method: .pin, secret: Data("1357".utf8))), .success(UserVerification(method: .pin)),
            .failure(.failed),
        ] {
            verifier.answer(outcome)
            await #expect(throws: SecurityError.localAuthenticationFailed(UserVerificationFailure.failed)) {
                try await store.sign(guardedTag: "B", request: request, verifier: verifier) { _ in Data() }
            }
        }
        #expect(throws: SecurityError.self) { try store.sign(Data(), tag: "B") }
        await #expect(throws: SecurityError.localAuthenticationPasscodeNotSet(UserVerificationFailure.unavailable)) {
            try await store.sign(guardedTag: "B", request: request, verifier: nil) { _ in Data() }
        }
    }

    @Test("A key without PIN protection cannot be used as a user verification key")
    func confused() async throws {
        _ = try store.makeKey(tag: "A")
        let verifier = TestVerifier()
        await #expect(throws: SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: "A"))) {
            try await store.sign(guardedTag: "A", request: request, verifier: verifier) { _ in Data() }
        }
        #expect(verifier.requests.isEmpty)
    }

    @Test("A key file that is copied over another key's file is rejected")
    func swapped() throws {
        _ = try store.makeKey(tag: "A")
        _ = try store.makeKey(tag: "B")
        let (a, b) = (
            folder.url.appendingPathComponent(SealedEntry.fileName(.key, "A")),
            folder.url.appendingPathComponent(SealedEntry.fileName(.key, "B"))
        )
        try Data(contentsOf: a).write(to: b)
        #expect(throws: StorageError.self) { try store.sign(Data(), tag: "B") }
        let text = String(decoding: try Data(contentsOf: a), as: UTF8.self).replacing("\"id\":\"A\"", with: "\"id\":\"B\"")
        try Data(text.utf8).write(to: b)
        #expect(throws: StorageError.self) { try store.sign(Data(), tag: "B") }
    }

    @Test("The description of a user verification does not contain its PIN")
    func descriptions() {
        let verification = UserVerification(method: .pin, secret: Data("2468".utf8))
        var dumped = ""
        dump(verification, to: &dumped)
        #expect(!"\(verification)\(String(reflecting: verification))\(dumped)".contains("2468"))
    }

    @Test("The key store reads and writes files outside the threads of Swift concurrency")
    func threads() async throws {
        let source = WatchedKeySource()
        let store = FileDeviceKeyStore(folder: EntryFolder(path: folder.url.path, keySource: source), secretCost: 10)
        let verifier = TestVerifier()
        _ = try await store.makeGuardedKey(tag: "B", request: request, verifier: verifier)
        _ = try await store.sign(guardedTag: "B", request: request, verifier: verifier) { _ in Data() }
        #expect(source.isInTask.all.count >= 2)
        #expect(source.isInTask.all.allSatisfy { !$0 })
    }
}

/// A key source that records for each call whether it runs in a task. The threads of tasks must not block.
private struct WatchedKeySource: StoreKeySource {
    let isInTask = Recorder<Bool>()

    func key(in folder: VaultFolder) throws -> VaultKey? {
        isInTask.add(withUnsafeCurrentTask { $0 != nil })
        return try StoreKeyFile().key(in: folder)
    }

    func makeKey(in folder: VaultFolder) throws -> VaultKey { try StoreKeyFile().makeKey(in: folder) }

    func prepare(_ folder: VaultFolder) {}

    func complete(_ folder: VaultFolder) {}
    func isLossFinal(in folder: VaultFolder) -> Bool { false }
}
