import AuthFoundation
import Crypto
import Foundation

@testable import DeviceAuthenticator

/// The Keychain and the Secure Enclave of a phone, in memory, with the behavior that Apple documents: protection classes and the lock
/// state, access groups, keys that only one enclave can use, and keys that a change of the biometrics invalidates. It stores private keys,
/// and the generic password that seals the enrollments.
final class DeviceKeychainDouble: DeviceKeychain, KeychainAccess {
    /// The user's reaction when a guarded key signs.
    enum User { case approves, cancels, isUnknown, isLockedOut }

    /// How the system reports a key that another enclave created. Apple documents neither form.
    enum ForeignKey: CaseIterable { case isMissing, cannotSign, isCorrupted }

    private struct Stored {
        let key: P256.Signing.PrivateKey
        let group: String
        let flags: SecAccessControlCreateFlags
        let enclave: Int
        let biometrics: Int
    }

    private struct State {
        var keys: [String: Stored] = [:]
        var passwords: [KeychainRecord] = []
        var isLocked = false
        var user = User.approves
        var groups = ["app", "shared"]
        var enclave = 1
        var biometrics = 1
        var isEnclaveWorking = true
        var foreignKey = ForeignKey.cannotSign
        var prompts: [KeychainPrompt] = []
        /// Runs once, before the next generic password is added: another process is faster.
        var race: (@Sendable () -> Void)?
    }

    private struct Key: DeviceKeychainKey {
        let device: DeviceKeychainDouble
        let stored: Stored
        let prompt: KeychainPrompt

        var publicKey: DevicePublicKey? { DevicePublicKey(rawRepresentation: stored.key.publicKey.rawRepresentation) }

        func signature(for message: Data) throws -> Data {
            try device.check(stored, prompt)
            return try stored.key.signature(for: message).rawRepresentation
        }
    }

    private let state = Locked(State())
    let hasEnclave: Bool

    init(hasEnclave: Bool = true) { self.hasEnclave = hasEnclave }

    var biometry: UserVerification.Method { .face }

    /// Whether the device has not been unlocked since it started.
    var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    var user: User {
        get { state.withLock { $0.user } }
        set { state.withLock { $0.user = newValue } }
    }

    var isEnclaveWorking: Bool {
        get { state.withLock { $0.isEnclaveWorking } }
        set { state.withLock { $0.isEnclaveWorking = newValue } }
    }

    var tags: Set<String> { state.withLock { Set($0.keys.keys) } }

    var prompts: [KeychainPrompt] { state.withLock { $0.prompts } }

    /// Runs a function once, right before the next generic password is added.
    func beforeNextPassword(_ race: @escaping @Sendable () -> Void) { state.withLock { $0.race = race } }

    /// The user adds a finger or a face.
    func changeBiometrics() { state.withLock { $0.biometrics += 1 } }

    /// The app loses its entitlement for a group.
    func lose(group: String) { state.withLock { $0.groups.removeAll { $0 == group } } }

    /// Another program of the same phone runs: an app or extension with these groups.
    func use(groups: [String]) { state.withLock { $0.groups = groups } }

    /// Restores a backup on another phone: items of this device only are not in it.
    func moveToNewPhone() {
        state.withLock { state in
            state.enclave += 1
            (state.keys, state.passwords) = ([:], [])
        }
    }

    /// Erases the phone and restores its backup: all items return, but the erased enclave can no longer use its keys.
    func eraseAndRestore(_ foreignKey: ForeignKey) {
        state.withLock { state in
            state.enclave += 1
            state.foreignKey = foreignKey
        }
    }

    // MARK: - Keys

    func makeKey(tag: String?, group: String?, flags: SecAccessControlCreateFlags) throws -> any DeviceKeychainKey {
        try state.withLock { state in
            let group = group ?? state.groups[0]
            guard state.groups.contains(group) else { throw Self.error(-34_018) }
            guard !state.isLocked else { throw Self.error(-25_308) }
            guard state.isEnclaveWorking, !hasEnclave || flags.contains(.privateKeyUsage) else { throw Self.error(-26_276) }
            let stored = Stored(key: .init(), group: group, flags: flags, enclave: state.enclave, biometrics: state.biometrics)
            if let tag { state.keys[tag] = stored }
            return Key(device: self, stored: stored, prompt: .standard)
        }
    }

