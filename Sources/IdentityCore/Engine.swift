package import Crypto
package import Foundation
internal import JOSE
package import Store

/// The rules of the authorization server: who may sign in, what they are given, what is refused and why.
///
/// It knows no HTTP, no SQL, and has no clock or randomness of its own: a front door hands it requests with their time,
/// the store keeps what it decides. Safe from any task; its own state is caches and counters behind short locks.
package final class Engine: Sendable, Redacted {
    /// Where records and tickets are kept.
    package let store: any Store
    /// What the engine is given from outside.
    package let environment: EngineEnvironment
    /// Counts requests per client, address and user name.
    package let rateLimiter = RateLimiter()
    /// Slows down clients that poll too fast.
    package let pollPacer = PollPacer()
    /// Keeps messages to one number or address apart.
    package let messagePacer = MessagePacer()
    /// Keeps recoveries of one name apart. A separate table, so that invented names push no number or address out of the other.
    package let recoveryPacer = MessagePacer()

    /// Stands in for accounts that do not exist.
    let decoys: DecoyAccounts

    /// Counts wrong codes and answers of all recoveries together.
    package let recoveryBudget = RecoveryBudget()

    private let observer = Locked<(@Sendable (SecuritySignal) -> Void)?>(nil)
    private let transactionObserver = Locked<(@Sendable (_ id: String) -> Void)?>(nil)
    private let logNumber = Locked<UInt32>(0)
    private let latest = Locked<OrgSnapshot?>(nil)

    /// Makes an engine over a store.
    ///
    /// - Parameters:
    ///   - store: Where records and tickets are kept; the caller closes it.
    ///   - environment: Random bytes, the master key and the password hasher.
    package init(store: any Store, environment: EngineEnvironment) {
        self.store = store
        self.environment = environment
        decoys = DecoyAccounts(environment: environment)
    }

    /// The configuration as the store holds it now.
    ///
    /// - Returns: What was committed before the call, from memory while nothing was written.
    /// - Throws: ``StoreError`` if the store failed, holds no organization yet, or was sealed under another master key.
    package func snapshot() async throws -> OrgSnapshot {
        try await store.read { [self] in try snapshot($0) }
    }

    /// The configuration as it was last read, without asking the store; nil before the first reading.
    ///
    /// It holds what this engine committed itself; it may be older than what another process wrote. Good for finding a server or counting a request; decisions take ``snapshot()``.
    package var latestSnapshot: OrgSnapshot? { latest.withLock { $0 } }

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
    package func removeExpired(now: Date, limit: Int) async throws -> Int {
        try await store.removeExpired(now: now, limit: limit)
    }

    /// Sets the handler for signs of attacks on the organization, for metrics and alerts beside the system log.
    ///
    /// - Parameter report: Called for each signal, from any thread, after the commit. Replaces the previous handler.
    package func observeSignals(_ report: @escaping @Sendable (SecuritySignal) -> Void) {
        observer.withLock { $0 = report }
    }

    /// Reports a signal.
    package func report(_ signal: SecuritySignal) { observer.withLock { $0 }?(signal) }

    /// Sets the handler for changes of sign-in transactions, for requests that wait for one.
    ///
    /// - Parameter report: Called with the transaction's id, from any thread, after each commit of this engine that wrote the record. Replaces
    ///   the previous handler. It learns nothing of what other processes write.
    package func observeTransactions(_ report: @escaping @Sendable (_ id: String) -> Void) {
        transactionObserver.withLock { $0 = report }
    }

    /// Reports the transactions that a commit wrote.
    func reportTransactions(writtenBy changes: [Change]) {
        guard let report = transactionObserver.withLock({ $0 }) else { return }
        for case .put(let record) in changes where record.kind == .transaction { report(record.id) }
    }

    /// Numbers the lines of the system log, from 1 on and round again.
    func nextLogNumber() -> UInt32 {
        logNumber.withLock { number in
            number &+= 1
            return number
        }
    }

    /// The configuration as a view of the store holds it; for use inside `store.read`.
    package func snapshot(_ view: any StoreView) throws -> OrgSnapshot {
        let version = try view.configurationVersion()
        if let known = latest.withLock({ $0 }), known.version == version { return known }
        let fresh = try OrgSnapshot(view, version: version, environment: environment)
        latest.withLock { known in
            if (known?.version ?? -1) < version { known = fresh }
        }
        return fresh
    }
}

/// Where random bytes come from.
package protocol RandomSource: Sendable {
    /// Random bytes fit for secrets.
    /// - Parameter count: How many, at least 1.
    /// - Returns: That many bytes.
    /// - Throws: If the system's source failed; the request then fails.
    func bytes(_ count: Int) throws -> [UInt8]
}

/// What the engine is given from outside: it has no clock, no randomness, no network and no key of its own.
package struct EngineEnvironment: Sendable, Redacted {
    /// Where ids and secrets come from.
    package var random: any RandomSource
    /// Encrypts signing keys and client secrets at rest; 32 bytes.
    package var masterKey: SymmetricKey
    /// Hashes passwords on threads of its own.
    package var passwordHasher: PasswordHasher
    /// Judges the codes of tokens that another system knows (RSA SecurID, Symantec VIP); nil where there are none.
    package var tokenService: (any TokenService)?
    /// The lookup of breached passwords, which are refused as new passwords; `nil` uses the built-in list only.
    package var breachedPasswords: (any BreachedPasswordSource)?

    /// Collects what the engine needs.
    package init(
        random: any RandomSource, masterKey: SymmetricKey, passwordHasher: PasswordHasher, tokenService: (any TokenService)? = nil,
        breachedPasswords: (any BreachedPasswordSource)? = nil
    ) {
        self.breachedPasswords = breachedPasswords
        self.tokenService = tokenService
        self.random = random
        self.masterKey = masterKey
        self.passwordHasher = passwordHasher
    }
}

/// What the engine knows of a request beside its content.
package struct RequestContext: Sendable {
    /// The server's wall clock when the request arrived.
    package var now: Date
    /// Unique per request; in the answer's `x-okta-request-id` and in the log.
    package var requestID: String
    /// The peer's address, as the front door trusts it.
    package var address: String?
    /// The peer's `User-Agent`.
    package var userAgent: String?

    /// What a back end calls the device that it speaks for (`X-Device-Token`, at most 32 characters); not to be believed of others.
    package var deviceToken: String?

    /// The secret that the hosted pages gave the browser after a sign-in, by which they recognize its device; `nil` if the request has none.
    package var browserDevice: String?

    /// The name of the trusted caller whose back end has ``address``, if it forwards no address of its users; `nil` otherwise.
    package var backEnd: String?

    /// Describes a request.
    package init(now: Date, requestID: String, address: String? = nil, userAgent: String? = nil, deviceToken: String? = nil) {
        self.now = now
        self.requestID = requestID
        self.address = address
        self.userAgent = userAgent
        self.deviceToken = deviceToken
    }
}

extension RequestContext: Redacted {
    /// The request's id; it never identifies a device or a browser.
    package var description: String { "RequestContext(\(requestID))" }
}
