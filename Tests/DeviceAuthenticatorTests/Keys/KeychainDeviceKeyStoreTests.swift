import AuthFoundation
import Crypto
import Foundation
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Device keys in the Keychain")
struct KeychainDeviceKeyStoreTests {
    private let device = DeviceKeychainDouble()
    private var store: KeychainDeviceKeyStore { KeychainDeviceKeyStore(device, group: nil) }
    private let request = UserVerificationRequest(purpose: .approve, reason: "Sign in to Shop")

    private func isValid(_ signature: Data, of message: Data, by key: DevicePublicKey) throws -> Bool {
        try P256.Signing.PublicKey(rawRepresentation: key.x + key.y)
            .isValidSignature(P256.Signing.ECDSASignature(rawRepresentation: signature), for: message)
    }

    private func guardedKey(_ flags: SecAccessControlCreateFlags = .biometryCurrentSet) async throws -> DevicePublicKey {
        let request = UserVerificationRequest(purpose: .makeKey, reason: "why", accessControlFlags: flags)
        return try await store.makeGuardedKey(tag: "B", request: request, verifier: nil)
    }

    private func signGuarded() async throws -> (message: Data, signature: Data) {
        try await store.sign(guardedTag: "B", request: request, verifier: nil) { Data($0.rawValue.utf8) }
    }

    @Test("A device key in the Keychain signs until the app deletes the key", arguments: [true, false])
    func signs(hasEnclave: Bool) throws {
        let store = KeychainDeviceKeyStore(DeviceKeychainDouble(hasEnclave: hasEnclave), group: nil)
        #expect(store.isHardwareBacked == hasEnclave)
        let key = try store.makeKey(tag: "A")
        #expect(try isValid(try store.sign(Data("message".utf8), tag: "A"), of: Data("message".utf8), by: key))
        #expect(try store.publicKey(tag: "A") == key)
        try store.deleteKey(tag: "A")
        try store.deleteKey(tag: "A")
        #expect(try store.publicKey(tag: "A") == nil)
        #expect(throws: SecurityError.keyCorrupted(DeviceKeyError.missing(tag: "A"))) { try store.sign(Data(), tag: "A") }
    }

    @Test("A guarded key in the Keychain signs after the system has asked the user, and its public key is read without a prompt")
    func guarded() async throws {
        let key = try await guardedKey()
        #expect(try store.publicKey(tag: "B") == key && device.prompts.isEmpty)
        let (message, signature) = try await signGuarded()
        #expect(message == Data("face".utf8) && device.prompts == [.reason("Sign in to Shop")])
        #expect(try isValid(signature, of: message, by: key))
    }

    @Test("Before the first unlock of the device, every operation on device keys reports a locked device, and no key is lost")
    func locked() async throws {
        _ = try store.makeKey(tag: "A")
        let key = try await guardedKey()
        device.isLocked = true
        #expect(throws: StorageError.deviceLocked) { try store.makeKey(tag: "C") }
        #expect(throws: StorageError.deviceLocked) { try store.publicKey(tag: "A") }
        #expect(throws: StorageError.deviceLocked) { try store.publicKey(tag: "B") }
        #expect(throws: StorageError.deviceLocked) { try store.sign(Data(), tag: "A") }
        await #expect(throws: StorageError.deviceLocked) { try await signGuarded() }
        #expect(throws: StorageError.deviceLocked) { try store.deleteKey(tag: "A") }
        device.isLocked = false
        _ = try store.sign(Data(), tag: "A")
        #expect(try store.publicKey(tag: "B") == key)
    }

    @Test(
        "After a restore, keys of another Secure Enclave are lost, however the system reports them",
        arguments: DeviceKeychainDouble.ForeignKey.allCases)
    func restored(foreignKey: DeviceKeychainDouble.ForeignKey) async throws {
        _ = try store.makeKey(tag: "A")
        device.eraseAndRestore(foreignKey)
        let reason = foreignKey == .isMissing ? DeviceKeyError.missing(tag: "A") : .damaged(tag: "A")
        #expect(throws: SecurityError.keyCorrupted(reason)) { try store.sign(Data(), tag: "A") }
        let new = try store.makeKey(tag: "C")
        #expect(try isValid(try store.sign(Data([1]), tag: "C"), of: Data([1]), by: new))
    }

