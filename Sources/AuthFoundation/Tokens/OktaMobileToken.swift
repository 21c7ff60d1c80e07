import Foundation

/// A token as okta-mobile-swift stored it. The data has no version number; its members distinguish the three forms:
///
/// | Version | Form |
/// |---|---|
/// | 0.2 to 1.8 | the tokens in camel case, such as `accessToken` |
/// | 2.0 and 2.1 | the server's response as a string, `rawValue` |
/// | after 2.1 | the server's response as an object, `rawValue` |
struct OktaMobileToken: Decodable {
    /// The identifier of the token; `nil` if the data lacks it.
    let id: String?
    /// The time of receipt; `nil` if the data lacks it, as in beta versions.
    let issuedAt: Date?
    let context: Token.Context
    /// The members of the server's response.
    let response: JSON

    private enum CodingKeys: String, CodingKey {
        case id, issuedAt, context, rawValue, accessToken
    }

    /// Whether the data has one of the three forms.
    static func isForm(of decoder: any Decoder) -> Bool {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return false }
        return container.contains(.accessToken) || container.contains(.rawValue)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.contains(.context) else { throw TokenError.contextMissing }
        id = try container.decodeIfPresent(String.self, forKey: .id)
        issuedAt = try container.decodeIfPresent(Double.self, forKey: .issuedAt).map(Date.init(timeIntervalSinceReferenceDate:))
        context = try container.decode(StoredContext.self, forKey: .context).context
        if container.contains(.accessToken) {
            // Encoding changes the names of the members to those of the server.
            response = try JSON(JSONEncoder().encode(FirstForm(from: decoder)))
        } else if let text = try? container.decode(String.self, forKey: .rawValue) {
            response = try JSON(text)
        } else {
            response = try container.decode(JSON.self, forKey: .rawValue)
        }
    }
}

/// The tokens of the first form. The decoder reads the names of the first form, and the encoder writes those of the server.
private struct FirstForm: Codable {
    private let accessToken: String
    private let tokenType: String
    private let expiresIn: Double
    private let scope: String?
    private let refreshToken: String?
    private let idToken: String?
    private let deviceSecret: String?

    private enum CodingKeys: String, CodingKey {
        case accessToken, tokenType, expiresIn, scope, refreshToken, idToken, deviceSecret
    }

    private enum ResponseKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case scope
        case refreshToken = "refresh_token"
        case idToken = "id_token"
        case deviceSecret = "device_secret"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ResponseKeys.self)
        try container.encode(accessToken, forKey: .accessToken)
        try container.encode(tokenType, forKey: .tokenType)
        try container.encode(expiresIn, forKey: .expiresIn)
        try container.encodeIfPresent(scope, forKey: .scope)
        try container.encodeIfPresent(refreshToken, forKey: .refreshToken)
        try container.encodeIfPresent(idToken, forKey: .idToken)
        try container.encodeIfPresent(deviceSecret, forKey: .deviceSecret)
    }
}

/// The `context` of a stored token, with the names of versions 1 and 2.
private struct StoredContext: Decodable {
    let context: Token.Context

    private struct Configuration: Decodable {
        let issuerURL: URL?
        let baseURL: URL?
        let discoveryURL: URL?
        let clientId: String
        let scope: String?
        let scopes: String?
        let redirectUri: URL?
        let logoutRedirectUri: URL?
        let authentication: OAuth2Client.ClientAuthentication?
    }

    private enum CodingKeys: String, CodingKey {
        case configuration, clientSettings
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let stored = try container.decode(Configuration.self, forKey: .configuration)
        let settings = try container.decodeIfPresent([String: String].self, forKey: .clientSettings) ?? [:]
        guard let issuer = stored.issuerURL ?? stored.baseURL else {
            throw DecodingError.keyNotFound(
                CodingKeys.configuration,
                DecodingError.Context(codingPath: container.codingPath, debugDescription: "The configuration has no issuer."))
        }
        // Version 1 stored the redirect URI of the sign-in in the settings only.
        let redirectUri = settings["redirect_uri"].flatMap { URL(string: $0) } ?? stored.redirectUri
        let configuration = OAuth2Client.Configuration(
            issuerURL: issuer, discoveryURL: stored.discoveryURL, clientId: stored.clientId,
            scope: ClaimCollection(wrappedValue: (stored.scope ?? stored.scopes ?? "").whitespaceSeparated), redirectUri: redirectUri,
            logoutRedirectUri: stored.logoutRedirectUri, authentication: stored.authentication ?? .none)
        context = Token.Context(configuration: configuration, acrValues: settings["acr_values"]?.whitespaceSeparated)
    }
}
