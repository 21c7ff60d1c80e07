public import Foundation

extension OAuth2Client {
    /// The settings of a client: its issuer, its registration and its requested scopes. Descriptions contain no secret, but the encoded
    /// form does.
    public struct Configuration: Codable, Equatable, Hashable, Sendable, APIClientConfiguration {
        /// The issuer: https, or http on a loopback host.
        public var issuerURL: URL

        /// The URL of the issuer's discovery document.
        public var discoveryURL: URL

        /// The client identifier registered with the issuer.
        public var clientId: String

        /// The requested scopes.
        @ClaimCollection public var scope: [String]

        /// The URI to which the browser returns after a sign-in.
        public var redirectUri: URL?

        /// The URI to which the browser returns after a sign-out.
        public var logoutRedirectUri: URL?

        /// The client authentication method.
        public var authentication: ClientAuthentication

        /// A further client authentication method. If it is not `nil`, it replaces ``authentication``.
        public var confidentialAuthentication: ConfidentialAuthentication?

        /// Whether tokens are bound to a key of this device (DPoP, RFC 9449), so that stolen tokens are useless. The default is false. The
        /// client creates the key on first use, proves possession with each request, and rejects tokens that are not bound to the key.
        /// Stored tokens keep the setting with which they were issued.
        public var usesDPoP: Bool {
            get { bindsTokens ?? false }
            set { bindsTokens = newValue ? true : nil }
        }

        /// True, or `nil` instead of false. Configurations that were stored before this setting existed therefore decode to an equal value.
        private var bindsTokens: Bool?

        /// Issuers whose tokens are accepted although ``issuerURL`` is another one: the discovery document and the ID tokens may name one of
        /// them. Needed for an organization with a custom domain whose documents name the organization's own domain. Name only issuers of the
        /// same operator, because each of them can then sign users in. The default is empty.
        public var trustedIssuers: Set<URL> {
            get { issuers ?? [] }
            set { issuers = newValue.isEmpty ? nil : newValue }
        }

        /// `nil` instead of an empty set. Configurations that were stored before this setting existed therefore decode to an equal value.
        private var issuers: Set<URL>?

        /// The issuer.
        public var baseURL: URL { issuerURL }

        /// Returns the standard path of a discovery document (OpenID Connect Discovery 1.0 §4).
        static func standardDiscoveryURL(of issuer: URL) -> URL { issuer.appending(path: ".well-known/openid-configuration") }

        /// Creates a configuration.
        /// - Parameters:
        ///   - issuerURL: The issuer: https, or http on a loopback host.
        ///   - discoveryURL: The URL of the discovery document, or `nil` for the standard path below the issuer.
        ///   - clientId: The client identifier registered with the issuer.
        ///   - scope: The requested scopes.
        ///   - redirectUri: The URI to which the browser returns after a sign-in.
        ///   - logoutRedirectUri: The URI to which the browser returns after a sign-out.
        ///   - authentication: The client authentication method.
        public init(
            issuerURL: URL, discoveryURL: URL? = nil, clientId: String, scope: ClaimCollection<[String]>, redirectUri: URL? = nil,
            logoutRedirectUri: URL? = nil, authentication: ClientAuthentication = .none
        ) {
            self.issuerURL = issuerURL
            self.discoveryURL = discoveryURL ?? Self.standardDiscoveryURL(of: issuerURL)
            self.clientId = clientId
            _scope = scope
            self.redirectUri = redirectUri
            self.logoutRedirectUri = logoutRedirectUri
            self.authentication = authentication
        }

        /// Creates a configuration.
        /// - Parameters:
        ///   - issuerURL: The issuer: https, or http on a loopback host.
        ///   - discoveryURL: The URL of the discovery document, or `nil` for the standard path below the issuer.
        ///   - clientId: The client identifier registered with the issuer.
        ///   - scope: The requested scopes.
        ///   - redirectUri: The URI to which the browser returns after a sign-in.
        ///   - logoutRedirectUri: The URI to which the browser returns after a sign-out.
        ///   - authentication: The client authentication method.
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

        /// Creates a configuration for the issuer `https://` plus a domain.
        /// - Parameters:
        ///   - domain: The issuer without the scheme.
        ///   - discoveryURL: The URL of the discovery document, or `nil` for the standard path below the issuer.
        ///   - clientId: The client identifier registered with the issuer.
        ///   - scope: The requested scopes.
        ///   - redirectUri: The URI to which the browser returns after a sign-in.
        ///   - logoutRedirectUri: The URI to which the browser returns after a sign-out.
        ///   - authentication: The client authentication method.
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

        /// Creates a configuration from a property list.
        /// - Throws: ``PropertyListConfigurationError/invalidConfiguration(name:value:)`` if the issuer is invalid.
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
    /// Returns the parameters of the configuration:
    /// - the client identifier for all categories
    /// - the scopes and the redirect URI for the categories `token` and `authorization`
    /// - the client secret of ``authentication`` for the categories `token` and `other`
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
