import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@CredentialActor
@Suite("Encrypted token vault")
struct FileTokenStorageTests {
    private let folder = TemporaryFolder()

    nonisolated init() {}

    private func vault(key: VaultKey? = nil, lockTimeout: Duration = .seconds(2)) -> FileTokenStorage {
        FileTokenStorage(directory: folder.url, key: key, lockTimeout: lockTimeout)
    }

    private func read(_ id: String, in storage: FileTokenStorage) throws -> Token {
        try storage.get(token: id, prompt: nil, authenticationContext: nil)
    }

    private func entry(_ id: String) throws -> URL {
        folder.file(try VaultFileName.credential(id))
    }

    private func expect(
        _ code: VaultError.Code, _ entry: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(sourceLocation: sourceLocation) { try body() } throws: { error in
            (error as? VaultError).map { $0.code == code && $0.entry == entry && !$0.localizedDescription.isEmpty } ?? false
        }
    }

    // MARK: - On disk

    @Test("Reads and removals in an empty token vault do not create its folder")
    func makesNothingToRead() throws {
        let storage = vault()
        #expect(storage.allIDs.isEmpty)
        #expect(storage.defaultTokenID == nil)
        #expect(try storage.pendingRevocations().isEmpty)
        try storage.remove(id: "unknown")
        try storage.setDefaultTokenID(nil)
        #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    }

    @Test("The token vault's folder has mode 0700, and its files have mode 0600")
    func isPrivate() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        #expect(try folder.mode() == 0o700)
        let names = try folder.names
        #expect(Set(names) == ["key", "lock", "vault.json", "default.json", try VaultFileName.credential("session-1")])
        for name in names { #expect(try folder.mode(of: name) == 0o600, "\(name)") }
    }

    @Test("No file of the token vault contains a token, a claim or a tag in plain text")
    func encryptsAll() throws {
        let token = try Token.fixture(
            access: "secret-access", refresh: "secret-refresh", deviceSecret: "secret-device",
            claims: ["email": .string("jane@example.com")])
        let storage = vault()
        try storage.add(token: token, metadata: Token.Metadata(token: token, tags: ["secret-tag": "secret-value"]), security: [])
        try storage.add(pendingRevocation: PendingRevocation(token: token, type: .all, queuedAt: Date(timeIntervalSince1970: 0)))
        for name in try folder.names {
            let text = String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self)
            for secret in ["secret", "jane", token.idToken?.rawValue ?? "-"] { #expect(!text.contains(secret), "\(name)") }
        }
    }

    @Test("If the token vault stores an equal token again, the ciphertext differs")
    func usesFreshNonces() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let first = try Data(contentsOf: entry("session-1"))
        try storage.replace(token: "session-1", with: .fixture(), security: nil)
        #expect(try Data(contentsOf: entry("session-1")) != first)
    }

