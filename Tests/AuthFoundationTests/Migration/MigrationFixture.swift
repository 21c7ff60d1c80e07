import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

/// A device whose Keychain has the entries of other SDKs, and an app that has just replaced its SDK with this package.
struct MigrationFixture {
    static let client = "0oa1Abcdefghijklmnop"
    static let issuer = "https://id.example.com/oauth2/default"
    static let tokens = "com.countersign.tokens"

    let clock = ManualClock()
    let device: KeychainDouble
    let keychain: WatchedKeychain
    let storage: KeychainTokenStorage
    /// Answers no request, so that a request would fail a test that counts them.
    let session = ScriptedIssuer()
    let suite = "com.countersign.tests.\(Randomness.system.identifier)"

    init(groups: [String] = ["app", "shared"]) {
        device = KeychainDouble(clock: clock)
        keychain = WatchedKeychain(KeychainDouble.App(device: device, groups: groups))
        storage = KeychainTokenStorage(keychain, clock: clock)
    }

    /// Stores an entry as another SDK does.
    func put(
        _ value: Data, account: String = client, service: String = "", group: String? = nil,
        _ accessibility: Keychain.Accessibility = .unlockedThisDeviceOnly, accessControl: KeychainProtection.AccessControl? = nil,
        isSynchronizable: Bool = false
    ) {
        var item = KeychainRecord(
            service: service, account: account, accessGroup: group,
            protection: KeychainProtection(accessibility, accessControl: accessControl), value: value)
        item.isSynchronizable = isSynchronizable
        #expect(keychain.add(item, context: nil) == KeychainStatus.success)
    }

    /// Replaces the value of an entry, as the other SDK does at the next sign-in.
    func replace(_ value: Data, account: String = client, service: String = "") {
        let query = KeychainQuery(service: service, account: account)
        #expect(keychain.update(query, KeychainChanges(value: value), context: nil) == KeychainStatus.success)
    }

    /// Runs code of the app.
    func run<T>(_ body: () async throws -> T) async throws -> T {
        defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
        return try await Credential.withStorage(storage, session: session, clock: clock) { try await body() }
    }

    func legacyOIDC(
        _ clientId: String? = client, originals: Migration.Originals = .keep, in more: [any KeychainAccess] = []
    ) -> Migration.LegacyOIDC {
        Migration.LegacyOIDC(SessionDraft.Expectation(clientId: clientId), originals: originals, keychains: [keychain] + more)
    }

    func appAuth(
        _ location: Migration.Location, _ expected: SessionDraft.Expectation = .init(), originals: Migration.Originals = .keep
    ) -> Migration.AppAuth {
        let source = AppAuthSource(location: location, expected: expected, keychains: [keychain])
        return Migration.AppAuth(source, originals: originals, notesSuite: suite)
    }

    /// Imports an archive of AppAuth and returns its token.
    func imported(_ archive: AppAuthArchive, _ expected: SessionDraft.Expectation = .init()) async throws -> Token {
        try await run {
            let report = appAuth(.data(archive.data, name: archive.rawValue), expected).migrateSessions()
            #expect(report.items.map(\.outcome) == [.imported])
            return try #require(try Credential.loadDefault()).token
        }
    }

    /// Returns a Keychain to which other programs of the user can write, as the file-based one of macOS, with one item.
    func openKeychain(_ value: Data, account: String = client) -> WatchedKeychain {
        let open = WatchedKeychain(KeychainDouble.App(device: KeychainDouble(clock: clock)))
        open.hidesGroups.exchange(true)
        let item = KeychainRecord(service: "", account: account, protection: KeychainProtection(.unlocked), value: value)
        #expect(open.add(item, context: nil) == KeychainStatus.success)
        return open
    }

    static func issuerURL() throws -> URL { try url(issuer) }

    /// The accounts of the entries of a service.
    func accounts(_ service: String) -> [String] { device.records(of: service).map(\.account).sorted() }
}

/// A Keychain that records its calls, and that a test can make fail.
final class WatchedKeychain: KeychainAccess {
    private struct State {
        var reads: [KeychainQuery] = []
        var failures: [Failure] = []
        /// Runs once, before the next read.
        var beforeRead: Action?
    }

    private struct Action: Sendable {
        let run: @Sendable () -> Void
    }

    /// A call that fails.
    struct Failure: Sendable {
        enum Call: Sendable { case add, list, read, update, delete }

        let call: Call
        let service: String
        var status: OSStatus = -25_291
    }

    private let base: any KeychainAccess
    private let state = Locked(State())
    /// Whether lists do not tell that an item requires the user, as the system's lists do for items of other SDKs.
    let hidesAccessControl = Locked(false)
    /// Whether lists do not return the access control of an item.
    let hidesObjects = Locked(false)
    /// Whether items have no access group, as in the file-based Keychain of macOS.
    let hidesGroups = Locked(false)
    /// Whether reads of tokens return another token than was stored.
    let changesReads = Locked(false)

    init(_ base: any KeychainAccess) { self.base = base }

    /// The reads of values so far.
    var reads: [KeychainQuery] { state.withLock { $0.reads } }

    func fail(_ call: Failure.Call, _ service: String, status: OSStatus = -25_291) {
        state.withLock { $0.failures.append(Failure(call: call, service: service, status: status)) }
    }

    /// Runs a function once, right before the next read.
    func beforeRead(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.beforeRead = Action(run: action) } }

    func succeed() { state.withLock { $0.failures = [] } }

    private func failure(_ call: Failure.Call, _ service: String?) -> OSStatus? {
        state.withLock { $0.failures.first { $0.call == call && $0.service == service }?.status }
    }

    func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus {
        failure(.add, item.service) ?? base.add(item, context: context)
    }

    func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> {
        if let status = failure(.list, query.service) { return .failure(KeychainStatus(status)) }
        return base.list(query).map { records in
            records.map { record in
                var record = record
                if hidesAccessControl.withLock({ $0 }) { record.protection.accessControl = nil }
                if hidesObjects.withLock({ $0 }) { record.accessControlObject = nil }
                if hidesGroups.withLock({ $0 }) { record.accessGroup = nil }
                return record
            }
        }
    }

    func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus> {
        let action = state.withLock { state in
            state.reads.append(query)
            defer { state.beforeRead = nil }
            return state.beforeRead
        }
        action?.run()
        if let status = failure(.read, query.service) { return .failure(KeychainStatus(status)) }
        return base.read(query, prompt: prompt, context: context).map { record in
            guard changesReads.withLock({ $0 }), record.service == MigrationFixture.tokens else { return record }
            var record = record
            record.value = record.value.map { Data(String(decoding: $0, as: UTF8.self).replacing("access-", with: "changed-").utf8) }
            return record
        }
    }

    func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
        failure(.update, query.service) ?? base.update(query, changes, context: context)
    }

    func delete(_ query: KeychainQuery) -> OSStatus { failure(.delete, query.service) ?? base.delete(query) }
}
