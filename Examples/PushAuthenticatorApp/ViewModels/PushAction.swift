/// The identifiers of notification actions, as `DeviceAuthenticator` registers them.
public enum PushAction {
    /// Approve.
    public static let approve = "APPROVE_BUTTON"
    /// Deny.
    public static let deny = "DENY_BUTTON"
    /// Open the app.
    public static let review = "REVIEW_BUTTON"
}