    @Test("A new FileTokenStorage for the same folder finds the stored token and the default token")
    func survivesRestart() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        let second = vault()
        #expect(second.defaultTokenID == "session-1")
        #expect(try read("session-1", in: second) == .fixture())
    }

    @Test("A change through one FileTokenStorage is visible at the next access through another FileTokenStorage of the same folder")
    func seesOthers() throws {
        let (one, two) = (vault(), vault())
        try one.add(token: .fixture(id: "a"), metadata: nil, security: [])
        #expect(try read("a", in: two).accessToken == "access-1")
        try one.replace(token: "a", with: .fixture(id: "a", access: "access-2"), security: nil)
        #expect(try read("a", in: two).accessToken == "access-2")
        try two.setMetadata(Token.Metadata(token: .fixture(id: "a"), tags: ["x": "y"]))
        #expect(try one.metadata(for: "a").tags == ["x": "y"])
        #expect(try read("a", in: one).accessToken == "access-2")
        try two.add(token: .fixture(id: "b"), metadata: nil, security: [])
        try two.setDefaultTokenID("b")
        #expect(one.defaultTokenID == "b")
        try one.remove(id: "b")
        #expect(two.defaultTokenID == nil)
        #expect(two.allIDs == ["a"])
    }

    @Test("If the token vault is deleted and created again, an open FileTokenStorage reads the vault with the new key")
    func seesNewVault() throws {
        let storage = vault()
        try storage.add(token: .fixture(id: "a"), metadata: nil, security: [])
        try FileManager.default.removeItem(at: folder.url)
        #expect(storage.allIDs.isEmpty)
        #expect(storage.defaultTokenID == nil)
        try vault().add(token: .fixture(id: "b"), metadata: nil, security: [])
        #expect(try read("b", in: storage) == .fixture(id: "b"))
    }

    // MARK: - Crashes

    @Test("A leftover temporary file of the token vault is ignored, and the next write removes the file")
    func survivesHalfWritten() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let leftover = try VaultFileName.credential("session-1") + ".tmp"
        try Data("half".utf8).write(to: folder.file(leftover))
        #expect(storage.allIDs == ["session-1"])
        #expect(try read("session-1", in: storage) == .fixture())
        try storage.replace(token: "session-1", with: .fixture(access: "access-2"), security: nil)
        #expect(try read("session-1", in: storage).accessToken == "access-2")
        #expect(try !folder.names.contains(leftover))
    }

    @Test("The token vault does not remove a .tmp file of another program")
    func sweepsOnlyItsOwn() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: folder.file("thesis.tmp"))
        try vault().add(token: .fixture(), metadata: nil, security: [])
        #expect(try folder.names.contains("thesis.tmp"))
    }

    @Test("If the default token's file is missing, the token vault has no default token, and the next added token becomes the default")
    func survivesDanglingDefault() throws {
        let storage = vault()
        try storage.add(token: .fixture(id: "a"), metadata: nil, security: [])
        // Simulates a kill between the two files of the first token.
        try FileManager.default.removeItem(at: entry("a"))
        #expect(storage.defaultTokenID == nil)
        try storage.add(token: .fixture(id: "b"), metadata: nil, security: [])
        #expect(storage.defaultTokenID == "b")
    }

    // MARK: - Damage

    @Test(
        "A damaged vault entry is kept, causes an error that names the entry, and does not affect other entries",
        arguments: ["", "{", "null", #"{"format":1}"#, #"{"format":0,"kind":"credential","id":"bad","parts":{}}"#])
    func namesDamaged(_ content: String) throws {
        let storage = vault()
        try storage.add(token: .fixture(id: "bad"), metadata: nil, security: [])
        try storage.add(token: .fixture(id: "good"), metadata: nil, security: [])
        try Data(content.utf8).write(to: entry("bad"))
        expect(.damagedEntry, "bad") { _ = try read("bad", in: storage) }
        expect(.damagedEntry, "bad") { _ = try storage.metadata(for: "bad") }
        expect(.damagedEntry, "bad") { try storage.setMetadata(Token.Metadata(token: .fixture(id: "bad"), tags: [:])) }
        #expect(throws: TokenError.duplicateTokenAdded) { try storage.add(token: .fixture(id: "bad"), metadata: nil, security: []) }
        #expect(try Data(contentsOf: entry("bad")) == Data(content.utf8))
        #expect(try read("good", in: storage) == .fixture(id: "good"))
        #expect(storage.allIDs == ["bad", "good"])
        try storage.remove(id: "bad")
        #expect(storage.allIDs == ["good"])
    }

    @Test("A truncated vault entry is rejected as damaged", arguments: [1, 10, 100, 400])
    func noticesTruncation(_ length: Int) throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let whole = try Data(contentsOf: entry("session-1"))
        try whole.dropLast(length).write(to: entry("session-1"))
        expect(.damagedEntry, "session-1") { _ = try read("session-1", in: storage) }
    }

    @Test("A vault entry that was copied into the file of another token is rejected as damaged")
    func noticesSwap() throws {
        let storage = vault()
        try storage.add(token: .fixture(id: "a"), metadata: nil, security: [])
        try storage.add(token: .fixture(id: "b"), metadata: nil, security: [])
        let text = String(decoding: try Data(contentsOf: entry("a")), as: UTF8.self)
        try Data(text.utf8).write(to: entry("b"))
        expect(.damagedEntry, "b") { _ = try read("b", in: storage) }
        try Data(text.replacingOccurrences(of: #""id":"a""#, with: #""id":"b""#).utf8).write(to: entry("b"))
        expect(.damagedEntry, "b") { _ = try read("b", in: storage) }
    }

    @Test("A flipped bit in an encrypted token is detected, and the token's metadata can still be read")
    func noticesFlippedBit() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: Token.Metadata(token: .fixture(), tags: ["a": "b"]), security: [])
        var json = try #require(try JSON(Data(contentsOf: entry("session-1"))).objectValue)
        var parts = try #require(json["parts"]?.objectValue)
        var sealed = try #require(parts["token"]?.stringValue.flatMap { Data(base64Encoded: $0) })
        sealed[20] ^= 1
        parts["token"] = .string(sealed.base64EncodedString())
        json["parts"] = .object(parts)
        try JSONEncoder().encode(JSON.object(json)).write(to: entry("session-1"))
        expect(.damagedEntry, "session-1") { _ = try read("session-1", in: storage) }
        #expect(try storage.metadata(for: "session-1").tags == ["a": "b"])
    }

    @Test("A vault entry of a newer format is not changed and causes an error that names the entry")
    func refusesNewer() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let newer = Data(#"{"format":2,"shape":"unheard of"}"#.utf8)
        try newer.write(to: entry("session-1"))
        expect(.newerFormat, "session-1") { _ = try read("session-1", in: storage) }
        expect(.newerFormat, "session-1") { try storage.replace(token: "session-1", with: .fixture(access: "x"), security: nil) }
        #expect(try Data(contentsOf: entry("session-1")) == newer)
    }

    @Test("A refreshed token replaces a damaged vault entry, and the damage is reported")
    func replacesDamaged() throws {
        let storage = vault()
        let failures = Locked<[VaultError]>([])
        storage.onFailure = { error in if let error = error as? VaultError { failures.withLock { $0.append(error) } } }
        try storage.add(token: .fixture(), metadata: Token.Metadata(token: .fixture(), tags: ["a": "b"]), security: [])
        try Data("{".utf8).write(to: entry("session-1"))
        try storage.replace(token: "session-1", with: .fixture(access: "access-2"), security: nil)
        #expect(try read("session-1", in: storage).accessToken == "access-2")
        #expect(failures.withLock { $0 }.map(\.code) == [.damagedEntry])
    }

    @Test("A damaged file of the default token is reported, and the default token can be set again")
    func tellsDamagedDefault() throws {
        let storage = vault()
        let failures = Locked<[VaultError]>([])
        storage.onFailure = { error in if let error = error as? VaultError { failures.withLock { $0.append(error) } } }
        try storage.add(token: .fixture(), metadata: nil, security: [])
        try Data("{".utf8).write(to: folder.file("default.json"))
        #expect(storage.defaultTokenID == nil)
        #expect(failures.withLock { $0 }.map(\.entry) == ["default.json"])
        try storage.setDefaultTokenID("session-1")
        #expect(storage.defaultTokenID == "session-1")
    }

    // MARK: - Keys

    @Test("If the app supplies the vault key, the token vault creates no key file")
    func takesGivenKey() throws {
        let key = VaultKey.generate()
        try vault(key: key).add(token: .fixture(), metadata: nil, security: [])
        #expect(try !folder.names.contains("key"))
        #expect(try read("session-1", in: vault(key: VaultKey(rawValue: key.rawValue))) == .fixture())
    }

    @Test("With a wrong vault key, tokens can be neither read nor added, but their IDs can be listed")
    func refusesWrongKey() throws {
        try vault(key: .generate()).add(token: .fixture(), metadata: nil, security: [])
        let storage = vault(key: .generate())
        expect(.wrongKey, "vault.json") { _ = try read("session-1", in: storage) }
        expect(.wrongKey, "vault.json") { try storage.add(token: .fixture(id: "b"), metadata: nil, security: []) }
        #expect(storage.allIDs == ["session-1"])
    }

    @Test("If the key file of a token vault is missing, tokens can be neither read nor added, and no new key is created")
    func refusesMissingKey() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.removeItem(at: folder.file("key"))
        expect(.keyMissing, "key") { _ = try read("session-1", in: storage) }
        expect(.keyMissing, "key") { try storage.add(token: .fixture(id: "b"), metadata: nil, security: []) }
        #expect(try !folder.names.contains("key"))
    }

    @Test("A token can be removed from the vault even if the key file is missing")
    func removesWithoutKey() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.removeItem(at: folder.file("key"))
        try storage.remove(id: "session-1")
        #expect(storage.allIDs.isEmpty)
        #expect(vault().defaultTokenID == nil)
    }

    @Test("The token vault rejects a key file that other users can read")
    func refusesOpenKey() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file("key").path)
        expect(.insecurePermissions, "key") { _ = try read("session-1", in: vault()) }
    }

    @Test("The token vault rejects a folder that other users can write to")
    func refusesOpenFolder() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for mode in [0o777, 0o770] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.url.path)
            expect(.insecurePermissions, folder.url.standardizedFileURL.path) {
                try vault().add(token: .fixture(), metadata: nil, security: [])
            }
        }
    }

    @Test("A vault key must have 32 bytes, and no description contains its bytes", arguments: [0, 16, 31, 33])
    func refusesShortKeys(_ length: Int) throws {
        expect(.invalidKey, "key") { _ = try VaultKey(rawValue: Data(count: length)) }
        let key = try VaultKey(rawValue: Data(repeating: 0x41, count: 32))
        for text in ["\(key)", String(reflecting: key), "\(Mirror(reflecting: key).children.map(\.value))"] {
            #expect(!text.contains("65") && !text.contains("41"))
        }
    }

    @Test("The token vault rejects a token ID that is too long for a file name")
    func refusesLongIDs() throws {
        let id = String(repeating: "x", count: 111)
        expect(.invalidIdentifier, id) { try vault().add(token: .fixture(id: id), metadata: nil, security: []) }
    }

    // MARK: - Format

    @Test("The vault reads tokens that were stored in format 1")
    func readsFormat1() throws {
        let key = try VaultKey(rawValue: Data((0..<32).map { UInt8($0) }))
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (name, content) in VaultFixtures.format1 { try Data(content.utf8).write(to: folder.file(name)) }
        let storage = vault(key: key)
        #expect(storage.defaultTokenID == "session-1")
        let token = try read("session-1", in: storage)
        #expect(token.accessToken == "access-1" && token.refreshToken == "refresh-1" && token.expiresIn == 3600)
        #expect(token.issuedAt == Date(timeIntervalSince1970: 1_800_000_000))
        #expect(try token.context.configuration == .fixture)
        #expect(token.idToken?.subject == "00u1" && token.idToken?.email == "jane.doe@example.com")
        #expect(try storage.metadata(for: "session-1").tags == ["role": "work"])
        #expect(try storage.metadata(for: "session-1").email == "jane.doe@example.com")
        #expect(try storage.pendingRevocations().map(\.token) == [.fixture(id: "session-0")])
    }
}
