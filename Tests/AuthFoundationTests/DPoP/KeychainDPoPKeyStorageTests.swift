import Crypto
import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("DPoP keys in the Keychain")
struct KeychainDPoPKeyStorageTests {
    let device = KeychainDouble(clock: ManualClock())
    let enclave = EnclaveDouble()

    func app(_ groups: [String] = ["app"]) -> KeychainDouble.App { KeychainDouble.App(device: device, groups: groups) }

    func storage(
        _ groups: [String] = ["app"], enclave: EnclaveDouble? = nil, accessGroup: String? = nil
    ) -> KeychainDPoPKeyStorage {
        KeychainDPoPKeyStorage(app(groups), enclave: enclave ?? self.enclave, accessGroup: accessGroup)
    }

    var softwareStorage: KeychainDPoPKeyStorage { KeychainDPoPKeyStorage(app(), enclave: nil) }

    var records: [KeychainRecord] { device.records(of: KeychainDPoPKeyItem.service) }

    func isLocked(_ error: any Error) -> Bool { (error as? KeychainError)?.isLocked == true }

    func signs(_ key: DPoPKey) throws -> Bool {
        let proof = try DPoPProof.make(method: "GET", uri: "x", issuedAt: 1, jwtID: "j", publicKey: key.publicMembers, sign: key.sign)
        return try ReadProof(proof).thumbprint == key.thumbprint
    }

    @Test(
        "The Keychain has one DPoP key for each name, also after a restart, and the key signs until it is removed",
        arguments: [true, false])
    func contract(hasEnclave: Bool) throws {
        func storage() -> KeychainDPoPKeyStorage { hasEnclave ? self.storage() : softwareStorage }
        #expect(try storage().key(named: "a") == nil)
        let key = try storage().keyMakingOne(named: "a")
        #expect(try storage().keyMakingOne(named: "a").thumbprint == key.thumbprint)
        #expect(try storage().keyMakingOne(named: "b").thumbprint != key.thumbprint)
        let found = try #require(try storage().key(named: "a", boundTo: key.thumbprint))
        #expect(try signs(found))
        #expect(try storage().key(named: "b", boundTo: key.thumbprint) == nil)
        #expect(records.count == 2 && records.allSatisfy { $0.protection.accessibility == .afterFirstUnlockThisDeviceOnly })
        try storage().removeKey(named: "a")
        try storage().removeKey(named: "a")
        #expect(try storage().key(named: "a") == nil && storage().key(named: "b") != nil)
    }

    @Test("Before the first unlock of the device, DPoP keys are reported as locked and not as missing, and no key is created or removed")
    func locked() throws {
        let key = try storage().keyMakingOne(named: "a")
        device.lock = .beforeFirstUnlock
        #expect { try storage().key(named: "a") } throws: { isLocked($0) }
        #expect { try storage().key(named: "a", boundTo: key.thumbprint) } throws: { isLocked($0) }
        #expect { try storage().keyMakingOne(named: "a") } throws: { isLocked($0) }
        #expect { try storage().keyMakingOne(named: "b") } throws: { isLocked($0) }
        #expect { try storage().removeKey(named: "a") } throws: { isLocked($0) }
        device.lock = .locked
        #expect(try storage().keyMakingOne(named: "a").thumbprint == key.thumbprint)
        #expect(records.count == 1)
    }

    @Test("A restored DPoP key of another Secure Enclave is lost, and the next sign-in replaces it", arguments: [true, false])
    func foreignEnclave(opens: Bool) throws {
        let old = try storage().keyMakingOne(named: "a")
        let restored = storage(enclave: EnclaveDouble(opensForeignKeys: opens))
        if opens {
            let found = try #require(try restored.key(named: "a", boundTo: old.thumbprint))
            #expect(throws: DPoPError.keyLost) { try found.sign([1]) }
        } else {
            #expect(throws: DPoPError.keyLost) { try restored.key(named: "a", boundTo: old.thumbprint) }
        }
        let new = try restored.keyMakingOne(named: "a")
        #expect(try new.thumbprint != old.thumbprint && signs(new))
        #expect(try restored.keyMakingOne(named: "a").thumbprint == new.thumbprint)
        #expect(records.count == 1)
        #expect(try restored.key(named: "a", boundTo: old.thumbprint) == nil)
    }

    @Test("If the Secure Enclave fails for every key, no DPoP key is lost or replaced")
    func failingEnclave() throws {
        let key = try storage().keyMakingOne(named: "a")
        enclave.isWorking = false
        #expect(throws: EnclaveDouble.Failure.self) { try storage().key(named: "a") }
        #expect(throws: EnclaveDouble.Failure.self) { try key.sign([1]) }
        #expect(throws: EnclaveDouble.Failure.self) { try storage().keyMakingOne(named: "a") }
        enclave.isWorking = true
        #expect(try storage().keyMakingOne(named: "a").thumbprint == key.thumbprint)
    }

    @Test("After one failed signature, a DPoP key that works again is neither lost nor replaced, even if the enclave's test key fails too")
    func busyEnclave() throws {
        let key = try storage().keyMakingOne(named: "a")
        enclave.failNext()
        #expect(try signs(key))
        enclave.failNext()
        #expect(try storage().keyMakingOne(named: "a").thumbprint == key.thumbprint)
        // The second failure is that of the new key that tests the enclave.
        enclave.failNext(2)
        #expect(throws: EnclaveDouble.Failure.self) { try storage().keyMakingOne(named: "a") }
        #expect(try storage().keyMakingOne(named: "a").thumbprint == key.thumbprint)
        let found = try #require(try storage().key(named: "a", boundTo: key.thumbprint))
        #expect(try signs(found) && records.count == 1)
    }

