public import AuthFoundation
public import Foundation

/// Where an app's client gets its settings: what was said when it was started, else `Okta.plist`.
///
/// A value; `Sendable`.
public struct ClientSettings: Sendable {
    /// The issuer of `countersign sandbox` at its usual port.
    public static let sandboxIssuer = "http://localhost:8080/oauth2/default"

    /// The settings by the keys of the property list (`issuer`, `clientId`, `scopes`, …).
    public var values: [String: String]
    /// A property list to read instead of the usual one.
    public var file: URL?
    /// The scopes to request, separated by spaces; they override the property list.
    public var scopes: String?
    /// Where a browser returns to after a sign-in, whatever the property list says.
    public var redirectURI: String?
    /// Where a browser returns to after a sign-out, whatever the property list says.
    public var logoutRedirectURI: String?

    /// Collects what was said.
    ///
    /// - Parameters:
    ///   - values: Settings by the keys of the property list. They are the whole configuration if the issuer and the client are among them.
    ///   - file: A property list; nil for `Okta.plist` of the app, or beside the executable, or in the working directory.
    ///   - scopes: What to ask for, whatever the property list says, separated by spaces.
    ///   - redirectURI: Where a browser returns to after a sign-in, whatever the property list says.
    ///   - logoutRedirectURI: Where a browser returns to after a sign-out, whatever the property list says.
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

    /// The client.
    ///
    /// - Parameter session: What its requests go through; nil for the usual one.
    /// - Returns: A new client.
    /// - Throws: `PropertyListConfigurationError`, whose text names what is missing or wrong and what to do.
    public func client(session: (any URLSessionProtocol)? = nil) throws -> OAuth2Client {
        OAuth2Client(try configuration(), session: session)
    }

    /// The settings of the client.
    ///
    /// - Returns: What an app would have in its `Okta.plist`.
    /// - Throws: `PropertyListConfigurationError`.
    public func configuration() throws -> OAuth2Client.Configuration {
        try OAuth2Client.Configuration(plist: propertyList())
    }

    /// The settings as they were read, redirect URIs included.
    ///
    /// - Returns: The settings.
    /// - Throws: `PropertyListConfigurationError`.
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
