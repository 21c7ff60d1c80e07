public import AuthFoundation

/// A way to sign out.
///
/// A flow is an actor. Its client and settings can be read from anywhere.
public protocol LogoutFlow: Actor, UsesDelegateCollection {
    /// Whether a sign-out is under way.
    var inProgress: Bool { get }

    /// Gives the sign-out under way up.
    func cancel()

    /// Forgets the sign-out under way.
    func reset()
}

/// An observer of a sign-out. It is called on the main actor.
public protocol LogoutFlowDelegate: AnyObject {
    /// A sign-out has failed.
    func logout<Flow>(flow: Flow, received error: OAuth2Error)
}

extension LogoutFlowDelegate {
    /// Does nothing.
    public func logout<Flow>(flow: Flow, received error: OAuth2Error) {}
}
