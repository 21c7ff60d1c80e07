import Foundation
import JOSE
import TestSupport
import Testing

@testable import AuthFoundation

/// Sessions in the Keychain that several processes, or several installations of an app, use.
extension KeychainTokenStorageTests {
    // MARK: - One refresh at a time

    private func lease(_ clock: ManualClock? = nil) throws -> KeychainRefreshLease? {
        try KeychainRefreshLease.take(
            "session-1", accessGroup: nil, in: KeychainDouble.App(device: device), clock: clock ?? self.clock, randomness: .system)
    }

    @Test("Only one process has the lease of a token, until it releases the lease")
    func exclusive() throws {
        let first = try #require(try lease())
        #expect(try lease() == nil)
        first.release()
        #expect(try lease() != nil)
    }

    @Test("A process that began to take the lease earlier does not take it from the process that has it")
    func laterOwner() throws {
        let taken = Locked(false)
        device.beforeNextChange { [self] in
            clock.advance(by: 0.001)
            let other = try? lease()
            taken.exchange(other != nil)
        }
        #expect(try lease() == nil)
        #expect(taken.withLock { $0 })
    }

    @Test("A lease ends after its lifetime, and its former owner neither renews nor releases the next one")
    func expired() throws {
        let first = try #require(try lease())
        clock.advance(by: KeychainRefreshLease.lifetime - 1)
        #expect(first.renew())
        clock.advance(by: KeychainRefreshLease.lifetime - 1)
        #expect(try lease() == nil)
        clock.advance(by: 1)
        let second = try #require(try lease())
        #expect(!first.renew())
        first.release()
        #expect(try lease() == nil)
        second.release()
        #expect(try lease() != nil)
    }

    @Test("Of two processes that find an expired lease, one takes it over")
    func takeoverRace() throws {
        _ = try #require(try lease())
        clock.advance(by: KeychainRefreshLease.lifetime)
        let taken = Locked(0)
        // The other process takes the lease over after this one has read it. The first change is the failing addition.
        device.beforeNextChange { [self] in
            device.beforeNextChange { [self] in
                let other = try? lease()
                if other != nil { taken.withLock { $0 += 1 } }
            }
        }
        #expect(try lease() == nil)
        #expect(taken.withLock { $0 } == 1)
    }

    @Test("A lease of a clock that was set back does not block refreshes")
    func clockSetBack() throws {
        _ = try #require(try lease(ManualClock(clock.now.addingTimeInterval(86_400))))
        #expect(try lease() != nil)
    }

    /// Another process takes the lease over from a suspended one, and refreshes the token.
    private func refreshElsewhere() throws {
        clock.advance(by: KeychainRefreshLease.lifetime)
        let other = storage()
        let held = try #require(try other.lockForRefresh(of: "session-1"))
        try on(other) {
            try $0.replace(
                token: "session-1", with: .fixture(access: "of the extension", refresh: "refresh-2", issuedAt: clock.now), security: nil)
        }
        held.release()
    }

    @Test("A suspended process whose request failed does not send the old refresh token again after another process used it")
    func suspendedRequest() async throws {
        let session = ScriptedIssuer(clock: clock)
        session.on("/v1/token") { [self] _, _ in
            try refreshElsewhere()
            return .failing(.networkConnectionLost)
        }
        try await Credential.withStorage(storage(), session: session, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            try await credential.refresh()
            #expect(credential.token.accessToken == "of the extension")
            #expect(session.forms("/v1/token").map { $0["refresh_token"] } == ["refresh-1"])
        }
    }

    @Test("A process that was suspended before its request does not send the refresh token after another process used it")
    func suspendedBeforeRequest() async throws {
        let session = ScriptedIssuer(clock: clock)
        session.on("/v1/token") { _, _ in .tokens("access-2", refresh: "refresh-2") }
        try await Credential.withStorage(storage(), session: session, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            // The first change takes the lease, and the next one renews it for the request.
            device.beforeNextChange { [self] in
                device.beforeNextChange { [self] in
                    do { try refreshElsewhere() } catch { Issue.record(error) }
                }
            }
            try await credential.refresh()
            #expect(credential.token.accessToken == "of the extension")
            #expect(session.requests("/v1/token").isEmpty)
        }
    }

