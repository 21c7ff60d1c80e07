import AuthFoundation

/// The state of a flow: at most one sign-in, with at most one running call.
/// A new sign-in, a reset or a new call of the same sign-in supersedes the running call. The superseded call fails at once with
/// `OAuth2Error.invalidContext`. Thread-safe.
final class SignInProgress<Context: Sendable>: Sendable {
    private struct State {
        var context: Context?
        var isAuthenticating = false
        /// The running call. Any other call has been superseded.
        var call: (any OpenCall)?
    }

    private let state = Locked(State())

    var context: Context? { state.withLock { $0.context } }
    var isAuthenticating: Bool { state.withLock { $0.isAuthenticating } }

    /// Starts a sign-in and supersedes the current sign-in.
    func begin(_ context: Context, _ call: any OpenCall) {
        replace(State(context: context, isAuthenticating: true, call: call))
    }

    func reset() {
        replace(State())
    }

    private func replace(_ new: State) {
        state.exchange(new).call?.leave(OAuth2Error.invalidContext)
    }

    /// Starts the next call of a sign-in, in one atomic step: of two concurrent calls, one is rejected.
    /// - Parameter claim: Returns whether the context is the expected one. It can change the context.
    /// - Throws: `OAuth2Error.invalidContext` if `claim` returns false; nothing changes.
    func proceed(_ call: any OpenCall, claim: (inout Context) -> Bool) throws {
        let superseded = try state.withLock { state -> (any OpenCall)? in
            guard var context = state.context, claim(&context) else { throw OAuth2Error.invalidContext }
            state.context = context
            defer { state.call = call }
            return state.call
        }
        superseded?.leave(OAuth2Error.invalidContext)
    }

    /// Stores the result of a call. The sign-in continues.
    /// - Throws: `CancellationError` if the call's task was cancelled; `OAuth2Error.invalidContext` if the call was superseded.
    func advance(by call: any OpenCall, isCancelled: Bool, _ change: (inout Context) -> Void) throws {
        try state.withLock { state in
            if isCancelled { throw CancellationError() }
            guard state.call === call, var context = state.context else { throw OAuth2Error.invalidContext }
            change(&context)
            state.context = context
            state.call = nil
        }
    }

    /// Ends the sign-in after a successful last call.
    /// - Throws: The errors of ``advance(by:isCancelled:_:)``. After an error, the sign-in has not ended.
    func succeed(by call: any OpenCall, isCancelled: Bool) throws {
        try state.withLock { state in
            if isCancelled { throw CancellationError() }
            guard state.call === call else { throw OAuth2Error.invalidContext }
            state = State()
        }
    }

    /// Ends the sign-in, unless the call was superseded.
    func end(by call: any OpenCall) {
        state.withLock { if $0.call === call { $0 = State() } }
    }
}

/// A call that another call or a reset can supersede.
protocol OpenCall: AnyObject, Sendable {
    /// Completes the call with an error, unless it has completed already.
    func leave(_ error: any Error)
}

extension FlowCall: OpenCall {}