    @Test("On a device without a Secure Enclave, a key of an enclave is lost, and a sign-in creates a key in software")
    func noEnclave() throws {
        let old = try storage().keyMakingOne(named: "a")
        #expect(throws: DPoPError.keyLost) { try softwareStorage.key(named: "a") }
        let new = try softwareStorage.keyMakingOne(named: "a")
        #expect(try new.thumbprint != old.thumbprint && signs(new))
        // A device with an enclave can use the software key.
        #expect(try storage().keyMakingOne(named: "a").thumbprint == new.thumbprint)
    }

    @Test("A damaged DPoP key is unusable, and the next sign-in replaces it", arguments: ["", "x"])
    func damaged(value: String) throws {
        _ = try softwareStorage.keyMakingOne(named: "a")
        let query = try #require(records.first).query
        #expect(app().update(query, KeychainChanges(value: Data(value.utf8)), context: nil) == KeychainStatus.success)
        #expect { try softwareStorage.key(named: "a") } throws: { ($0 as? DPoPError)?.code == .keyUnusable }
        let new = try softwareStorage.keyMakingOne(named: "a")
        #expect(try softwareStorage.key(named: "a")?.thumbprint == new.thumbprint && signs(new))
    }

    @Test("A DPoP key of an earlier version stays usable, and the item is completed")
    func earlierFormat() throws {
        let sealed = try enclave.makeKey().sealed
        let item = KeychainRecord(
            service: "com.okta.authfoundation.dpop", account: "a", protection: KeychainProtection(.afterFirstUnlockThisDeviceOnly),
            generic: Data("enclave".utf8), value: sealed)
        #expect(app().add(item, context: nil) == KeychainStatus.success)
        let key = try storage().keyMakingOne(named: "a")
        #expect(try signs(key))
        #expect(records.map { $0.generic.map { String(decoding: $0, as: UTF8.self) } } == ["enclave \(key.thumbprint)"])
        #expect(records.map(\.value) == [sealed])
    }

    // MARK: - Several processes

    @Test("Of an app and its extension that create a DPoP key at the same time, one stores its key and the other uses it")
    func race() throws {
        let (other, stored) = (storage(), Locked<String?>(nil))
        device.beforeNextChange {
            let key = try? other.keyMakingOne(named: "a")
            stored.exchange(key?.thumbprint)
        }
        let key = try storage().keyMakingOne(named: "a")
        #expect(try key.thumbprint == stored.withLock { $0 } && signs(key))
        #expect(records.count == 1)
    }

    @Test("Of two processes that replace an unusable DPoP key at the same time, one stores its key and the other uses it")
    func replacementRace() throws {
        _ = try storage().keyMakingOne(named: "a")
        let new = EnclaveDouble()
        let (one, other, stored) = (storage(enclave: new), storage(enclave: new), Locked<String?>(nil))
        device.beforeNextChange {
            let key = try? other.keyMakingOne(named: "a")
            stored.exchange(key?.thumbprint)
        }
        let key = try one.keyMakingOne(named: "a")
        #expect(try key.thumbprint == stored.withLock { $0 } && signs(key))
        #expect(records.count == 1)
    }

    @Test("A storage with an access group that the app may not use throws, and creates no key")
    func missingEntitlement() {
        #expect(throws: KeychainError.cannotSave(code: KeychainDouble.Status.missingEntitlement)) {
            try storage(accessGroup: "of another team").keyMakingOne(named: "a")
        }
        #expect(records.isEmpty)
    }

    @Test("With an access group, a sign-in uses only keys of the group, and an existing session keeps its key of another group")
    func accessGroup() throws {
        let old = try storage(["app", "shared"]).keyMakingOne(named: "a")
        let shared = storage(["app", "shared"], accessGroup: "shared")
        #expect(try shared.key(named: "a") == nil)
        let new = try shared.keyMakingOne(named: "a")
        #expect(device.groups(of: KeychainDPoPKeyItem.service) == ["app", "shared"])
        #expect(try storage(["extension", "shared"]).key(named: "a")?.thumbprint == new.thumbprint)
        #expect(try shared.key(named: "a", boundTo: old.thumbprint)?.thumbprint == old.thumbprint)
        try shared.removeKey(named: "a")
        #expect(device.groups(of: KeychainDPoPKeyItem.service) == ["app"])
    }

    @Test("Copying a DPoP key to an access group keeps the group's other keys, and a second copy changes nothing")
    func share() throws {
        let other = try storage(["extension", "shared"], accessGroup: "shared").keyMakingOne(named: "a")
        let key = try storage(["app"]).keyMakingOne(named: "a")
        for _ in 0..<2 { try app(["app", "shared"]).shareDPoPKey(key.thumbprint, in: "shared") }
        #expect(device.groups(of: KeychainDPoPKeyItem.service).sorted() == ["app", "shared", "shared"])
        let found = storage(["extension", "shared"])
        for thumbprint in [key.thumbprint, other.thumbprint] {
            let key = try #require(try found.key(named: "a", boundTo: thumbprint))
            #expect(try key.thumbprint == thumbprint && signs(key))
        }
        // The older key is still the key of a sign-in.
        #expect(try found.keyMakingOne(named: "a").thumbprint == other.thumbprint)
        try storage(["app", "shared"]).removeKey(named: "a")
        #expect(records.isEmpty)
    }
}
