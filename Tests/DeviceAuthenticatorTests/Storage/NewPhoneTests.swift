import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

@Suite("Enrollments on a locked phone, and on a phone that was restored from a backup")
struct NewPhoneTests {
    private let device = DeviceKeychainDouble()
    private let phone: TestPhone

    init() throws { phone = try TestPhone(verifier: nil) }

    private func authenticator(group: String? = nil) throws -> any DeviceAuthenticatorProtocol {
        try phone.builder.keyStore(KeychainDeviceKeyStore(device, group: group))
            .storeKeySource(KeychainStoreKey(keychain: device, group: group)).create()
    }

    @discardableResult
    private func enroll(_ number: Int = 1, verification: Bool = false, group: String? = nil) async throws -> AuthenticatorEnrollment {
        phone.org.answer(.enroll, .json(phone.org.enrollment(number)))
        var parameters = EnrollmentParameters(deviceToken: .tokenString("push"))
        if verification { parameters.enableUserVerification(enable: true) }
        let enrollment = try await authenticator(group: group).enroll(
            authenticationToken: TestPhone.token, authenticatorConfig: phone.config, enrollmentParameters: parameters)
        return try #require(enrollment as? AuthenticatorEnrollment)
    }

    private func parse(_ more: JSONValue = [:]) throws -> any PushChallengeProtocol {
        try authenticator().parsePushNotification(
            userInfo: ["payloadVersion": "IDXv1", "challenge": phone.org.challenge(more: more)], actionIdentifier: nil,
            allowedClockSkewInSeconds: 300)
    }

    // MARK: - Locked

    @Test("Before the first unlock of the phone, errors say that it is locked, and afterwards the enrollment works as before")
    func locked() async throws {
        let enrollment = try await enroll(verification: true)
        let challenge = try parse(["userVerification": "REQUIRED"])
        let tags = device.tags
        device.isLocked = true
        #expect(try authenticator().allEnrollments().isEmpty)
        #expect { try authenticator().enrollments() } throws: { ($0 as? DeviceAuthenticatorError)?.reason == .deviceLocked }
        #expect { try parse() } throws: { ($0 as? DeviceAuthenticatorError)?.reason == .deviceLocked }
        #expect(await failure { try await challenge.resolve(onRemediation: approving) }?.reason == .deviceLocked)
        #expect(await failure { try await enrollment.retrieveMaintenanceToken() }?.reason == .deviceLocked)
        #expect(await failure { try await enroll(2) }?.reason == .deviceLocked)
        #expect(phone.org.requests(.verify).isEmpty && phone.org.requests(.enroll).count == 1)
        device.isLocked = false
        #expect(try authenticator().enrollments().map(\.enrollmentId) == ["pfd1"] && device.tags == tags)
        try await challenge.resolve(onRemediation: approving)
        #expect(try phone.org.answers().first?.claims["keyType"] == "userVerification")
    }

    @Test("If the phone is locked when the user verification key is needed, no answer reports the key as lost")
    func lockedDuringVerification() async throws {
        try await enroll(verification: true)
        let challenge = try parse(["userVerification": "REQUIRED"])
        let messages = Recorder<RemediationStepMessage>()
        let error = await failure {
            try await challenge.resolve { [device] step in
                if let step = step as? RemediationStepMessage { messages.add(step) }
                approving(step)
                device.isLocked = true
            }
        }
        #expect(error?.reason == .deviceLocked && messages.all.isEmpty && phone.org.requests(.verify).isEmpty)
    }

    @Test("If the phone's own key is locked while the user enrolls again, the phone does not become a new device")
    func lockedInstanceKey() async throws {
        try await enroll()
        let keys = LockedSigningKeys(keys: KeychainDeviceKeyStore(device, group: nil))
        let authenticator = try phone.builder.keyStore(keys).storeKeySource(KeychainStoreKey(keychain: device, group: nil)).create()
        let error = await failure {
            try await authenticator.enroll(
                authenticationToken: TestPhone.token, authenticatorConfig: phone.config,
                enrollmentParameters: EnrollmentParameters(deviceToken: .tokenString("push")))
        }
        #expect(error?.reason == .deviceLocked && phone.org.requests(.enroll).count == 1)
    }

    // MARK: - Restored

