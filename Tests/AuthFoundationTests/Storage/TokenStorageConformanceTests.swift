import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

/// A kind of storage that must satisfy the protocol's contract. Each test creates a new storage.
enum StorageKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, vault, keychain

    var testDescription: String { rawValue }

    func make(in folder: TemporaryFolder) -> any PendingRevocationStorage {
        switch self {
        case .memory: MemoryTokenStorage()
        case .vault: FileTokenStorage(directory: folder.url)
        case .keychain: KeychainTokenStorage(KeychainDouble.App(device: KeychainDouble()), clock: ManualClock())
        }
    }
}

@CredentialActor
private final class Listener: TokenStorageDelegate {
    private(set) var calls: [String] = []

    nonisolated init() {}

    func token(storage: any TokenStorage, defaultChanged id: String?) { calls.append("default \(id ?? "nil")") }
    func token(storage: any TokenStorage, added id: String, token: Token) { calls.append("added \(id)") }
    func token(storage: any TokenStorage, removed id: String) { calls.append("removed \(id)") }
    func token(storage: any TokenStorage, replaced id: String, with newToken: Token) { calls.append("replaced \(id)") }
}

@CredentialActor
@Suite("Contract of every token storage")
struct TokenStorageConformanceTests {
    private let folder = TemporaryFolder()

    nonisolated init() {}

