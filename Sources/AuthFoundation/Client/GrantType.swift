/// The grant with which a client requests tokens: the parameter `grant_type`.
public enum GrantType: RawRepresentable, Codable, Hashable, Sendable, IsClaim, APIRequestArgument, ClaimConvertable {
    /// An authorization code from a redirect.
    case authorizationCode
    /// Tokens directly in the redirect.
    case implicit
    /// A refresh token.
    case refreshToken
    /// A username and password.
    case password
    /// A device code.
    case deviceCode
    /// A token exchange.
    case tokenExchange
    /// An assertion.
    case jwtBearer
    /// A one-time code as the first factor.
    case otp
    /// An approval on another device as the first factor.
    case oob
    /// A one-time code as the second factor.
    case otpMFA
    /// An approval on another device as the second factor.
    case oobMFA
    /// A passkey as the first factor.
    case webAuthn
    /// A passkey as the second factor.
    case webAuthnMFA
    /// Any other grant, identified by name.
    case other(_ type: String)

    private static let standard: [GrantType] = [
        .authorizationCode, .implicit, .refreshToken, .password, .deviceCode, .tokenExchange, .jwtBearer, .otp, .oob, .otpMFA, .oobMFA,
        .webAuthn, .webAuthnMFA,
    ]
    private static let typesByName = Dictionary(uniqueKeysWithValues: standard.map { ($0.rawValue, $0) })

    /// Creates the grant with this name, or ``other(_:)`` if the name is unknown. Returns `nil` for an empty name.
    public init?(rawValue: String) {
        guard !rawValue.isEmpty else { return nil }
        self.init(name: rawValue)
    }

    package init(name: String) { self = Self.typesByName[name] ?? .other(name) }

    /// The value of the parameter.
    public var rawValue: String {
        // A switch, because a dictionary with grants as keys would call `rawValue` to hash its keys.
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
