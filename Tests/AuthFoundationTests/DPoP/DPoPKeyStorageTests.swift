import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("DPoP key storage")
struct DPoPKeyStorageTests {
    private let folder = TemporaryFolder()

    private func storage(_ kind: String) -> any DPoPKeyStorage {
        kind == "file" ? FileDPoPKeyStorage(directory: folder.url) : MemoryDPoPKeyStorage()
    }

    @Test(
        "A DPoP key storage creates one key for each name, returns that key on later calls, and can remove the key",
        arguments: ["file", "memory"])
    func contract(kind: String) throws {
        let storage = storage(kind)
        #expect(try storage.key(named: "a") == nil)
        let key = try storage.keyMakingOne(named: "a")
        #expect(try storage.keyMakingOne(named: "a").thumbprint == key.thumbprint)
        #expect(try storage.key(named: "a")?.thumbprint == key.thumbprint)
        #expect(try storage.keyMakingOne(named: "b").thumbprint != key.thumbprint)
        let found = try #require(try storage.key(named: "a"))
        let proof = try DPoPProof.make(
            method: "GET", uri: "x", issuedAt: 1, jwtID: "j", publicKey: found.publicMembers, sign: found.sign)
        #expect(try ReadProof(proof).thumbprint == key.thumbprint)
        try storage.removeKey(named: "a")
        try storage.removeKey(named: "a")
        #expect(try storage.key(named: "a") == nil)
        #expect("\(key)" == "DPoPKey(\(key.thumbprint))")
    }

    @Test("Concurrent calls for a DPoP key with the same name return the same key", arguments: ["file", "memory"])
    func race(kind: String) async throws {
        let storage = storage(kind)
        let thumbprints = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try storage.keyMakingOne(named: "a").thumbprint } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(thumbprints.count == 1)
    }

    @Test("DPoP keys are stored encrypted in files that only the user can read")
    func files() throws {
        let storage = FileDPoPKeyStorage(directory: folder.url)
        let key = try storage.keyMakingOne(named: "app")
        #expect(try folder.mode() == 0o700)
        let name = try #require(try folder.names.first { $0.hasPrefix("dpop-") })
        #expect(try folder.mode(of: name) == 0o600)
        let text = String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self)
        #expect(!text.contains("\"d\"") && !text.contains("P-256") && !text.contains(key.thumbprint))
        #expect(try FileDPoPKeyStorage(directory: folder.url).key(named: "app")?.thumbprint == key.thumbprint)
    }

    @Test(
        "Reading a damaged DPoP key fails, and creating a key with the same name replaces the damaged key",
        arguments: ["entry", "key", "header"])
    func damaged(part: String) throws {
        let storage = FileDPoPKeyStorage(directory: folder.url)
        let lost = try storage.keyMakingOne(named: "app")
        switch part {
        case "entry":
            let file = folder.file(try #require(try folder.names.first { $0.hasPrefix("dpop-") }))
            try Data(contentsOf: file).prefix(20).write(to: file)
        case "key": try FileManager.default.removeItem(at: folder.file("key"))
        default: try Data("{}".utf8).write(to: folder.file("vault.json"))
        }
        #expect(throws: VaultError.self) { try storage.key(named: "app") }
        let made = try storage.keyMakingOne(named: "app")
        #expect(made.thumbprint != lost.thumbprint)
        #expect(try FileDPoPKeyStorage(directory: folder.url).keyMakingOne(named: "app").thumbprint == made.thumbprint)
    }

    @Test("A DPoP key that was encrypted with another vault key causes an error and is not replaced")
    func wrongKey() throws {
        let given = VaultKey.generate()
        let key = try FileDPoPKeyStorage(directory: folder.url, key: given).keyMakingOne(named: "app")
        #expect(throws: VaultError.self) { try FileDPoPKeyStorage(directory: folder.url, key: .generate()).keyMakingOne(named: "app") }
        #expect(try FileDPoPKeyStorage(directory: folder.url, key: given).key(named: "app")?.thumbprint == key.thumbprint)
    }

    @Test("A DPoP key whose coordinates are not a point on P-256 is rejected as unusable")
    func noPoint() {
        let error = #expect(throws: DPoPError.self) {
            try DPoPKey(x: Array(repeating: 1, count: 32), y: Array(repeating: 1, count: 32)) { $0 }
        }
        #expect(error?.code == .keyUnusable)
    }
}