    @Test("A token storage returns an added token unchanged, with its metadata", arguments: StorageKind.allCases)
    func readsBack(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        let token = try Token.fixture(
            deviceSecret: "device-1", issuedAt: Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7),
            claims: ["sub": .string("00u1")])
        try storage.add(token: token, metadata: Token.Metadata(token: token, tags: ["role": "work"]), security: [])
        #expect(try storage.get(token: token.id, prompt: nil, authenticationContext: nil) == token)
        #expect(try storage.metadata(for: token.id).tags == ["role": "work"])
        #expect(try storage.metadata(for: token.id).subject == "00u1")
        #expect(storage.allIDs == [token.id])
    }

    @Test("The first token in an empty token storage becomes the default token, and later tokens do not", arguments: StorageKind.allCases)
    func firstBecomesDefault(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        #expect(storage.defaultTokenID == nil)
        try storage.add(token: .fixture(id: "a"), metadata: nil, security: [])
        try storage.add(token: .fixture(id: "b"), metadata: nil, security: [])
        #expect(storage.defaultTokenID == "a")
        try storage.setDefaultTokenID(nil)
        try storage.add(token: .fixture(id: "c"), metadata: nil, security: [])
        #expect(storage.defaultTokenID == nil)
        #expect(storage.allIDs.sorted() == ["a", "b", "c"])
    }

    @Test("A token storage rejects a second token with the same ID and keeps the first token", arguments: StorageKind.allCases)
    func refusesDuplicates(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        try storage.add(token: .fixture(access: "one"), metadata: nil, security: [])
        #expect(throws: TokenError.duplicateTokenAdded) {
            try storage.add(token: .fixture(access: "two"), metadata: nil, security: [])
        }
        #expect(try storage.get(token: "session-1", prompt: nil, authenticationContext: nil).accessToken == "one")
    }

    @Test("A token storage rejects a token with the metadata of another token, and stores nothing", arguments: StorageKind.allCases)
    func refusesForeignMetadata(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        let other = try Token.Metadata(token: .fixture(id: "other"), tags: [:])
        #expect(throws: CredentialError.metadataConsistency) { try storage.add(token: .fixture(), metadata: other, security: []) }
        #expect(storage.allIDs.isEmpty)
    }

    @Test(
        "With an unknown ID, reads and changes of a token storage throw an error, but a removal does not", arguments: StorageKind.allCases)
    func namesUnknown(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        let unknown = TokenError.tokenNotFound(id: "unknown")
        let missing: any Error = kind == .keychain ? KeychainError.notFound : unknown
        #expect { try storage.get(token: "unknown", prompt: nil, authenticationContext: nil) } throws: { "\($0)" == "\(missing)" }
        #expect(throws: unknown) { try storage.metadata(for: "unknown") }
        #expect(throws: unknown) { try storage.setMetadata(Token.Metadata(token: .fixture(id: "unknown"), tags: [:])) }
        #expect(throws: unknown) { try storage.setDefaultTokenID("unknown") }
        #expect(throws: TokenError.cannotReplaceToken) {
            try storage.replace(token: "unknown", with: .fixture(id: "unknown"), security: nil)
        }
        #expect(throws: Never.self) { try storage.remove(id: "unknown") }
    }

    @Test(
        "A replacement token keeps the tags and the default status of the stored token, and must have the same ID",
        arguments: StorageKind.allCases)
    func replaces(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        let old = try Token.fixture(claims: ["name": .string("Jane")])
        try storage.add(token: old, metadata: Token.Metadata(token: old, tags: ["role": "work"]), security: [])
        let new = try Token.fixture(access: "access-2", refresh: "refresh-2", claims: ["name": .string("Jane Doe")])
        try storage.replace(token: old.id, with: new, security: nil)
        #expect(try storage.get(token: old.id, prompt: nil, authenticationContext: nil) == new)
        #expect(try storage.metadata(for: old.id).tags == ["role": "work"])
        #expect(try storage.metadata(for: old.id).name == "Jane Doe")
        #expect(storage.defaultTokenID == old.id)
        #expect(storage.allIDs == [old.id])
        #expect(throws: TokenError.cannotReplaceToken) { try storage.replace(token: old.id, with: .fixture(id: "other"), security: nil) }
    }

    @Test(
        "After the only token is removed, a token storage has no default token until the next token is added",
        arguments: StorageKind.allCases)
    func removes(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        try storage.add(token: .fixture(id: "a"), metadata: nil, security: [])
        try storage.remove(id: "a")
        #expect(storage.defaultTokenID == nil)
        #expect(storage.allIDs.isEmpty)
        try storage.add(token: .fixture(id: "b"), metadata: nil, security: [])
        #expect(storage.defaultTokenID == "b")
    }

    @Test("Removing a token that is not the default does not change the default token", arguments: StorageKind.allCases)
    func removesOther(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        try storage.add(token: .fixture(id: "a"), metadata: nil, security: [])
        try storage.add(token: .fixture(id: "b"), metadata: nil, security: [])
        try storage.remove(id: "b")
        #expect(storage.defaultTokenID == "a")
    }

    @Test("A token's metadata can be replaced without a change to the token", arguments: StorageKind.allCases)
    func replacesMetadata(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        let token = try Token.fixture()
        try storage.add(token: token, metadata: nil, security: [])
        #expect(try storage.metadata(for: token.id).tags.isEmpty)
        try storage.setMetadata(Token.Metadata(token: token, tags: ["a": "b"]))
        #expect(try storage.metadata(for: token.id).tags == ["a": "b"])
        #expect(try storage.get(token: token.id, prompt: nil, authenticationContext: nil) == token)
    }

    @Test("A token storage's delegate receives each change once, in order", arguments: StorageKind.allCases)
    func tells(_ kind: StorageKind) throws {
        var storage = kind.make(in: folder)
        let listener = Listener()
        storage.delegate = listener
        try storage.add(token: .fixture(id: "a"), metadata: nil, security: [])
        try storage.add(token: .fixture(id: "b"), metadata: nil, security: [])
        try storage.setDefaultTokenID("b")
        try storage.setDefaultTokenID("b")
        try storage.replace(token: "b", with: .fixture(id: "b", access: "x"), security: nil)
        try storage.remove(id: "b")
        try storage.setDefaultTokenID(nil)
        #expect(listener.calls == ["added a", "default a", "added b", "default b", "replaced b", "removed b", "default nil"])
    }

    @Test(
        "A token storage returns pending revocations oldest first, keeps only the newest for each token, and can remove them",
        arguments: StorageKind.allCases)
    func keepsRevocations(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        #expect(try storage.pendingRevocations().isEmpty)
        for (seconds, id, type) in [(2.0, "a", Token.RevokeType.all), (1.0, "b", .accessToken), (3.0, "a", .refreshToken)] {
            try storage.add(
                pendingRevocation: PendingRevocation(
                    token: .fixture(id: id), type: type, queuedAt: Date(timeIntervalSince1970: seconds)))
        }
        #expect(try storage.pendingRevocations().map(\.id) == ["b", "a"])
        #expect(try storage.pendingRevocations().map(\.type) == [.accessToken, .refreshToken])
        #expect(storage.allIDs.isEmpty)
        try storage.removePendingRevocation(id: "b")
        try storage.removePendingRevocation(id: "unknown")
        #expect(try storage.pendingRevocations().map(\.id) == ["a"])
    }

    @Test(
        "Token IDs that differ only in case or contain special characters have separate entries in a token storage",
        arguments: StorageKind.allCases)
    func keepsOddIDs(_ kind: StorageKind) throws {
        let storage = kind.make(in: folder)
        let ids = ["A", "a", "../../etc/passwd", "ü/ß", ".", "a b\n"]
        for id in ids { try storage.add(token: .fixture(id: id, access: "of \(id)"), metadata: nil, security: []) }
        #expect(storage.allIDs.sorted() == ids.sorted())
        for id in ids { #expect(try storage.get(token: id, prompt: nil, authenticationContext: nil).accessToken == "of \(id)") }
    }
}
