/// The identifiers of notification actions, as `DeviceAuthenticator` registers them.
public enum PushAction {
    /// Approve.
    public static let approve = "APPROVE_BUTTON"
    /// Deny.
    public static let deny = "DENY_BUTTON"
    /// Opens the app on the request.
    public static let review = "REVIEW_BUTTON"
}
