public import Foundation

extension OAuth2Client {
    /// What a client needs to know about its issuer and itself.
    ///
    /// A `Sendable` value type. Descriptions show no secret; its coded form contains them.
    public struct Configuration: Codable, Equatable, Hashable, Sendable, APIClientConfiguration {
        /// The issuer: https, or http on a loopback host.
        public var issuerURL: URL

        /// Where the issuer's discovery document is.
        public var discoveryURL: URL

        /// The identifier that the issuer gave the app.
        public var clientId: String

        /// What the app asks for.
        @ClaimCollection public var scope: [String]

        /// Where a browser returns to after a sign-in.
        public var redirectUri: URL?

        /// Where a browser returns to after a sign-out.
        public var logoutRedirectUri: URL?

        /// How the client proves who it is.
        public var authentication: ClientAuthentication

        /// A further way in which the client proves who it is; if there is one, it is used instead of ``authentication``.
        public var confidentialAuthentication: ConfidentialAuthentication?

        /// Whether tokens are bound to a key of this device (DPoP, RFC 9449), so that who steals them can't use them; false unless set.
        ///
        /// The client makes the key when it first needs it, proves with each request that it has it, and takes no tokens that are not bound
        /// to it. What was stored keeps to the setting that it was got with.
        public var usesDPoP: Bool {
            get { bindsTokens ?? false }
            set { bindsTokens = newValue ? true : nil }
        }

        /// Nil for false, so that what was stored before this setting existed reads as it was.
        private var bindsTokens: Bool?

        /// The issuer.
        public var baseURL: URL { issuerURL }

        /// Takes the settings.
        ///
        /// - Parameters:
        ///   - issuerURL: The issuer: https, or http on a loopback host.
        ///   - discoveryURL: Where the discovery document is; nil for the usual path below the issuer.
        ///   - clientId: The identifier that the issuer gave the app.
        ///   - scope: What the app asks for.
        ///   - redirectUri: Where a browser returns to after a sign-in.
        ///   - logoutRedirectUri: Where a browser returns to after a sign-out.
        ///   - authentication: How the client proves who it is.
        public init(
            issuerURL: URL, discoveryURL: URL? = nil, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL? = nil,
            logoutRedirectUri: URL? = nil, authentication: ClientAuthentication = .none
        ) {
            self.issuerURL = issuerURL
            self.discoveryURL = discoveryURL ?? issuerURL.appending(path: ".well-known/openid-configuration")
            self.clientId = clientId
            _scope = scope
            self.redirectUri = redirectUri
            self.logoutRedirectUri = logoutRedirectUri
            self.authentication = authentication
        }

        /// Takes the settings.
        ///
        /// - Parameters:
        ///   - issuerURL: The issuer: https, or http on a loopback host.
        ///   - discoveryURL: Where the discovery document is; nil for the usual path below the issuer.
        ///   - clientId: The identifier that the issuer gave the app.
        ///   - scope: What the app asks for.
        ///   - redirectUri: Where a browser returns to after a sign-in.
        ///   - logoutRedirectUri: Where a browser returns to after a sign-out.
        ///   - authentication: How the client proves who it is.
        public init(
            issuerURL: URL, discoveryURL: URL? = nil, clientId: String, scope: some WhitespaceSeparated, redirectUri: URL? = nil,
            logoutRedirectUri: URL? = nil, authentication: ClientAuthentication = .none
        ) {
            self.init(
                issuerURL: issuerURL, discoveryURL: discoveryURL, clientId: clientId,
                scope: ClaimCollection(wrappedValue: scope.whitespaceSeparated), redirectUri: redirectUri,
                logoutRedirectUri: logoutRedirectUri,
                authentication: authentication)
        }

        /// Takes the settings, with `https://` and a domain as issuer.
        ///
        /// - Parameters:
        ///   - domain: The issuer without scheme.
        ///   - discoveryURL: Where the discovery document is; nil for the usual path below the issuer.
        ///   - clientId: The identifier that the issuer gave the app.
        ///   - scope: What the app asks for.
        ///   - redirectUri: Where a browser returns to after a sign-in.
        ///   - logoutRedirectUri: Where a browser returns to after a sign-out.
        ///   - authentication: How the client proves who it is.
        /// - Throws: ``OAuth2Error/invalidUrl`` if one of the URLs is malformed.
        public init(
            domain: String, discoveryURL: URL? = nil, clientId: String, scope: some WhitespaceSeparated, redirectUri: String? = nil,
            logoutRedirectUri: String? = nil, authentication: ClientAuthentication = .none
        ) throws {
            guard let issuerURL = URL(string: "https://\(domain)"), issuerURL.host()?.isEmpty == false else { throw OAuth2Error.invalidUrl }
            func url(_ text: String?) throws -> URL? {
                guard let text else { return nil }
                guard let url = URL(string: text) else { throw OAuth2Error.invalidUrl }
                return url
            }
            self.init(
                issuerURL: issuerURL, discoveryURL: discoveryURL, clientId: clientId, scope: scope, redirectUri: try url(redirectUri),
                logoutRedirectUri: try url(logoutRedirectUri), authentication: authentication)
        }

        /// Takes the settings from a property list.
        ///
        /// - Parameter config: The property list.
        /// - Throws: ``PropertyListConfigurationError/invalidConfiguration(name:value:)`` if the issuer can't be used.
        public init(plist config: PropertyListConfiguration) throws {
            try PropertyListConfiguration.checkIssuer(config.issuerURL, name: "issuer")
            self.init(
                issuerURL: config.issuerURL, discoveryURL: config.discoveryURL, clientId: config.clientId,
                scope: ClaimCollection(wrappedValue: config.scope), redirectUri: config.redirectUri,
                logoutRedirectUri: config.logoutRedirectUri,
                authentication: config.authentication)
        }
    }
}

extension OAuth2Client.Configuration: ProvidesOAuth2Parameters {
    /// The client's identifier, its scopes and its redirect URI, as far as a request of that kind needs them.
    ///
    /// - Parameter category: What the request is for.
    /// - Returns: The parameters.
    public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
        var parameters: [String: any APIRequestArgument]? = ["client_id": clientId]
        if category == .token || category == .authorization {
            parameters.merge(["scope": $scope])
            if let redirectUri { parameters.merge(["redirect_uri": redirectUri]) }
        }
        parameters.merge(authentication.parameters(for: category))
        return parameters
    }
}
