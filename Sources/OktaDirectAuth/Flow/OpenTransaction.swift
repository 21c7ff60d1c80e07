import AuthFoundation
import Foundation
internal import JOSE

/// The transaction that the server keeps open for one sign-in. Its name is the `mfa_token` or the `oob_code`.
/// If a sign-in is cancelled while the transaction is open, the flow revokes the name like a token (RFC 7009). The server can then withdraw
/// the request on the user's phone. The revocation runs once, in the background. Its result is ignored, because servers without support
/// treat the name as an unknown token. If a response opens a transaction after the cancellation, the flow revokes this transaction too.
/// Thread-safe.
final class OpenTransaction: Sendable {
    private struct State {
        var name: String?
        var end: Date?
        var isAbandoned = false
        var told: Set<String> = []

        /// Returns the name to revoke; `nil` if the transaction is not open or the name was already revoked.
        mutating func takeName(at now: Date) -> String? {
            defer { name = nil }
            guard let name, end.map({ now < $0 }) ?? true else { return nil }
            return told.insert(name).inserted ? name : nil
        }
    }

    private let clock: any OAuth2Clock
    private let sendName: @Sendable (String) -> Void
    private let state = Locked(State())

    /// Creates a closed transaction.
    /// - Parameters:
    ///   - clock: The clock that decides whether the transaction has expired.
    ///   - tell: Starts the revocation of the transaction with this `mfa_token` or `oob_code`, and returns at once. Called at most once for
    ///     each name.
    init(clock: any OAuth2Clock, tell: @escaping @Sendable (String) -> Void) {
        self.clock = clock
        sendName = tell
    }

    convenience init(client: OAuth2Client, background: BackgroundWork = BackgroundWork()) {
        self.init(clock: client.clock) { name in
            background.begin {
                // Best effort: a transaction that was not revoked expires.
                try? await TransactionRevocation.send(name, through: client)
            }
        }
    }

    /// Records that the server has opened the transaction or renamed it.
    /// - Parameters:
    ///   - name: The `mfa_token`, or the `oob_code` of a first factor.
    ///   - end: The expiration time; `nil` if the server does not state it.
    ///   - isAnother: Whether this is a new transaction. If so, the previous transaction is revoked.
    func opened(_ name: String, until end: Date? = nil, isAnother: Bool = false) {
        let now = clock.now
        let toTell = state.withLock { state -> String? in
            let isSame = state.name == name
            let before = isAnother && !isSame ? state.takeName(at: now) : nil
            state.name = name
            state.end = end
            return state.isAbandoned ? state.takeName(at: now) : before
        }
        tell(toTell)
    }

    /// Records that the server has ended the transaction with tokens, an error or expiry.
    func closed() {
        state.withLock { $0.name = nil }
    }

    /// Revokes the transaction, now or when a late response opens it.
    func abandon() {
        let now = clock.now
        let toTell = state.withLock { state -> String? in
            state.isAbandoned = true
            return state.takeName(at: now)
        }
        tell(toTell)
    }

    private func tell(_ name: String?) {
        if let name { sendName(name) }
    }
}

extension OpenTransaction: Redacted {}

struct SignInState {
    typealias Flow = DirectAuthenticationFlow

    var context: Flow.Context?
    var loginHint: String?
    var isAuthenticating = false
    /// The running call. Any other call has been superseded.
    var call: FlowCall<Flow.Status>?
    var transaction: OpenTransaction?

    /// Stores the status that a call has returned.
    /// - Throws: `CancellationError` if the call's task was cancelled; ``DirectAuthenticationFlowError/inconsistentContextState`` if the
    ///   call was superseded. After an error, the state is unchanged.
    mutating func take(_ status: Flow.Status, of call: FlowCall<Flow.Status>, isCancelled: Bool) throws {
        if isCancelled { throw CancellationError() }
        guard self.call === call else { throw DirectAuthenticationFlowError.inconsistentContextState }
        self.call = nil
        context?.currentStatus = status
        if case .success = status { isAuthenticating = false }
    }

    /// Ends the sign-in and returns its transaction, which the caller must abandon.
    mutating func end() -> OpenTransaction? {
        defer { self = SignInState() }
        return transaction
    }

    /// Ends the sign-in and returns its transaction. Returns `nil` and changes nothing if the call was superseded.
    mutating func end(by call: FlowCall<Flow.Status>) -> OpenTransaction? {
        self.call === call ? end() : nil
    }
}
