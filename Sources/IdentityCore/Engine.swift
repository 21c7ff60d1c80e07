package import Crypto
package import Foundation
internal import JOSE
internal import NIOConcurrencyHelpers
package import Store

/// The rules of the authorization server: they decide about sign-ins, tokens, devices and keys. The engine contains no HTTP and no SQL, and
/// has no clock or randomness of its own: protocol modules pass requests with their time, and the store keeps the results. Safe from any
/// task: a lock guards each of the engine's caches and counters.
package final class Engine: Sendable, Redacted {
    package let store: any Store
    package let environment: EngineEnvironment
    /// Counts requests per client, address and user name.
    package let rateLimiter = RateLimiter()
    /// Slows down clients that poll too fast.
    package let pollPacer = PollPacer()
    /// Limits how often messages are sent to one phone number or mail address, and how often recovery starts for one user name.
    package let messagePacer = MessagePacer()

    /// Computes the responses for user names without an account.
    let decoys: DecoyAccounts

    /// The handlers of this engine. A struct, because a locked box of a bare closure would wrap the closure again at each access.
    private struct Observers: Sendable {
        var courier: (any Courier)?
        var signals: (@Sendable (SecuritySignal) -> Void)?
        var transactions: (@Sendable (_ id: String) -> Void)?
        var events: (@Sendable (_ type: String, LogEvent.Outcome) -> Void)?
    }

    private let observers = NIOLockedValueBox(Observers())
    private let logNumber = NIOLockedValueBox<UInt32>(0)
    private let latest = NIOLockedValueBox<Latest>(Latest())
    private let configurationAge: Duration

    /// The newest configuration that this engine has read.
    private struct Latest: Sendable {
        var snapshot: OrgSnapshot?
        /// The time of the last read that found this configuration in the store.
        var confirmedAt: ContinuousClock.Instant?
    }

    /// Creates an engine over a store, which the caller closes.
    /// - Parameter configurationAge: The time for which requests that make no decision, such as discovery, use the configuration without
    ///   asking the store whether another server has changed it.
    package init(store: any Store, environment: EngineEnvironment, configurationAge: Duration = .seconds(1)) {
        self.store = store
        self.environment = environment
        self.configurationAge = configurationAge
        decoys = DecoyAccounts(environment: environment)
    }

    /// Returns the current configuration: from memory if it is unchanged since the last read. Throws ``StoreError`` if the store failed,
    /// contains no organization yet, or was sealed under another master key.
    package func snapshot() async throws -> OrgSnapshot {
        try await store.read { [self] in try snapshot($0) }
    }

    /// The configuration that this engine last read or committed; `nil` before the first read. Does not read the store, so changes by
    /// another process may be missing. Use it to find an authorization server or to count a request; decisions use ``snapshot()``.
    package var latestSnapshot: OrgSnapshot? { latest.withLockedValue { $0.snapshot } }

    /// ``latestSnapshot``, if a read within the last `configurationAge` confirmed it; otherwise `nil`.
    package var recentSnapshot: OrgSnapshot? {
        let known = latest.withLockedValue { $0 }
        guard let confirmedAt = known.confirmedAt, confirmedAt.duration(to: .now) < configurationAge else { return nil }
        return known.snapshot
    }

    /// Reads the configuration that was just committed, to update ``latestSnapshot``. An error is ignored: the commit succeeded, and the
    /// next decision reads the store again.
    func readAgain() async { _ = try? await snapshot() }

    /// Removes expired rows from the store, and lines of the system log that are older than its retention time, at most `limit` (at least
    /// 1) in all. Returns the number of removed rows; if it equals `limit`, more may remain.
    package func removeExpired(now: Date, limit: Int) async throws -> Int {
        let removed = try await store.removeExpired(now: now, limit: limit)
        return try await removed + removeOldLogLines(now: now, limit: limit - removed)
    }

    /// Sets the handler for signs of attacks on the organization, which feed metrics and alerts besides the system log. Replaces the
    /// previous handler. Called for each signal after the commit, from any thread.
    package func observeSignals(_ report: @escaping @Sendable (SecuritySignal) -> Void) {
        observers.withLockedValue { $0.signals = report }
    }

    package func report(_ signal: SecuritySignal) { observers.withLockedValue { $0.signals }?(signal) }

    /// The courier that sends the deliveries of this engine's commits; `nil` discards them.
    package var courier: (any Courier)? {
        get { observers.withLockedValue { $0.courier } }
        set { observers.withLockedValue { $0.courier = newValue } }
    }

    /// Sets the handler for changes of sign-in transactions, used by requests that wait for one. Replaces the previous handler. Called with
    /// the transaction's id, from any thread, after each commit of this engine that wrote the record; commits of other processes are not
    /// reported.
    package func observeTransactions(_ report: @escaping @Sendable (_ id: String) -> Void) {
        observers.withLockedValue { $0.transactions = report }
    }

    /// Sets the handler for lines of the system log, which feed metrics. Replaces the previous handler. Called after the commit, from any
    /// thread.
    package func observeEvents(_ report: @escaping @Sendable (_ type: String, LogEvent.Outcome) -> Void) {
        observers.withLockedValue { $0.events = report }
    }

    func reportEvents(_ events: [LoggedEvent]) {
        guard !events.isEmpty, let report = observers.withLockedValue({ $0.events }) else { return }
        for event in events { report(event.type, event.outcome) }
    }

    func reportTransactions(writtenBy changes: [Change]) {
        guard let report = observers.withLockedValue({ $0.transactions }) else { return }
        for case .put(let record) in changes where record.kind == .transaction { report(record.id) }
    }

    /// Returns the next number for a line of the system log. Starts at 1 and wraps around.
    func nextLogNumber() -> UInt32 {
        logNumber.withLockedValue { number in
            number &+= 1
            return number
        }
    }

    /// Returns the configuration that a view contains; for use inside `store.read`.
    package func snapshot(_ view: any StoreView) throws -> OrgSnapshot {
        let version = try view.configurationVersion()
        let now = ContinuousClock.now
        let known = latest.withLockedValue { known -> OrgSnapshot? in
            guard known.snapshot?.version == version else { return nil }
            known.confirmedAt = now
            return known.snapshot
        }
        if let known { return known }
        let fresh = try OrgSnapshot(view, version: version, environment: environment)
        latest.withLockedValue { known in
            if (known.snapshot?.version ?? -1) < version { known = Latest(snapshot: fresh, confirmedAt: now) }
        }
        return fresh
    }
}