    @Test("A refresh that the server tells to wait is not resent if another process has refreshed the token meanwhile")
    func rateLimited() async throws {
        let clock = ManualClock(sleeps: .skipped)
        let session = ScriptedIssuer(clock: clock)
        session.on("/v1/token") { _, count in
            guard count == 0 else { return .tokens("access-2", refresh: "refresh-2") }
            return ScriptedIssuer.Reply(
                status: 429,
                headers: [
                    "x-rate-limit-limit": "4", "x-rate-limit-remaining": "0",
                    "x-rate-limit-reset": "\(Int(clock.now.timeIntervalSince1970) + 60)",
                    "date": httpDate(Int64(clock.now.timeIntervalSince1970)),
                ])
        }
        clock.atSleep { [self] in
            do { try refreshElsewhere() } catch { Issue.record(error) }
        }
        let storage = KeychainTokenStorage(KeychainDouble.App(device: device), clock: clock)
        try await Credential.withStorage(storage, session: session, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            // The clock of the other process is ahead of the first lease.
            self.clock.advance(by: 3600)
            try await credential.refresh()
            #expect(credential.token.accessToken == "of the extension")
            #expect(session.forms("/v1/token").map { $0["refresh_token"] } == ["refresh-1"])
        }
    }

    @Test(
        "A refresh fetches the discovery document and the keys before it takes the lease that excludes other processes",
        arguments: ["openid-configuration", "v1/keys"])
    func preparesFirst(path: String) async throws {
        let session = ScriptedIssuer(clock: clock)
        session.on("/v1/token") { _, _ in .tokens("access-2", refresh: "refresh-2") }
        let leases = Locked<[Int]>([])
        session.atRequest(path) { [device] in
            let count = device.records(of: KeychainRefreshLease.service).count
            leases.withLock { $0.append(count) }
        }
        try await Credential.withStorage(storage(), session: session, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now, claims: ["sub": .string("00u1")]))
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2")
        }
        #expect(leases.withLock { $0 } == [0])
    }

    @Test("While a refreshed ID token is validated with new keys, other processes stay excluded for the lifetime of a lease")
    func renewsForValidation() async throws {
        let session = ScriptedIssuer(clock: clock)
        let isTaken = Locked<Bool?>(nil)
        let new = try session.idToken()
        session.atRequest("/v1/token") { [clock] in clock.advance(by: KeychainRefreshLease.lifetime - 1) }
        session.on("/v1/token") { _, _ in .tokens(["access_token": "access-2", "id_token": new]) }
        session.atRequest("/v1/keys") { [self] in
            clock.advance(by: KeychainRefreshLease.lifetime - 1)
            let other = try? storage().lockForRefresh(of: "session-1")
            isTaken.exchange(other != nil)
        }
        try await Credential.withStorage(storage(), session: session, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            try await credential.refresh()
            #expect(credential.token.accessToken == "access-2" && credential.token.idToken != nil)
        }
        #expect(isTaken.withLock { $0 } == false)
    }

    @Test("If the discovery document is unavailable, a refresh still takes over the token that another process has stored")
    func unavailableDiscovery() async throws {
        let session = ScriptedIssuer(clock: clock)
        session.on("openid-configuration") { [self] _, _ in
            try refreshElsewhere()
            return .init(status: 500)
        }
        try await Credential.withStorage(storage(), session: session, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            try await credential.refresh()
            #expect(credential.token.accessToken == "of the extension")
        }
    }

    @Test("A late response of a suspended process does not replace the newer token of another process")
    func lateResponse() async throws {
        let session = ScriptedIssuer(clock: clock)
        let early = clock.now.addingTimeInterval(1)
        session.on("/v1/token") { [self] _, _ in
            try refreshElsewhere()
            var late = ScriptedIssuer.Reply.tokens("late", refresh: "refresh-late")
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(identifier: "GMT")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            late.headers["Date"] = format.string(from: early)
            return late
        }
        try await Credential.withStorage(storage(), session: session, clock: clock) {
            let credential = try Credential.store(.fixture(issuedAt: clock.now))
            try await credential.refresh()
            #expect(credential.token.accessToken == "of the extension")
            #expect(try on(storage()) { try $0.storedToken(id: "session-1") }.accessToken == "of the extension")
        }
    }

    @Test("If an extension is refreshing a token, the app waits and then uses the extension's new token without a request")
    func takesOverRefresh() async throws {
        let (app, other) = (WaitingKeychain(device: device), storage())
        let storage = KeychainTokenStorage(app, clock: clock)
        try await Credential.withStorage(storage, session: ScriptedIssuer()) {
            let credential = try Credential.store(.fixture())
            let held = try #require(try other.lockForRefresh(of: credential.id))
            async let refreshed: Void = credential.refresh()
            await app.hasWaited.wait()
            try on(other) {
                try $0.replace(token: "session-1", with: .fixture(access: "of the extension", refresh: "refresh-2"), security: nil)
            }
            held.release()
            // The refresh sends no request: the script contains no response.
            try await refreshed
            #expect(credential.token.accessToken == "of the extension")
        }
    }

    @Test("A refresh releases the lease after success and after a failure")
    func releases() async throws {
        let session = ScriptedIssuer()
        session.on("/v1/token") { _, count in count == 0 ? .invalidGrant : .tokens("access-2", refresh: "refresh-2") }
        try await Credential.withStorage(storage(), session: session) {
            let credential = try Credential.store(.fixture())
            await #expect(throws: (any Error).self) { try await credential.refresh() }
            #expect(device.records(of: KeychainRefreshLease.service).isEmpty)
            try await credential.refresh()
            #expect(device.records(of: KeychainRefreshLease.service).isEmpty)
            #expect(credential.token.accessToken == "access-2")
        }
    }

    // MARK: - Installations

    /// Deletes the app, and installs it again a minute later. The Keychain keeps its items.
    private func reinstall() throws {
        try FileManager.default.removeItem(at: marker)
        clock.advance(by: 60)
    }

    @Test("After a new installation, the sessions of the deleted app stay or are removed, as the app chose", arguments: [true, false])
    func reinstalled(removes: Bool) throws {
        let policy = removes ? EarlierInstallation.remove(marker: marker) : .keep
        try on(storage(earlier: policy)) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        // The next start of the same installation.
        #expect(on(storage(earlier: policy)) { $0.allIDs } == ["session-1"])
        if removes { try reinstall() }
        let after = storage(earlier: policy)
        #expect(on(after) { $0.allIDs } == (removes ? [] : ["session-1"]))
        #expect(on(after) { $0.defaultTokenID } == (removes ? nil : "session-1"))
    }

    @Test("An app that begins to remove the sessions of earlier installations keeps those of the current one")
    func policyIntroduced() throws {
        try on(storage()) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        clock.advance(by: 60)
        #expect(on(storage(earlier: .remove(marker: marker))) { $0.allIDs } == ["session-1"])
        #expect(on(storage(earlier: .remove(marker: marker))) { $0.allIDs } == ["session-1"])
    }

    @Test("After a new installation, an extension that starts first does not keep the app's old sessions, nor remove its new ones")
    func extensionFirst() throws {
        let policy = EarlierInstallation.remove(marker: marker)
        func app() -> KeychainTokenStorage { storage(groups: ["app", "shared"], earlier: policy) }
        func appExtension() -> KeychainTokenStorage { storage(groups: ["extension", "shared"], earlier: policy, program: "app.share") }
        try on(app()) { app in
            try app.add(token: .fixture(id: "private"), metadata: nil, security: [])
            try app.add(token: .fixture(id: "shared"), metadata: nil, options: KeychainOptions(accessGroup: "shared"))
        }
        #expect(on(appExtension()) { $0.allIDs } == ["shared"])
        try reinstall()
        #expect(on(appExtension()) { $0.allIDs }.isEmpty)
        clock.advance(by: 60)
        try on(app()) { app in
            #expect(app.allIDs.isEmpty)
            try app.add(token: .fixture(id: "new"), metadata: nil, options: KeychainOptions(accessGroup: "shared"))
        }
        #expect(on(appExtension()) { $0.allIDs } == ["new"])
        #expect(on(app()) { $0.allIDs } == ["new"])
    }

    @Test("A new installation of an app removes neither sessions of other apps' groups nor synchronized sessions")
    func otherSessions() throws {
        let policy = EarlierInstallation.remove(marker: marker, accessGroups: ["app"])
        func app() -> KeychainTokenStorage { storage(groups: ["app", "team"], earlier: policy) }
        try on(app()) { app in
            try app.add(token: .fixture(id: "own"), metadata: nil, security: [])
            try app.add(token: .fixture(id: "of the team"), metadata: nil, options: KeychainOptions(accessGroup: "team"))
        }
        var synchronized = try #require(device.records(of: Self.tokens).first)
        synchronized.account = "synchronized"
        synchronized.isSynchronizable = true
        #expect(KeychainDouble.App(device: device).add(synchronized, context: nil) == KeychainStatus.success)
        try reinstall()
        #expect(on(app()) { $0.allIDs } == ["of the team", "synchronized"])
    }

    @Test("Before the first unlock of the device, no session counts as one of an earlier installation")
    func lockedInstallation() throws {
        try on(storage(earlier: .remove(marker: marker))) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        device.lock = .beforeFirstUnlock
        #expect { try on(storage(earlier: .remove(marker: marker))) { try $0.readAllIDs() } } throws: { isLocked($0) }
        device.lock = .unlocked
        #expect(on(storage(earlier: .remove(marker: marker))) { $0.allIDs } == ["session-1"])
    }

    @Test("A damaged marker of an installation keeps the sessions, and the next new installation removes them", arguments: ["", "{"])
    func damagedMarker(content: String) throws {
        let policy = EarlierInstallation.remove(marker: marker)
        try on(storage(earlier: policy)) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        try Data(content.utf8).write(to: marker)
        for _ in 0..<2 { #expect(on(storage(earlier: policy)) { $0.allIDs } == ["session-1"]) }
        clock.advance(by: 60)
        try reinstall()
        #expect(on(storage(earlier: policy)) { $0.allIDs }.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: marker.deletingLastPathComponent().path) == [marker.lastPathComponent])
    }

    @Test("If the marker of the installation cannot be written, the read fails and no session is lost at the next start")
    func unwritableMarker() throws {
        // A file stands where the marker's folder should be.
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data().write(to: folder.file("installation"))
        let broken = storage(earlier: .remove(marker: marker))
        #expect(throws: (any Error).self) { try on(broken) { try $0.add(token: .fixture(), metadata: nil, security: []) } }
        try FileManager.default.removeItem(at: folder.file("installation"))
        try on(broken) { try $0.add(token: .fixture(), metadata: nil, security: []) }
        #expect(on(storage(earlier: .remove(marker: marker))) { $0.allIDs } == ["session-1"])
    }
}

/// The Keychain of an app, which signals that a lease was refused.
private struct WaitingKeychain: KeychainAccess {
    let hasWaited = Gate()
    private let app: KeychainDouble.App

    init(device: KeychainDouble) { app = KeychainDouble.App(device: device) }

    func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus {
        let status = app.add(item, context: context)
        if item.service == KeychainRefreshLease.service, status == KeychainStatus.duplicateItem { hasWaited.open() }
        return status
    }

    func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> { app.list(query) }

    func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus> { app.read(query, prompt: prompt, context: context) }

    func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
        app.update(query, changes, context: context)
    }

    func delete(_ query: KeychainQuery) -> OSStatus { app.delete(query) }
}
