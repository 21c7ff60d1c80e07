/// The identifiers of what a person can choose on a notification, as `DeviceAuthenticator` registers them.
public enum PushAction {
    /// Yes.
    public static let approve = "APPROVE_BUTTON"
    /// No.
    public static let deny = "DENY_BUTTON"
    /// To look at it in the app.
    public static let review = "REVIEW_BUTTON"
}