    @Test("On a new phone, the enrollments of the old phone are unknown, and the user can enroll again")
    func newPhone() async throws {
        try await enroll()
        let push = try phone.org.challenge()
        device.moveToNewPhone()
        #expect(try authenticator().allEnrollments().isEmpty)
        #expect { try authenticator().enrollments() } throws: { error in
            guard case DeviceAuthenticatorError.storageError(.itemNotFound) = error else { return false }
            return (error as? DeviceAuthenticatorError)?.reason == .enrollmentUnknown
        }
        #expect {
            try authenticator().parsePushNotification(
                userInfo: ["payloadVersion": "IDXv1", "challenge": push], actionIdentifier: nil, allowedClockSkewInSeconds: 300)
        } throws: { error in
            if case DeviceAuthenticatorError.accountNotFoundForChallenge = error { true } else { false }
        }
        try await enroll(2)
        #expect(try authenticator().enrollments().map(\.enrollmentId) == ["pfd2"])
        let body = try #require(try phone.org.bodies(.enroll).last)
        #expect(body["device"]?["clientInstanceKey"] != nil && body["device"]?["id"] == nil)
        #expect(phone.log.text.contains("were removed"))
        try await parse(["authenticatorEnrollmentId": "pfd2", "methodEnrollmentId": "opf2", "userId": "00u2"])
            .resolve(onRemediation: approving)
        #expect(try phone.org.answers().count == 1)
    }

    @Test(
        "After a phone was erased and restored, a challenge reports the missing key, and the user can enroll again",
        arguments: DeviceKeychainDouble.ForeignKey.allCases)
    func restored(foreignKey: DeviceKeychainDouble.ForeignKey) async throws {
        let enrollment = try await enroll(verification: true)
        device.eraseAndRestore(foreignKey)
        let error = await failure { try await parse().resolve(onRemediation: approving) }
        #expect(error?.reason == .keyMissing && phone.org.requests(.verify).isEmpty)
        #expect(await failure { try await enrollment.retrieveMaintenanceToken() }?.reason == .keyMissing)
        // The same user on a new device, as far as the org can tell.
        try await enroll(1)
        let body = try #require(try phone.org.bodies(.enroll).last)
        #expect(body["device"]?["clientInstanceKey"] != nil && body["device"]?["id"] == nil)
        try await parse().resolve(onRemediation: approving)
        #expect(try phone.org.answers().count == 1)
    }

    @Test("After a change of the biometrics, a challenge reports the lost key, and turning user verification on again creates a new key")
    func biometrics() async throws {
        let enrollment = try await enroll(verification: true)
        let old = try #require(enrollment.record.verificationKeyTag)
        device.changeBiometrics()
        let messages = Recorder<RemediationStepMessage>()
        try await parse(["userVerification": "PREFERRED"]).resolve { step in
            if let step = step as? RemediationStepMessage { messages.add(step) }
            approving(step)
        }
        #expect(messages.all.map(\.reasonType) == [.userVerificationKeyCorruptedOrMissing])
        #expect(messages.all.first?.error?.reason == .keyMissing)
        try await enrollment.setUserVerification(authenticationToken: TestPhone.token, enable: true)
        let new = try #require(enrollment.record.verificationKeyTag)
        #expect(new != old && device.tags.contains(new) && !device.tags.contains(old))
        try await parse(["userVerification": "REQUIRED"]).resolve(onRemediation: approving)
        #expect(try phone.org.answers().last?.claims["keyType"] == "userVerification")
    }

    @Test("A lockout of the biometrics does not report the user verification key as lost")
    func lockout() async throws {
        try await enroll(verification: true)
        device.user = .isLockedOut
        try await parse(["userVerification": "REQUIRED"]).resolve(onRemediation: approving)
        let claims = try #require(try phone.org.answers().first?.claims)
        #expect(claims["challengeResponseContext"]?["userConsent"] == "UV_TEMPORARILY_UNAVAILABLE")
    }

    @Test("If the app names another keychain group, the enrollments are not removed, and return with the former group")
    func otherGroup() async throws {
        try await enroll()
        let other = try authenticator(group: "shared")
        #expect(throws: DeviceAuthenticatorError.self) { try other.enrollments() }
        let error = await failure {
            try await other.enroll(
                authenticationToken: TestPhone.token, authenticatorConfig: phone.config,
                enrollmentParameters: EnrollmentParameters(deviceToken: .tokenString("push")))
        }
        #expect(error?.reason == .storage)
        #expect(try authenticator().enrollments().map(\.enrollmentId) == ["pfd1"])
    }

    @Test(
        "An extension that shares the folder and cannot see the app's keychain group does not remove the app's enrollments",
        arguments: ["app", "shared"])
    func extensionWithoutGroup(group: String) async throws {
        try await enroll(group: "app")
        device.use(groups: ["shared"])
        let error = await failure { try await enroll(2, group: group) }
        #expect(error?.reason == .storage && phone.org.requests(.enroll).count == 1)
        device.use(groups: ["app", "shared"])
        #expect(try authenticator(group: "app").enrollments().map(\.enrollmentId) == ["pfd1"])
    }

    @Test("If an earlier version did not record the keychain group, a change records it, and the user can enroll again on a new phone")
    func earlierVersion() async throws {
        try await enroll()
        let file = phone.folder.url.appending(path: KeychainStoreKey.groupFile)
        try FileManager.default.removeItem(at: file)
        try await enroll(2)
        #expect(try authenticator().enrollments().map(\.enrollmentId).sorted() == ["pfd1", "pfd2"])
        device.moveToNewPhone()
        try await enroll(3)
        #expect(try authenticator().enrollments().map(\.enrollmentId) == ["pfd3"])
    }

    @Test("A change by an extension that has its own key does not replace the name of the app's keychain group")
    func nameStays() throws {
        let file = phone.folder.url.appending(path: KeychainStoreKey.groupFile)
        try entries("app").change { try $0.write(["1"], .policy, "1") }
        _ = try KeychainStoreKey(keychain: device, group: "shared").makeKey(in: VaultFolder(path: phone.folder.url.path))
        try entries("shared").change { try $0.write(["2"], .policy, "2") }
        #expect(try Data(contentsOf: file) == Data("app".utf8))
    }

    @Test("If the app enrolls while an extension is about to remove lost enrollments, the app's new enrollment stays")
    func enrolledMeanwhile() throws {
        let (app, lost) = (entries("app"), entries("shared"))
        try lost.change { try $0.write(["old"], .enrollment, "pfd1") }
        device.moveToNewPhone()
        device.use(groups: ["shared"])
        let source = RacingKeySource(source: KeychainStoreKey(keychain: device, group: "shared")) { [device] in
            device.use(groups: ["app", "shared"])
            #expect(try entries("shared").removeLost([.enrollment]))
            try app.change { try $0.write(["new"], .enrollment, "pfd2") }
            device.use(groups: ["shared"])
        }
        #expect(try EntryFolder(path: phone.folder.url.path, keySource: source).removeLost([.enrollment]) == false)
        device.use(groups: ["app", "shared"])
        #expect(try app.read([String].self, .enrollment, "pfd2") == ["new"])
    }

    private func entries(_ group: String) -> EntryFolder {
        EntryFolder(path: phone.folder.url.path, keySource: KeychainStoreKey(keychain: device, group: group))
    }

    @Test("Two authenticators with one keychain group that create the storage key at the same time use the same key")
    func storageKeyRace() throws {
        let folder = VaultFolder(path: phone.folder.url.path)
        let source = KeychainStoreKey(keychain: device, group: nil)
        let made = Locked<Data?>(nil)
        device.beforeNextPassword {
            let key = try? source.makeKey(in: folder)
            made.exchange(key?.rawValue)
        }
        let key = try source.makeKey(in: folder)
        #expect(made.withLock { $0 } == key.rawValue)
        #expect(try source.key(in: folder)?.rawValue == key.rawValue)
    }
}