    func find(_ tag: String, prompt: KeychainPrompt) -> Result<any DeviceKeychainKey, KeychainStatus> {
        state.withLock { state in
            guard let stored = state.keys[tag], state.groups.contains(stored.group),
                stored.enclave == state.enclave || state.foreignKey != .isMissing
            else { return .failure(KeychainStatus(KeychainStatus.itemNotFound)) }
            guard !state.isLocked else { return .failure(KeychainStatus(KeychainStatus.interactionNotAllowed)) }
            return .success(Key(device: self, stored: stored, prompt: prompt))
        }
    }

    func delete(_ tag: String) -> OSStatus {
        state.withLock { state in
            guard let stored = state.keys[tag], state.groups.contains(stored.group) else { return KeychainStatus.itemNotFound }
            guard !state.isLocked else { return KeychainStatus.interactionNotAllowed }
            state.keys[tag] = nil
            return KeychainStatus.success
        }
    }

    private func check(_ stored: Stored, _ prompt: KeychainPrompt) throws {
        try state.withLock { state in
            guard state.isEnclaveWorking else { throw Self.error(-26_276) }
            guard stored.enclave == state.enclave else {
                throw state.foreignKey == .isCorrupted ? Self.error(-3, "CryptoTokenKit") : Self.error(-26_276)
            }
            if stored.flags.contains(.biometryCurrentSet), stored.biometrics != state.biometrics { throw Self.error(-3, "CryptoTokenKit") }
            guard !stored.flags.subtracting(.privateKeyUsage).isEmpty else { return }
            guard prompt != .forbidden else { throw Self.error(-1004, "com.apple.LocalAuthentication") }
            state.prompts.append(prompt)
            switch state.user {
            case .approves: return
            case .cancels: throw Self.error(-2, "com.apple.LocalAuthentication")
            case .isUnknown: throw Self.error(-1, "com.apple.LocalAuthentication")
            case .isLockedOut: throw Self.error(-8, "com.apple.LocalAuthentication")
            }
        }
    }

    static func error(_ code: Int, _ domain: String = "NSOSStatusErrorDomain") -> NSError { NSError(domain: domain, code: code) }

    // MARK: - Generic passwords

    func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus {
        let race = state.withLock { state in
            defer { state.race = nil }
            return state.race
        }
        race?()
        return state.withLock { state in
            var item = item
            item.accessGroup = item.accessGroup ?? state.groups[0]
            guard state.groups.contains(item.accessGroup ?? "") else { return KeychainStatus.missingEntitlement }
            guard !state.passwords.contains(where: { Self.matches($0, item.query) }) else { return KeychainStatus.duplicateItem }
            guard !state.isLocked else { return KeychainStatus.interactionNotAllowed }
            state.passwords.append(item)
            return KeychainStatus.success
        }
    }

    func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> {
        state.withLock { state in
            guard query.accessGroup.map(state.groups.contains) != false else {
                return .failure(KeychainStatus(KeychainStatus.missingEntitlement))
            }
            let found = state.passwords.filter { Self.matches($0, query) && state.groups.contains($0.accessGroup ?? "") }
            guard !found.isEmpty else { return .failure(KeychainStatus(KeychainStatus.itemNotFound)) }
            return state.isLocked ? .failure(KeychainStatus(KeychainStatus.interactionNotAllowed)) : .success(found)
        }
    }

    func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus> {
        list(query).map { $0[0] }
    }

    func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
        KeychainStatus.itemNotFound
    }

    func delete(_ query: KeychainQuery) -> OSStatus {
        state.withLock { state in
            state.passwords.removeAll { Self.matches($0, query) }
            return KeychainStatus.success
        }
    }

    private static func matches(_ item: KeychainRecord, _ query: KeychainQuery) -> Bool {
        item.service == query.service && query.account.map { $0 == item.account } ?? true
            && query.accessGroup.map { $0 == item.accessGroup } ?? true
    }
}
