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

    private static let standard: [GrantType] = [
        .authorizationCode, .implicit, .refreshToken, .password, .deviceCode, .tokenExchange, .jwtBearer, .otp, .oob, .otpMFA, .oobMFA,
        .webAuthn, .webAuthnMFA,
    ]
    private static let typesByName = Dictionary(uniqueKeysWithValues: standard.map { ($0.rawValue, $0) })

    /// The grant of that name.
    ///
    /// - Parameter rawValue: The parameter's value.
    public init(rawValue: String) {
        self = Self.typesByName[rawValue] ?? .other(rawValue)
    }

    /// The parameter's value.
    public var rawValue: String {
        // A switch and no table: a table by grant would hash grants, which hashes this.
        switch self {
        case .authorizationCode: "authorization_code"
        case .implicit: "implicit"
        case .refreshToken: "refresh_token"
        case .password: "password"
        case .deviceCode: "urn:ietf:params:oauth:grant-type:device_code"
        case .tokenExchange: "urn:ietf:params:oauth:grant-type:token-exchange"
        case .jwtBearer: "urn:ietf:params:oauth:grant-type:jwt-bearer"
        case .otp: "urn:okta:params:oauth:grant-type:otp"
        case .oob: "urn:okta:params:oauth:grant-type:oob"
        case .otpMFA: "http://auth0.com/oauth/grant-type/mfa-otp"
        case .oobMFA: "http://auth0.com/oauth/grant-type/mfa-oob"
        case .webAuthn: "urn:okta:params:oauth:grant-type:webauthn"
        case .webAuthnMFA: "urn:okta:params:oauth:grant-type:mfa-webauthn"
        case .other(let name): name
        }
    }
}