/// A key source in whose process another process is faster, once, after the first check for a final loss.
private struct RacingKeySource: StoreKeySource {
    let source: KeychainStoreKey
    private let race: Locked<(@Sendable () throws -> Void)?>

    init(source: KeychainStoreKey, race: @escaping @Sendable () throws -> Void) {
        self.source = source
        self.race = Locked(race)
    }

    func key(in folder: VaultFolder) throws -> VaultKey? { try source.key(in: folder) }
    func makeKey(in folder: VaultFolder) throws -> VaultKey { try source.makeKey(in: folder) }
    func prepare(_ folder: VaultFolder) throws { try source.prepare(folder) }
    func complete(_ folder: VaultFolder) throws { try source.complete(folder) }

    func isLossFinal(in folder: VaultFolder) throws -> Bool {
        let isFinal = try source.isLossFinal(in: folder)
        try race.exchange(nil)?()
        return isFinal
    }
}

/// A key store that can create keys, but whose keys are locked when they sign.
private struct LockedSigningKeys: DeviceKeyStore {
    let keys: KeychainDeviceKeyStore

    var isHardwareBacked: Bool { keys.isHardwareBacked }

    func makeKey(tag: String) throws -> DevicePublicKey { try keys.makeKey(tag: tag) }

    func makeGuardedKey(tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?) async throws -> DevicePublicKey {
        try await keys.makeGuardedKey(tag: tag, request: request, verifier: verifier)
    }

    func publicKey(tag: String) throws -> DevicePublicKey? { try keys.publicKey(tag: tag) }

    func sign(_ message: Data, tag: String) throws -> Data { throw StorageError.deviceLocked }

    func sign(
        guardedTag tag: String, request: UserVerificationRequest, verifier: (any UserVerifier)?,
        message: @Sendable (UserVerification.Method) throws -> Data
    ) async throws -> (message: Data, signature: Data) { throw StorageError.deviceLocked }

    func deleteKey(tag: String) throws { try keys.deleteKey(tag: tag) }
}
