import AuthFoundation

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
