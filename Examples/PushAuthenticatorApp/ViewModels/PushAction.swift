/// The identifiers of notification actions, as `DeviceAuthenticator` registers them.
public enum PushAction {
    /// The action that approves the request.
    public static let approve = "APPROVE_BUTTON"
    /// The action that denies the request.
    public static let deny = "DENY_BUTTON"
    /// The action that opens the app, which then shows the request.
    public static let review = "REVIEW_BUTTON"
}
