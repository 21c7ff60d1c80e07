import AuthFoundation
import Foundation
internal import JOSE

/// What the server keeps open for one sign-in: the `mfa_token` or the `oob_code` that names it, until it is answered, refused or expired.
///
/// Who gives the sign-in up before that abandons the transaction, and the server is told (RFC 7009, with that name as the token), so that it
/// withdraws what the person's phone still shows. It is told once, in the background, and whatever becomes of that changes nothing here: a
/// server that doesn't know such names answers like for any unknown token. What comes to light only afterwards, as the answer to a request
/// that was on its way, is told when it does.
///
/// Safe from any thread or task.
final class OpenTransaction: Sendable {
    private struct State {
        var name: String?
        var end: Date?
        var isAbandoned = false
        var told: Set<String> = []

        /// What the server must be told of, if it is open still.
        mutating func takeName(at now: Date) -> String? {
            defer { name = nil }
            guard let name, end.map({ now < $0 }) ?? true else { return nil }
            return told.insert(name).inserted ? name : nil
        }
    }

    private let clock: any OAuth2Clock
    private let sendName: @Sendable (String) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - clock: The clock that knows whether it has expired.
    ///   - tell: Tells the server of a name; it is called once for each, and returns at once.
    init(clock: any OAuth2Clock, tell: @escaping @Sendable (String) -> Void) {
        self.clock = clock
        sendName = tell
    }

    convenience init(client: OAuth2Client, background: BackgroundWork = BackgroundWork()) {
        self.init(clock: client.clock) { name in
            background.begin {
                // Best effort: a transaction of which the server was not told expires by itself.
                try? await TransactionRevocation.send(name, through: client)
            }
        }
    }

    /// The server has opened it, or goes on with it under another name.
    ///
    /// - Parameters:
    ///   - name: The `mfa_token`, or the `oob_code` of a first factor.
    ///   - end: When it expires; nil if the server does not say.
    ///   - isAnother: Whether the server has opened one beside the one that was open, which is then given up.
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

    /// The server has ended it: by tokens, by a refusal, or because its time is over.
    func closed() {
        state.withLock { $0.name = nil }
    }

    /// Nobody goes on with it.
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

/// What a flow knows of the sign-in under way.
struct SignInState {
    typealias Flow = DirectAuthenticationFlow

    var context: Flow.Context?
    var loginHint: String?
    var isAuthenticating = false
    /// The call under way; one that is not the same has been superseded.
    var call: FlowCall<Flow.Status>?
    /// What the server keeps open for the sign-in.
    var transaction: OpenTransaction?

    /// Takes over the status that a call has brought.
    ///
    /// - Throws: `CancellationError` if its task was cancelled, ``DirectAuthenticationFlowError/inconsistentContextState`` if it has been
    ///   superseded; then nothing is taken over.
    mutating func take(_ status: Flow.Status, of call: FlowCall<Flow.Status>, isCancelled: Bool) throws {
        if isCancelled { throw CancellationError() }
        guard self.call === call else { throw DirectAuthenticationFlowError.inconsistentContextState }
        self.call = nil
        context?.currentStatus = status
        if case .success = status { isAuthenticating = false }
    }

    /// Forgets the sign-in.
    ///
    /// - Returns: What nobody goes on with.
    mutating func end() -> OpenTransaction? {
        defer { self = SignInState() }
        return transaction
    }

    /// Forgets the sign-in, unless something has superseded the call.
    mutating func end(by call: FlowCall<Flow.Status>) -> OpenTransaction? {
        self.call === call ? end() : nil
    }
}
