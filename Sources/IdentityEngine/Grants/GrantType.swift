/// The `grant_type` values that the engine knows, as they stand on the wire.
enum GrantType {
    static let password = "password"
    static let authorizationCode = "authorization_code"
    static let refreshToken = "refresh_token"
    static let clientCredentials = "client_credentials"
    static let oob = "urn:okta:params:oauth:grant-type:oob"
    static let secondFactorOOB = "http://auth0.com/oauth/grant-type/mfa-oob"
    static let otp = "urn:okta:params:oauth:grant-type:otp"
    static let secondFactorOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    static let webAuthn = "urn:okta:params:oauth:grant-type:webauthn"
    static let deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    static let tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    /// No grant: stands for a factor that pages and the classic API can ask for, and no client can by itself.
    static let mailedCode = "countersign:mailed-code"
    /// Likewise.
    static let securityQuestion = "countersign:security-question"
    /// Likewise.
    static let hardwareCode = "countersign:hardware-code"
    static let ciba = "urn:openid:params:grant-type:ciba"
}