    @Test("If the Secure Enclave fails for every key, no device key is reported as lost")
    func failingEnclave() throws {
        _ = try store.makeKey(tag: "A")
        device.isEnclaveWorking = false
        #expect {
            try store.sign(Data(), tag: "A")
        } throws: { error in
            if case SecurityError.generalEncryptionError(-26_276, _, _) = error { true } else { false }
        }
        #expect { try store.makeKey(tag: "C") } throws: { error in
            if case SecurityError.keyGenFailed(-26_276, _) = error { true } else { false }
        }
        device.isEnclaveWorking = true
        _ = try store.sign(Data(), tag: "A")
    }

    @Test("A change of the device's biometrics loses a key of the current biometrics, and no other guarded key", arguments: [true, false])
    func biometrics(isOfCurrentSet: Bool) async throws {
        let key = try await guardedKey(isOfCurrentSet ? .biometryCurrentSet : .biometryAny)
        device.changeBiometrics()
        #expect(try store.publicKey(tag: "B") == (isOfCurrentSet ? nil : key))
        if isOfCurrentSet {
            await #expect(throws: SecurityError.keyCorrupted(DeviceKeyError.damaged(tag: "B"))) { try await signGuarded() }
        } else {
            _ = try await signGuarded()
        }
    }

    @Test(
        "If the user cannot be verified, the guarded key stays, and the error names the cause",
        arguments: [
            (DeviceKeychainDouble.User.cancels, SecurityError.localAuthenticationCancelled(lockError(-2))),
            (.isUnknown, .localAuthenticationFailed(lockError(-1))), (.isLockedOut, .localAuthenticationFailed(lockError(-8))),
        ])
    func unverified(user: DeviceKeychainDouble.User, error: SecurityError) async throws {
        let key = try await guardedKey()
        device.user = user
        await #expect(throws: error) { try await signGuarded() }
        #expect(try store.publicKey(tag: "B") == key)
    }

    private static func lockError(_ code: Int) -> NSError { DeviceKeychainDouble.error(code, "com.apple.LocalAuthentication") }

    @Test(
        "A signing error of the system is reported as a lost key only if the key can never sign again",
        arguments: [
            ("com.apple.LocalAuthentication", -1, "failed"), ("com.apple.LocalAuthentication", -2, "cancelled"),
            ("com.apple.LocalAuthentication", -4, "failed"), ("com.apple.LocalAuthentication", -5, "unavailable"),
            ("com.apple.LocalAuthentication", -6, "unavailable"), ("com.apple.LocalAuthentication", -7, "unavailable"),
            ("com.apple.LocalAuthentication", -8, "failed"), ("com.apple.LocalAuthentication", -9, "failed"),
            ("com.apple.LocalAuthentication", -1004, "failed"), ("CryptoTokenKit", -3, "lost"), ("CryptoTokenKit", -4, "cancelled"),
            ("CryptoTokenKit", -5, "failed"), ("CryptoTokenKit", -6, "lost"), ("CryptoTokenKit", -9, "failed"),
            ("CryptoTokenKit", -2, "other"), ("NSOSStatusErrorDomain", -128, "cancelled"), ("NSOSStatusErrorDomain", -25_293, "failed"),
            ("NSOSStatusErrorDomain", -25_300, "lost"), ("NSOSStatusErrorDomain", -25_308, "failed"),
            ("NSOSStatusErrorDomain", -3, "other"), ("another", -3, "other"),
        ])
    func signingErrors(domain: String, code: Int, meaning: String) {
        let error = DeviceKeychainDouble.error(code, domain)
        let expected: SecurityError =
            switch meaning {
            case "failed": .localAuthenticationFailed(error)
            case "cancelled": .localAuthenticationCancelled(error)
            case "unavailable": .localAuthenticationPasscodeNotSet(error)
            case "lost": .keyCorrupted(error)
            default: .generalEncryptionError(OSStatus(code), error, "The signature failed.")
            }
        #expect(SecurityError(signing: error) == expected)
    }

    @Test("A key stays usable if the app names another keychain group, and a group without an entitlement is refused")
    func groups() throws {
        let key = try store.makeKey(tag: "A")
        let shared = KeychainDeviceKeyStore(device, group: "shared")
        #expect(try shared.publicKey(tag: "A") == key)
        #expect(throws: StorageError.missingAppGroupEntitlement) {
            try KeychainDeviceKeyStore(device, group: "of another team").makeKey(tag: "C")
        }
        try shared.deleteKey(tag: "A")
        #expect(device.tags.isEmpty)
    }
}
