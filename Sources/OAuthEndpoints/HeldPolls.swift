internal import Foundation
package import IdentityCore
internal import NIOConcurrencyHelpers
package import ServerHTTP
internal import Store

/// The polls of the token endpoint that wait for a user's decision (CIBA Core 1.0 section 7.3). A held poll is an entry of a table and the
/// suspended task of its request. It occupies no thread and has no timer. Thread-safe.
/// - A change that this process commits wakes the poll at once (``Engine/observeTransactions(_:)``).
/// - For changes by other processes with the same store, one task compares the versions of all awaited transactions in one read, at most
///   every 250 ms and only while a poll waits. The same task ends expired waits.
/// - The number of polls is limited: in total, per client, per address, and to one per transaction. A poll beyond a limit is answered at
///   once.
package final class HeldPolls: Sendable {
    /// The maximum number of polls that are held at the same time.
    package struct Limits: Sendable {
        /// The maximum number of polls of the process.
        package var total: Int
        /// The maximum number of polls of one client, so that one application leaves places to the others.
        package var perClient: Int
        /// The maximum number of polls of one address (for IPv6, of one /64), so that one device leaves places to the others.
        package var perAddress: Int

        /// Creates limits. `perClient` defaults to half of `total`.
        package init(total: Int = 10_000, perClient: Int? = nil, perAddress: Int = 128) {
            self.total = total
            self.perClient = perClient ?? max(1, total / 2)
            self.perAddress = perAddress
        }
    }

    /// The reason why a wait ended.
    enum End: Sendable {
        /// The transaction changed.
        case changed
        /// The deadline has passed.
        case over
        /// The poll lost its place: the client disconnected, a newer poll for the same transaction arrived, or the server shuts down.
        case released
    }

    /// A held poll's place in the table. The poll frees it when it ends.
    struct Place: Sendable {
        fileprivate let id: UInt64
        fileprivate let transactionID: String
    }

    /// The seconds between two reads for the changes of other processes.
    static let readInterval: TimeInterval = 0.25

    private let limits: Limits
    private let store: any Store
    private let clock: any WallClock
    private let state = NIOLockedValueBox(State())

    /// Creates a table and registers it with the engine for changes. The engine then announces the interval of held polls. An engine has at
    /// most one such table.
    package init(engine: Engine, clock: any WallClock, limits: Limits = Limits()) {
        (store, self.clock, self.limits) = (engine.store, clock, limits)
        engine.observeTransactions { [weak self] in self?.transactionChanged($0) }
        engine.pollPacer.expectHeldPolls()
    }

    /// The number of polls with a place.
    package var count: Int { state.withLockedValue { $0.entries.count } }

    /// The number of polls that wait and are not being decided.
    var waitingCount: Int { state.withLockedValue { $0.entries.values.count { $0.wait != nil } } }

    /// Whether the watching task runs.
    var isWatching: Bool { state.withLockedValue { $0.watcher != nil } }

    /// The current time of the clock that ends waits.
    var now: Date { clock.now }

    /// Takes a place for a poll. An earlier poll for the same transaction loses its place. Returns `nil` if a limit is reached or the
    /// server shuts down.
    func place(for awaited: AwaitedDecision, address: String?) -> Place? {
        let subject = address.map(RateLimiter.Subject.from)
        let (place, earlier) = state.withLockedValue { state -> (Place?, Continuation?) in
            guard !state.isShutDown else { return (nil, nil) }
            let earlier = state.remove(awaited.transactionID)?.wait?.continuation
            guard state.entries.count < limits.total, state.clients[awaited.clientID, default: 0] < limits.perClient,
                subject.map({ state.addresses[$0, default: 0] < limits.perAddress }) ?? true
            else { return (nil, earlier) }
            return (state.add(awaited, subject), earlier)
        }
        earlier?.resume(returning: .released)
        return place
    }

    /// Frees a place. A pending wait at this place ends with ``End/released``, and so does every later wait.
    func leave(_ place: Place) {
        let waiting = state.withLockedValue { state -> Continuation? in
            guard state.entries[place.transactionID]?.id == place.id else { return nil }
            return state.remove(place.transactionID)?.wait?.continuation
        }
        waiting?.resume(returning: .released)
    }

    /// Ends the waits of all held polls. No further poll is held.
    package func shutdown() {
        let (waiting, watcher) = state.withLockedValue { state in
            state.isShutDown = true
            return (state.entries.keys.compactMap { state.remove($0)?.wait?.continuation }, state.watcher)
        }
        watcher?.cancel()
        for continuation in waiting { continuation.resume(returning: .released) }
    }

    /// Waits at a place until the transaction has another version, until the deadline, or until the poll loses its place. Cancelling the
    /// task frees the place.
    func wait(at place: Place, version: Int64, until deadline: Date) async -> End {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = clock.now
                let end = state.withLockedValue { state -> End? in
                    // The cancellation handler may have run before this.
                    guard var entry = state.entries[place.transactionID], entry.id == place.id, !Task.isCancelled else { return .released }
                    guard !entry.isChanged else {
                        state.entries[place.transactionID]?.isChanged = false
                        return .changed
                    }
                    guard now < deadline else { return .over }
                    entry.wait = Wait(version: version, start: now, deadline: deadline, continuation: continuation)
                    state.entries[place.transactionID] = entry
                    if state.watcher == nil { state.watcher = Task { await watch() } }
                    return nil
                }
                if let end { continuation.resume(returning: end) }
            }
        } onCancel: {
            leave(place)
        }
    }

    private func transactionChanged(_ id: String) {
        let waiting = state.withLockedValue { state -> Continuation? in
            if let waiting = state.wake(id) { return waiting }
            // The poll is being decided on an older read, so its next wait must end at once.
            state.entries[id]?.isChanged = true
            return nil
        }
        waiting?.resume(returning: .changed)
    }

    /// Runs while a poll waits.
    private func watch() async {
        var nextRead = clock.now.addingTimeInterval(Self.readInterval)
        while let pause = pause(until: nextRead) {
            do {
                try await clock.sleep(for: .seconds(pause))
            } catch {
                // The shutdown cancelled the task. Any other failure of the clock must not leave polls without an end.
                return shutdown()
            }
            endWaits()
            let now = clock.now
            // A clock that was set back must not delay the read.
            guard now >= nextRead || now < nextRead.addingTimeInterval(-Self.readInterval) else { continue }
            await readVersions()
            nextRead = clock.now.addingTimeInterval(Self.readInterval)
        }
    }

    /// The minimum number of seconds between two checks of all waits, because a check takes time in proportion to their number. A wait can
    /// end later than its deadline by this time.
    private static let shortestPause = 0.05

    /// Returns the seconds until the next read or the first deadline; `nil` if no poll waits.
    private func pause(until nextRead: Date) -> TimeInterval? {
        let now = clock.now
        return state.withLockedValue { state in
            let first = state.entries.values.lazy.compactMap(\.wait?.deadline).min()
            guard let first else {
                state.watcher = nil
                return nil
            }
            return max(Self.shortestPause, min(Self.readInterval, min(nextRead, first).timeIntervalSince(now)))
        }
    }

    /// Ends the waits whose deadline has passed. Also ends waits that started after the current time: the clock was set back, and their
    /// deadline is too far away.
    private func endWaits() {
        let now = clock.now
        let waiting = state.withLockedValue { state in
            let over = state.entries.filter { _, entry in entry.wait.map { now >= $0.deadline || now < $0.start } ?? false }
            return over.keys.compactMap { state.wake($0) }
        }
        for continuation in waiting { continuation.resume(returning: .over) }
    }

    /// Wakes the polls whose transaction another process changed or removed.
    private func readVersions() async {
        let asked = state.withLockedValue { $0.entries.compactMapValues { $0.wait?.version } }
        let ids = Array(asked.keys)
        guard !ids.isEmpty else { return }
        // A failed read is repeated 250 ms later. The poll itself reports a lasting failure at its deadline.
        guard let found = try? await store.read({ try $0.versions(of: .transaction, ids: ids) }) else { return }
        let waiting = state.withLockedValue { state in
            // A poll that now waits for another version has read the store since then.
            asked.filter { id, version in found[id] != version && state.entries[id]?.wait?.version == version }.keys
                .compactMap { state.wake($0) }
        }
        for continuation in waiting { continuation.resume(returning: .changed) }
    }
}

