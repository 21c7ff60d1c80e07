import AuthFoundation

/// What a flow knows of the sign-in under way: at most one, of which at most one call waits for something.
///
/// A newer sign-in, a reset, and a newer call of the same sign-in supersede the call under way, whose caller leaves at once with
/// `OAuth2Error.invalidContext`. Safe from any thread or task.
final class SignInProgress<Context: Sendable>: Sendable {
    private struct State {
        var context: Context?
        var isAuthenticating = false
        /// The call under way; one that is not the same has been superseded.
        var call: (any OpenCall)?
    }

    private let state = Locked(State())

    var context: Context? { state.withLock { $0.context } }
    var isAuthenticating: Bool { state.withLock { $0.isAuthenticating } }

    /// Begins a sign-in, and gives up the one before it.
    func begin(_ context: Context, _ call: any OpenCall) {
        replace(State(context: context, isAuthenticating: true, call: call))
    }

    /// Forgets the sign-in.
    func reset() {
        replace(State())
    }

    private func replace(_ new: State) {
        let superseded = state.withLock { state in
            defer { state = new }
            return state.call
        }
        superseded?.leave(OAuth2Error.invalidContext)
    }

    /// Goes on with a sign-in, if it still waits for that: one look and one change, so that of two who come at once one is refused.
    ///
    /// - Parameters:
    ///   - call: The call that goes on.
    ///   - claim: Says whether this is the sign-in, and marks it.
    /// - Throws: `OAuth2Error.invalidContext` if it is not; nothing has changed then.
    func proceed(_ call: any OpenCall, claim: (inout Context) -> Bool) throws {
        let superseded = try state.withLock { state -> (any OpenCall)? in
            guard var context = state.context, claim(&context) else { throw OAuth2Error.invalidContext }
            state.context = context
            defer { state.call = call }
            return state.call
        }
        superseded?.leave(OAuth2Error.invalidContext)
    }

    /// Takes over what a call has brought; the sign-in goes on.
    ///
    /// - Throws: `CancellationError` if the call's task was cancelled, `OAuth2Error.invalidContext` if it has been superseded.
    func advance(by call: any OpenCall, isCancelled: Bool, _ change: (inout Context) -> Void) throws {
        try state.withLock { state in
            if isCancelled { throw CancellationError() }
            guard state.call === call, var context = state.context else { throw OAuth2Error.invalidContext }
            change(&context)
            state.context = context
            state.call = nil
        }
    }

    /// Ends the sign-in with the tokens that a call has brought.
    ///
    /// - Throws: What ``advance(by:isCancelled:_:)`` throws; the sign-in has not ended then.
    func succeed(by call: any OpenCall, isCancelled: Bool) throws {
        try state.withLock { state in
            if isCancelled { throw CancellationError() }
            guard state.call === call else { throw OAuth2Error.invalidContext }
            state = State()
        }
    }

    /// Forgets the sign-in, unless something has superseded the call.
    func end(by call: any OpenCall) {
        state.withLock { if $0.call === call { $0 = State() } }
    }
}

/// A call that something else can supersede.
protocol OpenCall: AnyObject, Sendable {
    /// Decides the call by an error, unless it is decided.
    func leave(_ error: any Error)
}

extension FlowCall: OpenCall {}