/// A source of random bytes.
package protocol RandomSource: Sendable {
    /// Returns `count` (at least 1) random bytes that are suitable for secrets. Throws if the system's source failed; the request then
    /// fails.
    func bytes(_ count: Int) throws -> [UInt8]
}

/// The engine's dependencies: randomness, keys and external services.
package struct EngineEnvironment: Sendable, Redacted {
    package var random: any RandomSource
    /// Encrypt signing keys and other secrets at rest; 32 bytes each.
    package var masterKeys: MasterKeys
    package var passwordHasher: PasswordHasher
    /// The service that verifies the codes of tokens of an external system (RSA SecurID, Symantec VIP); `nil` for none.
    package var tokenService: (any TokenService)?
    /// The lookup of breached passwords, which are rejected as new passwords; `nil` uses the built-in list only.
    package var breachedPasswords: (any BreachedPasswordSource)?

    package init(
        random: any RandomSource, masterKeys: MasterKeys, passwordHasher: PasswordHasher, tokenService: (any TokenService)? = nil,
        breachedPasswords: (any BreachedPasswordSource)? = nil
    ) {
        (self.breachedPasswords, self.tokenService, self.random, self.masterKeys) = (breachedPasswords, tokenService, random, masterKeys)
        self.passwordHasher = passwordHasher
    }

    /// Creates an environment with one master key.
    package init(
        random: any RandomSource, masterKey: SymmetricKey, passwordHasher: PasswordHasher, tokenService: (any TokenService)? = nil,
        breachedPasswords: (any BreachedPasswordSource)? = nil
    ) {
        self.init(
            random: random, masterKeys: MasterKeys(masterKey), passwordHasher: passwordHasher, tokenService: tokenService,
            breachedPasswords: breachedPasswords)
    }
}

/// The time, origin and id of a request.
package struct RequestContext: Sendable {
    /// The server's wall clock when the request arrived.
    package var now: Date
    /// The unique id of the request, which is returned in the `x-okta-request-id` header and written to the log.
    package var requestID: String
    /// The client's IP address, after `X-Forwarded-For` was evaluated; `nil` if unknown.
    package var address: String?
    package var userAgent: String?

    /// The token of the user's device, which a back end sends (`X-Device-Token`, at most 32 characters); `nil` if the request has none.
    /// Trusted only from confidential clients.
    package var deviceToken: String?

    /// The secret by which the hosted pages recognize a browser after a sign-in; `nil` if the request has none.
    package var browserDevice: String?

    /// The name of a trusted caller that forwards no user address, so that ``address`` is the address of its back end; `nil` otherwise.
    package var backEnd: String?

    /// The name of the administrator who causes the changes, for the system log; `nil` for requests of users and applications.
    package var administrator: String?

    package init(now: Date, requestID: String, address: String? = nil, userAgent: String? = nil, deviceToken: String? = nil) {
        (self.now, self.requestID, self.address, self.userAgent, self.deviceToken) = (now, requestID, address, userAgent, deviceToken)
    }
}

extension RequestContext: Redacted {
    /// Contains the request's id only, because the other members can identify a device or a browser.
    package var description: String { "RequestContext(\(requestID))" }
}
