import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension AsyncStream<Credential.Event> {
    /// Returns the names of the first events, up to this number.
    func first(_ count: Int) async -> [String] {
        var names: [String] = []
        if count == 0 { return names }
        for await event in self {
            names.append(event.name)
            if names.count == count { break }
        }
        return names
    }
}

extension Credential.Event {
    var name: String {
        switch self {
        case .stored(let credential): "stored \(credential.id)"
        case .defaultChanged(let credential): "default \(credential?.id ?? "nil")"
        case .refreshed(let credential): "refreshed \(credential.id)"
        case .refreshFailed(let credential, _): "refreshFailed \(credential.id)"
        case .sessionEnded(let credential, _): "ended \(credential.id)"
        case .removed(let credential): "removed \(credential.id)"
        case .revocationDelivered(let id): "delivered \(id)"
        case .storageFailed: "storageFailed"
        }
    }
}

@Suite("Stored credentials")
struct CredentialRulesTests {
    private let folder = TemporaryFolder()

    /// Runs the test with its own storage of this kind.
    private func with(_ kind: StorageKind, session: ScriptedIssuer = ScriptedIssuer(), _ body: () async throws -> Void) async throws {
        try await Credential.withStorage(kind.make(in: folder), session: session, clock: ManualClock(), operation: body)
    }

    @Test("The first stored credential becomes the default credential, and later credentials do not", arguments: StorageKind.allCases)
    func firstBecomesDefault(_ kind: StorageKind) async throws {
        try await with(kind) {
            #expect(Credential.default == nil)
            let first = try Credential.store(.fixture(id: "a"))
            let second = try Credential.store(.fixture(id: "b"))
            #expect(Credential.default === first)
            #expect(second !== first)
            #expect(Credential.allIDs.sorted() == ["a", "b"])
        }
    }

    @Test("Making an unstored credential the default stores the credential", arguments: StorageKind.allCases)
    func storesByDefault(_ kind: StorageKind) async throws {
        try await with(kind) {
            let credential = try await Credential(token: .fixture(id: "a"))
            #expect(Credential.allIDs.isEmpty)
            Credential.default = credential
            #expect(Credential.default == credential)
            #expect(Credential.allIDs == ["a"])
            let second = try Credential.store(.fixture(id: "b"))
            Credential.default = second
            #expect(Credential.default === second)
            #expect(Credential.allIDs.sorted() == ["a", "b"])
        }
    }

    @Test("The event of a new default contains the credential, even if this run of the app has not loaded its stored token")
    func unloadedDefault() async throws {
        try await with(.vault) {
            try Credential.store(.fixture(id: "a"))
            try Credential.store(.fixture(id: "b"))
        }
        try await with(.vault) {
            let events = Credential.events
            Credential.default = try await Credential(token: .fixture(id: "b"))
            #expect(await events.first(1) == ["default b"])
        }
    }

    @Test("Setting the default credential to nil keeps the credential in the storage", arguments: StorageKind.allCases)
    func forgetsDefault(_ kind: StorageKind) async throws {
        try await with(kind) {
            let first = try Credential.store(.fixture(id: "a"))
            Credential.default = nil
            #expect(Credential.default == nil)
            #expect(Credential.allIDs == ["a"])
            #expect(try Credential.with(id: "a") === first)
            try Credential.store(.fixture(id: "b"))
            #expect(Credential.default == nil)
        }
    }

    @Test("remove() deletes the credential and clears the default, and a second remove() throws an error", arguments: StorageKind.allCases)
    func removes(_ kind: StorageKind) async throws {
        try await with(kind) {
            let credential = try Credential.store(.fixture(id: "a"), tags: ["x": "y"])
            try credential.remove()
            #expect(Credential.default == nil)
            #expect(Credential.allIDs.isEmpty)
            #expect(try Credential.with(id: "a") == nil)
            #expect(credential.tags.isEmpty)
            #expect(throws: CredentialError.missingCoordinator) { try credential.remove() }
            #expect(throws: CredentialError.missingCoordinator) { try credential.setTags([:]) }
            await #expect(throws: CredentialError.missingCoordinator) { try await credential.refresh() }
            let next = try Credential.store(.fixture(id: "b"))
            #expect(Credential.default === next)
        }
    }

    @Test("Removing a credential that is not the default does not change the default credential", arguments: StorageKind.allCases)
    func removesOther(_ kind: StorageKind) async throws {
        try await with(kind) {
            let first = try Credential.store(.fixture(id: "a"))
            try Credential.store(.fixture(id: "b")).remove()
            #expect(Credential.default === first)
        }
    }

    @Test("A stored token has only one Credential object until the credential is removed", arguments: StorageKind.allCases)
    func keepsIdentity(_ kind: StorageKind) async throws {
        try await with(kind) {
            let credential = try Credential.store(.fixture(id: "a"))
            #expect(try Credential.with(id: "a") === credential)
            #expect(Credential.default === credential)
            #expect(try Credential.find { _ in true }.first === credential)
            try credential.remove()
            #expect(try Credential.store(.fixture(id: "a")) !== credential)
        }
    }

