public import AuthFoundation

/// A sign-out flow. Flows are actors.
public protocol LogoutFlow: Actor, UsesDelegateCollection {
    /// Whether a sign-out is under way.
    var inProgress: Bool { get }

    /// Cancels the current sign-out.
    func cancel()

    /// Resets the flow and cancels the current sign-out.
    func reset()
}

/// Observes a sign-out. Methods are called on the main actor.
public protocol LogoutFlowDelegate: AnyObject {
    /// Called when a sign-out has failed.
    func logout<Flow>(flow: Flow, received error: OAuth2Error)
}

extension LogoutFlowDelegate {
    /// Does nothing.
    public func logout<Flow>(flow: Flow, received error: OAuth2Error) {}
}
