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

    @Test("reading an empty vault makes nothing")
    func makesNothingToRead() throws {
        let storage = vault()
        #expect(storage.allIDs.isEmpty)
        #expect(storage.defaultTokenID == nil)
        #expect(try storage.pendingRevocations().isEmpty)
        try storage.remove(id: "nobody")
        try storage.setDefaultTokenID(nil)
        #expect(!FileManager.default.fileExists(atPath: folder.url.path))
    }

    @Test("folder and files are the user's alone")
    func isPrivate() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        #expect(try folder.mode() == 0o700)
        let names = try folder.names
        #expect(Set(names) == ["key", "lock", "vault.json", "default.json", try VaultFileName.credential("session-1")])
        for name in names { #expect(try folder.mode(of: name) == 0o600, "\(name)") }
    }

    @Test("no file but the key shows a secret, a claim or a tag")
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

    @Test("equal tokens are never encrypted equally")
    func usesFreshNonces() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let first = try Data(contentsOf: entry("session-1"))
        try storage.replace(token: "session-1", with: .fixture(), security: nil)
        #expect(try Data(contentsOf: entry("session-1")) != first)
    }

    @Test("what one process stored, the next one finds")
    func survivesRestart() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        let second = vault()
        #expect(second.defaultTokenID == "session-1")
        #expect(try read("session-1", in: second) == .fixture())
    }

    @Test("a change by another process is seen at the next access")
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

    @Test("a vault that was deleted and made anew is read with its new key")
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

    @Test("files left by a killed writer change nothing and are swept away")
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

    @Test("the files of others are not swept away")
    func sweepsOnlyItsOwn() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: folder.file("thesis.tmp"))
        try vault().add(token: .fixture(), metadata: nil, security: [])
        #expect(try folder.names.contains("thesis.tmp"))
    }

    @Test("a default whose token was never written counts as none")
    func survivesDanglingDefault() throws {
        let storage = vault()
        try storage.add(token: .fixture(id: "a"), metadata: nil, security: [])
        // As if the process had been killed between the two files of the first token.
        try FileManager.default.removeItem(at: entry("a"))
        #expect(storage.defaultTokenID == nil)
        try storage.add(token: .fixture(id: "b"), metadata: nil, security: [])
        #expect(storage.defaultTokenID == "b")
    }

    // MARK: - Damage

    @Test(
        "a damaged entry is an error that names it; it stays, and the others stay readable",
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

    @Test("each cut of an entry is noticed", arguments: [1, 10, 100, 400])
    func noticesTruncation(_ length: Int) throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let whole = try Data(contentsOf: entry("session-1"))
        try whole.dropLast(length).write(to: entry("session-1"))
        expect(.damagedEntry, "session-1") { _ = try read("session-1", in: storage) }
    }

    @Test("an entry put under another name is refused")
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

    @Test("a flipped bit in the token is noticed, and the metadata stay readable")
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

    @Test("an entry of a newer version is refused by name and left as it is")
    func refusesNewer() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        let newer = Data(#"{"format":2,"shape":"unheard of"}"#.utf8)
        try newer.write(to: entry("session-1"))
        expect(.newerFormat, "session-1") { _ = try read("session-1", in: storage) }
        expect(.newerFormat, "session-1") { try storage.replace(token: "session-1", with: .fixture(access: "x"), security: nil) }
        #expect(try Data(contentsOf: entry("session-1")) == newer)
    }

    @Test("a refreshed token is stored although its entry is damaged; the loss of the tags is told")
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

    @Test("a damaged default is told, and can be set anew")
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

    @Test("a key that the app gives is not written beside the entries")
    func takesGivenKey() throws {
        let key = VaultKey.generate()
        try vault(key: key).add(token: .fixture(), metadata: nil, security: [])
        #expect(try !folder.names.contains("key"))
        #expect(try read("session-1", in: vault(key: VaultKey(rawValue: key.rawValue))) == .fixture())
    }

    @Test("another key is refused, for reading and for writing")
    func refusesWrongKey() throws {
        try vault(key: .generate()).add(token: .fixture(), metadata: nil, security: [])
        let storage = vault(key: .generate())
        expect(.wrongKey, "vault.json") { _ = try read("session-1", in: storage) }
        expect(.wrongKey, "vault.json") { try storage.add(token: .fixture(id: "b"), metadata: nil, security: []) }
        #expect(storage.allIDs == ["session-1"])
    }

    @Test("entries without their key are refused, and no new key is made")
    func refusesMissingKey() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.removeItem(at: folder.file("key"))
        expect(.keyMissing, "key") { _ = try read("session-1", in: storage) }
        expect(.keyMissing, "key") { try storage.add(token: .fixture(id: "b"), metadata: nil, security: []) }
        #expect(try !folder.names.contains("key"))
    }

    @Test("an entry can be removed without its key")
    func removesWithoutKey() throws {
        let storage = vault()
        try storage.add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.removeItem(at: folder.file("key"))
        try storage.remove(id: "session-1")
        #expect(storage.allIDs.isEmpty)
        #expect(vault().defaultTokenID == nil)
    }

    @Test("a key file that others may read is refused")
    func refusesOpenKey() throws {
        try vault().add(token: .fixture(), metadata: nil, security: [])
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file("key").path)
        expect(.insecurePermissions, "key") { _ = try read("session-1", in: vault()) }
    }

    @Test("a folder that others may change is refused")
    func refusesOpenFolder() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for mode in [0o777, 0o770] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.url.path)
            expect(.insecurePermissions, folder.url.standardizedFileURL.path) {
                try vault().add(token: .fixture(), metadata: nil, security: [])
            }
        }
    }

    @Test("a key has 32 bytes and never shows", arguments: [0, 16, 31, 33])
    func refusesShortKeys(_ length: Int) throws {
        expect(.invalidKey, "key") { _ = try VaultKey(rawValue: Data(count: length)) }
        let key = try VaultKey(rawValue: Data(repeating: 0x41, count: 32))
        for text in ["\(key)", String(reflecting: key), "\(Mirror(reflecting: key).children.map(\.value))"] {
            #expect(!text.contains("65") && !text.contains("41"))
        }
    }

    @Test("an id too long for a file name is refused")
    func refusesLongIDs() throws {
        let id = String(repeating: "x", count: 111)
        expect(.invalidIdentifier, id) { try vault().add(token: .fixture(id: id), metadata: nil, security: []) }
    }

    // MARK: - Format

    @Test("format 1, as it was first released, is read for good")
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
