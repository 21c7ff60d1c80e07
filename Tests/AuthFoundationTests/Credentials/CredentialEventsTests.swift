import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Events and notifications of credentials")
struct CredentialEventsTests {
    private let folder = TemporaryFolder()
    private let session = ScriptedIssuer()

    @Test("Every consumer of credential events receives all events in order")
    func deliversToAll() async throws {
        session.on("/v1/token") { _, _ in .tokens("access-2") }
        session.on("/v1/revoke") { _, _ in .empty }
        try await Credential.withStorage(MemoryTokenStorage(), session: session) {
            let (one, two) = (Credential.events, Credential.events)
            let credential = try Credential.store(.fixture(id: "a"))
            let second = try Credential.store(.fixture(id: "b"))
            Credential.default = second
            try await credential.refresh()
            try credential.remove()
            try await second.revoke()
            let expected = ["stored a", "default a", "stored b", "default b", "refreshed a", "removed a", "removed b", "default nil"]
            #expect(await one.first(expected.count) == expected)
            #expect(await two.first(expected.count) == expected)
        }
    }

    @Test("A released stream of credential events is removed from the subscribers")
    func forgetsConsumers() async {
        let broadcaster = CredentialEventBroadcaster()
        for _ in 0..<10 { _ = broadcaster.subscribe() }
        #expect(broadcaster.subscriberCount == 0)
        let kept = broadcaster.subscribe()
        broadcaster.send(.revocationDelivered(id: "a"))
        #expect(await kept.first(1) == ["delivered a"])
    }

    @Test("A storage error in a credential property is sent as an event, and the throwing variant throws the error")
    func tellsFailures() async throws {
        let storage = FileTokenStorage(directory: folder.url)
        try await Credential.withStorage(storage, session: session) {
            let credential = try Credential.store(.fixture())
            let name = try VaultFileName.credential(credential.id)
            try Data("{".utf8).write(to: folder.file(name))
            let events = Credential.events
            #expect(Credential.default == nil)
            credential.tags = ["a": "b"]
            #expect(credential.tags.isEmpty)
            #expect(try Credential.find { _ in true }.isEmpty)
            #expect(await events.first(4) == Array(repeating: "storageFailed", count: 4))
            let damaged = VaultError(.damagedEntry, entry: credential.id, "")
            #expect(throws: damaged) { try Credential.loadDefault() }
            #expect(throws: damaged) { try credential.setTags(["a": "b"]) }
            #expect(throws: damaged) { try Credential.with(id: credential.id) }
        }
    }

    @Test("If the default credential cannot be written, the property sends an event, and setDefault throws the error")
    func tellsFailedDefault() async throws {
        try await Credential.withStorage(FileTokenStorage(directory: folder.url), session: session) {
            let credential = try Credential.store(.fixture())
            try FileManager.default.removeItem(at: folder.file("key"))
            let events = Credential.events
            Credential.default = nil
            #expect(await events.first(1) == ["storageFailed"])
            #expect(throws: VaultError(.keyMissing, entry: "key", "")) { try Credential.setDefault(credential) }
        }
    }

    @Test("Storing a credential, a failed refresh and a removal post the documented notifications, each with the credential as its object")
    func postsNotifications() async throws {
        session.on("/v1/token") { _, _ in .invalidGrant }
        let storage = MemoryTokenStorage()
        try await Credential.withStorage(storage, session: session) {
            let names: [Notification.Name] = [
                .credentialCreated, .defaultCredentialChanged, .credentialRefreshFailed, .credentialRemoved,
            ]
            let seen = Locked<[String: Int]>([:])
            let id = UUID().uuidString
            let observers = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                    guard (notification.object as? Credential)?.id == id else { return }
                    let hasError = notification.userInfo?["error"] is any Error
                    seen.withLock { $0[name.rawValue + (hasError ? " with error" : ""), default: 0] += 1 }
                }
            }
            defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
            let credential = try Credential.store(.fixture(id: id))
            try? await credential.refresh()
            try credential.remove()
            let expected = [
                "com.okta.credential.created": 1, "com.okta.defaultCredentialChanged": 1,
                "com.okta.credential.refresh.failed with error": 1,
                "com.okta.credential.removed": 1,
            ]
            // The main actor posts the notifications asynchronously.
            while seen.withLock({ $0.count }) < expected.count { await MainActor.run {} }
            #expect(seen.withLock { $0 } == expected)
        }
    }
}

@Suite("Requests of a credential")
struct CredentialResourcesTests {
    private let session = ScriptedIssuer()

    @Test("Concurrent calls for a credential's UserInfo send one request, and the result is kept after a refresh")
    func cachesUserInfo() async throws {
        let gate = Gate()
        session.on("/v1/userinfo") { _, _ in
            await gate.wait()
            return .json(#"{"sub":"00u1","name":"Jane Doe"}"#)
        }
        session.on("/v1/token") { _, _ in .tokens("access-2") }
        try await Credential.withStorage(MemoryTokenStorage(), session: session) {
            let credential = try Credential.store(.fixture())
            let before: UserInfo? = credential.userInfo
            #expect(before == nil)
            async let one = credential.userInfo()
            async let two = credential.userInfo()
            while session.requests("/v1/userinfo").isEmpty { await Task.yield() }
            gate.open()
            #expect(try await one.name == "Jane Doe")
            #expect(try await two.subject == "00u1")
            try await credential.refresh()
            #expect(try await credential.userInfo().name == "Jane Doe")
            // Apps use a property and a method with the same name.
            guard let kept = Credential.default?.userInfo else { throw InvalidFixture() }
            let fetched = try await Credential.default?.userInfo()
            #expect(kept.name == "Jane Doe" && fetched?.name == "Jane Doe")
        }
        #expect(session.requests("/v1/userinfo").map { $0.value(forHTTPHeaderField: "Authorization") } == ["Bearer access-1"])
    }

    @Test("After a failed UserInfo request, the next call sends a new request")
    func retriesUserInfo() async throws {
        session.on("/v1/userinfo") { _, count in
            count == 0 ? .json(#"{"error":"invalid_token"}"#, status: 401) : .json(#"{"sub":"00u1"}"#)
        }
        try await Credential.withStorage(MemoryTokenStorage(), session: session) {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.userInfo() }
            #expect(try await credential.userInfo().subject == "00u1")
        }
    }

    @Test("Credential.introspect sends the token of the requested type")
    func introspects() async throws {
        session.on("/v1/introspect") { _, _ in .json(#"{"active":true,"username":"jane"}"#) }
        try await Credential.withStorage(MemoryTokenStorage(), session: session) {
            let credential = try Credential.store(.fixture())
            #expect(try await credential.introspect(.refreshToken).active == true)
            #expect(session.forms("/v1/introspect").map { $0["token"] } == ["refresh-1"])
        }
    }
}