extension HeldPolls {
    private typealias Continuation = CheckedContinuation<End, Never>

    private struct Wait {
        let version: Int64
        let start: Date
        let deadline: Date
        let continuation: Continuation
    }

    private struct Entry {
        let id: UInt64
        let clientID: String
        let address: RateLimiter.Subject?
        /// Whether the transaction changed while the poll did not wait.
        var isChanged = false
        /// The pending wait; `nil` while the poll is being decided.
        var wait: Wait?
    }

    private struct State {
        /// The entries by transaction.
        var entries: [String: Entry] = [:]
        var clients: [String: Int] = [:]
        var addresses: [RateLimiter.Subject: Int] = [:]
        var lastID: UInt64 = 0
        /// The task that runs ``HeldPolls/watch()``; `nil` while no poll waits.
        var watcher: Task<Void, Never>?
        var isShutDown = false

        mutating func add(_ awaited: AwaitedDecision, _ address: RateLimiter.Subject?) -> Place {
            lastID += 1
            entries[awaited.transactionID] = Entry(id: lastID, clientID: awaited.clientID, address: address)
            clients[awaited.clientID, default: 0] += 1
            if let address { addresses[address, default: 0] += 1 }
            return Place(id: lastID, transactionID: awaited.transactionID)
        }

        mutating func remove(_ transactionID: String) -> Entry? {
            guard let entry = entries.removeValue(forKey: transactionID) else { return nil }
            clients.countDown(entry.clientID)
            if let address = entry.address { addresses.countDown(address) }
            return entry
        }

        /// Removes and returns the continuation of a waiting poll, which keeps its place; `nil` if the poll does not wait.
        mutating func wake(_ transactionID: String) -> Continuation? {
            guard let wait = entries[transactionID]?.wait else { return nil }
            entries[transactionID]?.wait = nil
            return wait.continuation
        }
    }
}

extension Dictionary where Value == Int {
    fileprivate mutating func countDown(_ key: Key) {
        guard let count = self[key] else { return }
        self[key] = count > 1 ? count - 1 : nil
    }
}

extension StoreView {
    /// Returns the versions of the records that exist, by id.
    fileprivate func versions(of kind: RecordKind, ids: [String]) throws -> [String: Int64] {
        var versions: [String: Int64] = [:]
        for id in ids { versions[id] = try record(kind, id: id)?.version }
        return versions
    }
}
