import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@CredentialActor
@Suite("The encrypted vault")
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

    @Test("Reading an empty vault creates no file")
    func makesNothingToRead() throws {
        let storage = vault()
        #expect(storage.allIDs.isEmpty)
        #expect(storage.defaultTokenID == nil)
        #expect(try storage.pendingRevocations().isEmpty)
        try storage.remove(id: "unknown")
        try storage.setDefaultTokenID(nil)
        #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    }

    @Test("Only the user can access the vault's folder and files")
    func isPrivate() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        #expect(try folder.mode() == 0o700)
        let names = try folder.names
        #expect(Set(names) == ["key", "lock", "vault.json", "default.json", try VaultFileName.credential("session-1")])
        for name in names { #expect(try folder.mode(of: name) == 0o600, "\(name)") }
    }

    @Test("No file except the key contains a secret, a claim or a tag")
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

    @Test("Equal tokens have different ciphertexts")
    func usesFreshNonces() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let first = try Data(contentsOf: entry("session-1"))
        try storage.replace(token: "session-1", with: .fixture(), security: nil)
        #expect(try Data(contentsOf: entry("session-1")) != first)
    }

    @Test("The next process finds the stored tokens")
    func survivesRestart() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        let second = vault()
        #expect(second.defaultTokenID == "session-1")
        #expect(try read("session-1", in: second) == .fixture())
    }

    @Test("A change of another process is visible at the next access")
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

    @Test("A vault that was deleted and created again is read with its new key")
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

    @Test("Temporary files of a killed process have no effect and are removed")
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

    @Test("Files of other programs are not removed")
    func sweepsOnlyItsOwn() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: folder.file("thesis.tmp"))
        try vault().add(token: .fixture(), metadata: nil, security: [])
        #expect(try folder.names.contains("thesis.tmp"))
    }

    @Test("A default whose token was never written counts as none")
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
        "A damaged entry is kept, causes an error that names it, and does not affect others",
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

    @Test("Every truncation of an entry is detected", arguments: [1, 10, 100, 400])
    func noticesTruncation(_ length: Int) throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let whole = try Data(contentsOf: entry("session-1"))
        try whole.dropLast(length).write(to: entry("session-1"))
        expect(.damagedEntry, "session-1") { _ = try read("session-1", in: storage) }
    }

    @Test("An entry under another name is rejected")
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

    @Test("A flipped bit in the token is detected, and the metadata stay readable")
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

    @Test("An entry of a newer version is rejected with its name and not changed")
    func refusesNewer() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let newer = Data(#"{"format":2,"shape":"unheard of"}"#.utf8)
        try newer.write(to: entry("session-1"))
        expect(.newerFormat, "session-1") { _ = try read("session-1", in: storage) }
        expect(.newerFormat, "session-1") { try storage.replace(token: "session-1", with: .fixture(access: "x"), security: nil) }
        #expect(try Data(contentsOf: entry("session-1")) == newer)
    }

    @Test("A refreshed token replaces a damaged entry, and the lost tags are reported")
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

    @Test("A damaged default is reported and can be set again")
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

    @Test("A vault key of the app is not written to disk")
    func takesGivenKey() throws {
        let key = VaultKey.generate()
        try vault(key: key).add(token: .fixture(), metadata: nil, security: [])
        #expect(try !folder.names.contains("key"))
        #expect(try read("session-1", in: vault(key: VaultKey(rawValue: key.rawValue))) == .fixture())
    }

    @Test("A vault rejects reading and writing with another key than its own")
    func refusesWrongKey() throws {
        try vault(key: .generate()).add(token: .fixture(), metadata: nil, security: [])
        let storage = vault(key: .generate())
        expect(.wrongKey, "vault.json") { _ = try read("session-1", in: storage) }
        expect(.wrongKey, "vault.json") { try storage.add(token: .fixture(id: "b"), metadata: nil, security: []) }
        #expect(storage.allIDs == ["session-1"])
    }

    @Test("Entries without their key are rejected, and no new key is created")
    func refusesMissingKey() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.removeItem(at: folder.file("key"))
        expect(.keyMissing, "key") { _ = try read("session-1", in: storage) }
        expect(.keyMissing, "key") { try storage.add(token: .fixture(id: "b"), metadata: nil, security: []) }
        #expect(try !folder.names.contains("key"))
    }

    @Test("An entry can be removed without its key")
    func removesWithoutKey() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.removeItem(at: folder.file("key"))
        try storage.remove(id: "session-1")
        #expect(storage.allIDs.isEmpty)
        #expect(vault().defaultTokenID == nil)
    }

    @Test("A key file that others can read is rejected")
    func refusesOpenKey() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file("key").path)
        expect(.insecurePermissions, "key") { _ = try read("session-1", in: vault()) }
    }

    @Test("A folder that others can change is rejected")
    func refusesOpenFolder() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for mode in [0o777, 0o770] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.url.path)
            expect(.insecurePermissions, folder.url.standardizedFileURL.path) {
                try vault().add(token: .fixture(), metadata: nil, security: [])
            }
        }
    }

    @Test("A vault key has 32 bytes and appears in no description", arguments: [0, 16, 31, 33])
    func refusesShortKeys(_ length: Int) throws {
        expect(.invalidKey, "key") { _ = try VaultKey(rawValue: Data(count: length)) }
        let key = try VaultKey(rawValue: Data(repeating: 0x41, count: 32))
        for text in ["\(key)", String(reflecting: key), "\(Mirror(reflecting: key).children.map(\.value))"] {
            #expect(!text.contains("65") && !text.contains("41"))
        }
    }

    @Test("An id that is too long for a file name is rejected")
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
