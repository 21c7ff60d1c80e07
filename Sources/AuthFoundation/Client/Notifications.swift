public import Foundation

extension Notification.Name {
    /// A client was made; the object is the client.
    public static let oauth2ClientCreated = Notification.Name("com.okta.oauth2client.created")
    /// A token was refreshed; the object is the new token.
    public static let tokenRefreshed = Notification.Name("com.okta.token.refresh.success")
    /// A token could not be refreshed; the object is the token, and `userInfo["error"]` says why.
    public static let tokenRefreshFailed = Notification.Name("com.okta.token.refresh.failed")
    /// Another credential is the default now; the object is the credential, or nil.
    public static let defaultCredentialChanged = Notification.Name("com.okta.defaultCredentialChanged")
    /// A credential was made; the object is the credential.
    public static let credentialCreated = Notification.Name("com.okta.credential.created")
    /// A credential was removed; the object is the credential.
    public static let credentialRemoved = Notification.Name("com.okta.credential.removed")
    /// A credential was stored in a new format; the object is the credential.
    public static let credentialMigrated = Notification.Name("com.okta.credential.migrated")
    /// A credential could not be refreshed; the object is the credential, and `userInfo["error"]` says why.
    public static let credentialRefreshFailed = Notification.Name("com.okta.credential.refresh.failed")
}