    @Test("Credentials with equal tokens are equal")
    func comparesTokens() async throws {
        let (one, same, other) = try await (
            Credential(token: .fixture()), Credential(token: .fixture()), Credential(token: .fixture(access: "x"))
        )
        #expect(one == same)
        #expect(one != other)
    }

    @Test("Storing the same token twice throws duplicateTokenAdded", arguments: StorageKind.allCases)
    func refusesDuplicates(_ kind: StorageKind) async throws {
        try await with(kind) {
            try Credential.store(.fixture())
            #expect(throws: TokenError.duplicateTokenAdded) { try Credential.store(.fixture()) }
        }
    }

    @Test("Looking up a credential by an unknown id returns nil", arguments: StorageKind.allCases)
    func findsNone(_ kind: StorageKind) async throws {
        try await with(kind) {
            let found = try Credential.with(id: "unknown")
            #expect(found == nil)
        }
    }

    @Test("Credentials can be found by tags and by the claims of the ID token", arguments: StorageKind.allCases)
    func findsByMetadata(_ kind: StorageKind) async throws {
        try await with(kind) {
            try Credential.store(.fixture(id: "a", claims: ["email": .string("jane@example.com")]), tags: ["role": "work"])
            try Credential.store(.fixture(id: "b", claims: ["email": .string("john@example.com")]))
            #expect(try Credential.find { $0.tags["role"] == "work" }.map(\.id) == ["a"])
            #expect(try Credential.find { $0.email == "john@example.com" }.map(\.id) == ["b"])
            #expect(try Credential.find { $0.subject == "unknown" }.isEmpty)
        }
    }

    @Test("A credential's tags can be changed, and a refresh keeps the tags", arguments: StorageKind.allCases)
    func keepsTags(_ kind: StorageKind) async throws {
        let session = ScriptedIssuer()
        session.on("/v1/token") { _, _ in .tokens("access-2", refresh: "refresh-2") }
        try await with(kind, session: session) {
            let credential = try Credential.store(.fixture(), tags: ["a": "1"])
            #expect(credential.tags == ["a": "1"])
            credential.tags = ["b": "2"]
            #expect(credential.tags == ["b": "2"])
            try await credential.refresh()
            #expect(credential.tags == ["b": "2"])
            try credential.setTags([:])
            #expect(credential.tags.isEmpty)
        }
    }

    @Test("A credential cannot be created with a client that has another client ID")
    func refusesForeignClient() async throws {
        let client = OAuth2Client(issuerURL: try url(ScriptedIssuer.base), clientId: "other", scope: "openid")
        await #expect(throws: CredentialError.incorrectClientConfiguration) {
            try await Credential(token: .fixture(), oauth2: client)
        }
    }

    @Test("A credential in the vault can be used after a restart")
    func survivesRestart() async throws {
        try await with(.vault) { try Credential.store(.fixture(), tags: ["a": "b"]) }
        try await with(.vault) {
            let credential = try #require(Credential.default)
            #expect(try credential.token == .fixture())
            #expect(credential.tags == ["a": "b"])
            var request = URLRequest(url: try url("https://api.example.com"))
            credential.authorize(request: &request)
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer access-1")
        }
    }

    @Test("The synchronous Credential API works from the main actor, from concurrent tasks and from the credential actor")
    func worksFromAnywhere() async throws {
        try await with(.memory) {
            try await MainActor.run { _ = try Credential.store(.fixture(id: "a")) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<100 {
                    group.addTask { try Credential.store(.fixture(id: "b\(index)")) }
                    group.addTask {
                        try await Task { @CredentialActor in
                            #expect(Credential.default?.id == "a")
                            await Task.yield()
                            try Credential.store(.fixture(id: "c\(index)"))
                        }.value
                    }
                }
                try await group.waitForAll()
            }
            #expect(Credential.allIDs.count == 201)
        }
    }

    @Test("Credential.withStorage isolates the storages of concurrent tasks")
    func isScoped() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask {
                    try await Credential.withStorage(MemoryTokenStorage(), session: ScriptedIssuer()) {
                        try Credential.store(.fixture(id: "\(index)"))
                        await Task.yield()
                        #expect(Credential.allIDs == ["\(index)"])
                        #expect(await Task { Credential.default?.id }.value == "\(index)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "A credential that was signed out, here or by another process, cannot become the default and is not stored again",
        arguments: [true, false])
    func signedOutDefault(isHere: Bool) async throws {
        let other = FileTokenStorage(directory: folder.url)
        try await with(.vault) {
            let credential = try Credential.store(.fixture(id: "a"))
            if isHere { try credential.remove() } else { try CredentialActor.synchronously { try other.remove(id: "a") } }
            #expect(throws: CredentialError.missingCoordinator) { try Credential.setDefault(credential) }
            #expect(Credential.allIDs.isEmpty)
        }
    }
}
