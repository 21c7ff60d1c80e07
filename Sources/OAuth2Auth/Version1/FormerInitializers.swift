internal import AuthFoundation
public import Foundation

// The initialisers by the names that they had in version 1 of the SDK. Each does what the one that it names does.

extension AuthorizationCodeFlow {
    /// Makes a flow and the client for it.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:redirectUri:). It is removed in version 2.")
    public init(
        issuer: URL, clientId: String, scopes: String, redirectUri: URL, logoutRedirectUri: URL? = nil,
        additionalParameters: [String: String]? = nil
    ) {
        self.init(
            issuerURL: issuer, clientId: clientId, scope: scopes, redirectUri: redirectUri, logoutRedirectUri: logoutRedirectUri,
            additionalParameters: additionalParameters)
    }
}

extension SessionLogoutFlow {
    /// Makes a flow and the client for it.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:logoutRedirectUri:). It is removed in version 2.")
    public init(
        issuer: URL, clientId: String, scopes: String, logoutRedirectUri: URL, additionalParameters: [String: String]? = nil
    ) {
        self.init(
            issuerURL: issuer, clientId: clientId, scope: scopes, logoutRedirectUri: logoutRedirectUri,
            additionalParameters: additionalParameters)
    }
}

extension SessionTokenFlow {
    /// Makes a flow and the client for it; throws nothing.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:redirectUri:). It is removed in version 2.")
    public init(
        issuer: URL, clientId: String, scopes: String, redirectUri: URL, additionalParameters: [String: String]? = nil
    ) throws {
        try self.init(
            issuerURL: issuer, clientId: clientId, scope: scopes, redirectUri: redirectUri, additionalParameters: additionalParameters)
    }
}

extension DeviceAuthorizationFlow {
    /// Makes a flow and the client for it.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public init(issuer: URL, clientId: String, scopes: String) {
        self.init(issuerURL: issuer, clientId: clientId, scope: scopes)
    }
}

extension JWTAuthorizationFlow {
    /// Makes a flow and the client for it.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public init(issuer: URL, clientId: String, scopes: String) {
        self.init(issuerURL: issuer, clientId: clientId, scope: scopes)
    }
}

extension ResourceOwnerFlow {
    /// Makes a flow and the client for it.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public init(issuer: URL, clientId: String, scopes: String) {
        self.init(issuerURL: issuer, clientId: clientId, scope: scopes)
    }
}

extension TokenExchangeFlow {
    /// Makes a flow and the client for it.
    @available(*, deprecated, message: "Use init(issuerURL:clientId:scope:). It is removed in version 2.")
    public init(issuer: URL, clientId: String, scopes: String) {
        self.init(issuerURL: issuer, clientId: clientId, scope: scopes)
    }
}
