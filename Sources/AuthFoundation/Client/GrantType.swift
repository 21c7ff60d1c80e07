/// How a client gets tokens: the parameter `grant_type`.
public enum GrantType: RawRepresentable, Codable, Hashable, Sendable, IsClaim, APIRequestArgument, ClaimConvertable {
    /// The code that a redirect brought.
    case authorizationCode
    /// Tokens in the redirect itself.
    case implicit
    /// A refresh token.
    case refreshToken
    /// A username and password.
    case password
    /// A device code.
    case deviceCode
    /// Another token.
    case tokenExchange
    /// An assertion.
    case jwtBearer
    /// A one-time code as first factor.
    case otp
    /// An approval on another device as first factor.
    case oob
    /// A one-time code as second factor.
    case otpMFA
    /// An approval on another device as second factor.
    case oobMFA
    /// A passkey as first factor.
    case webAuthn
    /// A passkey as second factor.
    case webAuthnMFA
    /// Any other, by its name.
    case other(_ type: String)

    private static let names: [(GrantType, String)] = [
        (.authorizationCode, "authorization_code"), (.implicit, "implicit"), (.refreshToken, "refresh_token"), (.password, "password"),
        (.deviceCode, "urn:ietf:params:oauth:grant-type:device_code"),
        (.tokenExchange, "urn:ietf:params:oauth:grant-type:token-exchange"),
        (.jwtBearer, "urn:ietf:params:oauth:grant-type:jwt-bearer"), (.otp, "urn:okta:params:oauth:grant-type:otp"),
        (.oob, "urn:okta:params:oauth:grant-type:oob"), (.otpMFA, "http://auth0.com/oauth/grant-type/mfa-otp"),
        (.oobMFA, "http://auth0.com/oauth/grant-type/mfa-oob"), (.webAuthn, "urn:okta:params:oauth:grant-type:webauthn"),
        (.webAuthnMFA, "urn:okta:params:oauth:grant-type:mfa-webauthn"),
    ]
    private static let typesByName = Dictionary(uniqueKeysWithValues: names.map { ($0.1, $0.0) })
    private static let namesByType = Dictionary(uniqueKeysWithValues: names)

    /// The grant of that name.
    ///
    /// - Parameter rawValue: The parameter's value.
    public init(rawValue: String) {
        self = Self.typesByName[rawValue] ?? .other(rawValue)
    }

    /// The parameter's value.
    public var rawValue: String {
        if case .other(let name) = self { return name }
        return Self.namesByType[self] ?? ""
    }
}
