public import Foundation
public import JOSE

/// The rules of the authorization server: who may sign in, what they are given, what is refused and why.
///
/// It knows no HTTP, no SQL, and has no clock or randomness of its own: a front door hands it requests with their time,
/// the store keeps what it decides. Safe from any task; its own state is caches and counters behind short locks.
public final class IdentityEngine: Sendable, Redacted {
    /// Where records and tickets are kept.
    let store: any Store
    /// What the engine is given from outside.
    let environment: EngineEnvironment
    /// Counts requests per client, address and user name.
    let rateLimiter = RateLimiter()
    /// Judges proofs of possession.
    let proofs: ProofJudge
    /// Slows down clients that poll too fast.
    let pollPacer = PollPacer()
    /// Keeps messages to one number or address apart.
    let messagePacer = MessagePacer()
    /// Keeps recoveries of one name apart. A table of its own: names that somebody invents push no number or address out of the other.
    let recoveryPacer = MessagePacer()

    /// Stands in for accounts that do not exist.
    let decoys: DecoyAccounts

    /// Counts wrong codes and answers of all recoveries together.
    let recoveryBudget = RecoveryBudget()

    private let observer = Locked<(@Sendable (SecuritySignal) -> Void)?>(nil)
    private let logNumber = Locked<UInt32>(0)
    private let latest = Locked<OrgSnapshot?>(nil)

    /// Makes an engine over a store.
    ///
    /// - Parameters:
    ///   - store: Where records and tickets are kept; the caller closes it.
    ///   - environment: Random bytes, the master key and the password hasher.
    public init(store: any Store, environment: EngineEnvironment) {
        self.store = store
        self.environment = environment
        proofs = ProofJudge(masterKey: environment.masterKey)
        decoys = DecoyAccounts(environment: environment)
    }

    /// The configuration as the store holds it now.
    ///
    /// - Returns: What was committed before the call, from memory while nothing was written.
    /// - Throws: ``StoreError`` if the store failed, holds no organization yet, or was sealed under another master key.
    public func snapshot() async throws -> OrgSnapshot {
        try await store.read { [self] in try snapshot($0) }
    }

    /// The configuration as it was last read, without asking the store; nil before the first reading.
    ///
    /// It holds what this engine committed itself; it may be older than what another process wrote. Good for finding a server or counting a request; decisions take ``snapshot()``.
    public var latestSnapshot: OrgSnapshot? { latest.withLock { $0 } }

    /// Reads the configuration that was just committed, so that ``latestSnapshot`` has it. It is committed whether or not it can be
    /// read: a failing store shows itself at the next decision.
    func readAgain() async { _ = try? await snapshot() }

    /// Removes what expired from the store.
    ///
    /// - Parameters:
    ///   - now: What expired before it goes.
    ///   - limit: The most rows to remove in one call, at least 1.
    /// - Returns: How many were removed; equal to `limit` when there may be more.
    /// - Throws: ``StoreError`` if the store failed.
    public func removeExpired(now: Date, limit: Int) async throws -> Int {
        try await store.removeExpired(now: now, limit: limit)
    }

    /// Sets the handler for signs of attacks on the organization, for metrics and alerts beside the system log.
    ///
    /// - Parameter report: Called for each signal, from any thread, after the commit. Replaces the previous handler.
    public func observeSignals(_ report: @escaping @Sendable (SecuritySignal) -> Void) {
        observer.withLock { $0 = report }
    }

    /// Reports a signal.
    func report(_ signal: SecuritySignal) { observer.withLock { $0 }?(signal) }

    /// Numbers the lines of the system log, from 1 on and round again.
    func nextLogNumber() -> UInt32 {
        logNumber.withLock { number in
            number &+= 1
            return number
        }
    }

    /// The configuration as a view of the store holds it; for use inside `store.read`.
    func snapshot(_ view: any StoreView) throws -> OrgSnapshot {
        let version = try view.configurationVersion()
        if let known = latest.withLock({ $0 }), known.version == version { return known }
        let fresh = try OrgSnapshot(view, version: version, environment: environment)
        latest.withLock { known in
            if (known?.version ?? -1) < version { known = fresh }
        }
        return fresh
    }
}
