public import AuthFoundation
public import Foundation

/// The source of an app's client settings: the options of the command line, otherwise `Okta.plist`.
///
/// A value type; `Sendable`.
public struct ClientSettings: Sendable {
    /// The issuer of `countersign sandbox` at its usual port.
    public static let sandboxIssuer = "http://localhost:8080/oauth2/default"

    /// The settings by the keys of the property list (`issuer`, `clientId`, `scopes`, …).
    public var values: [String: String]
    /// A property list to read; `nil` for the default property list.
    public var file: URL?
    /// The scopes to request, separated by spaces. They override the property list; `nil` overrides nothing.
    public var scopes: String?
    /// The redirect URI of a sign-in. It overrides the property list; `nil` overrides nothing.
    public var redirectURI: String?
    /// The redirect URI of a sign-out. It overrides the property list; `nil` overrides nothing.
    public var logoutRedirectURI: String?

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - values: Settings by property list key. They are the whole configuration if they contain the issuer and the client.
    ///   - file: A property list; `nil` for `Okta.plist` of the app, beside the executable, or in the working directory.
    ///   - scopes: The scopes to request, separated by spaces. They override the property list; `nil` overrides nothing.
    ///   - redirectURI: The redirect URI of a sign-in. It overrides the property list; `nil` overrides nothing.
    ///   - logoutRedirectURI: The redirect URI of a sign-out. It overrides the property list; `nil` overrides nothing.
    public init(
        values: [String: String] = [:], file: URL? = nil, scopes: String? = nil, redirectURI: String? = nil,
        logoutRedirectURI: String? = nil
    ) {
        self.values = values
        self.file = file
        self.scopes = scopes
        self.redirectURI = redirectURI
        self.logoutRedirectURI = logoutRedirectURI
    }

    /// Returns a new client with these settings.
    ///
    /// - Parameter session: The network session; `nil` for the default session.
    /// - Throws: `PropertyListConfigurationError`, whose text names the missing or invalid setting and the remedy.
    public func client(session: (any URLSessionProtocol)? = nil) throws -> OAuth2Client {
        OAuth2Client(try configuration(), session: session)
    }

    /// Returns the configuration of the client.
    ///
    /// - Throws: `PropertyListConfigurationError`, whose text names the missing or invalid setting and the remedy.
    public func configuration() throws -> OAuth2Client.Configuration {
        try OAuth2Client.Configuration(plist: propertyList())
    }

    /// Returns the settings in the form of a property list, including redirect URIs.
    ///
    /// - Throws: `PropertyListConfigurationError`, whose text names the missing or invalid setting and the remedy.
    public func propertyList() throws -> OAuth2Client.PropertyListConfiguration {
        if values["issuer"] != nil, values["clientId"] != nil { return try OAuth2Client.PropertyListConfiguration(values) }
        var settings = try file.map { try OAuth2Client.PropertyListConfiguration(plist: $0) } ?? OAuth2Client.PropertyListConfiguration()
        if let scopes { settings.scope = scopes.split(separator: " ").map(String.init) }
        if let redirectURI { settings.redirectUri = try Self.url(redirectURI, of: "redirectUri") }
        if let logoutRedirectURI { settings.logoutRedirectUri = try Self.url(logoutRedirectURI, of: "logoutRedirectUri") }
        return settings
    }

    private static func url(_ text: String, of name: String) throws -> URL {
        guard let url = URL(string: text), url.scheme != nil else {
            throw OAuth2Client.PropertyListConfigurationError.invalidConfiguration(name: name, value: text)
        }
        return url
    }
}
