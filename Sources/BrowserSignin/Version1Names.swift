public import Foundation

/// What ``BrowserSignin`` was called in version 1 of the SDK.
@available(*, deprecated, renamed: "BrowserSignin", message: "It is removed in version 2.")
public typealias WebAuthentication = BrowserSignin

/// What ``BrowserSigninError`` was called in version 1 of the SDK.
@available(*, deprecated, renamed: "BrowserSigninError", message: "It is removed in version 2.")
public typealias WebAuthenticationError = BrowserSigninError

extension BrowserSignin {
    /// Makes a sign-in with settings of the app's own, by the names that they had in version 1 of the SDK.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:redirectUri:). It is removed in version 2.")
    public convenience init(
        issuer: URL, clientId: String, scopes: String, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: String]? = nil
    ) {
        self.init(
            issuerURL: issuer, clientId: clientId, scope: scopes, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri,
            additionalParameters: additionalParameters)
    }
}
