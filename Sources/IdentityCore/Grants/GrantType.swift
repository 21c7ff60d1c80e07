/// The `grant_type` values that the engine knows.
package enum GrantType {
    package static let password = "password"
    package static let authorizationCode = "authorization_code"
    package static let refreshToken = "refresh_token"
    package static let clientCredentials = "client_credentials"
    package static let oob = "urn:okta:params:oauth:grant-type:oob"
    package static let secondFactorOOB = "http://auth0.com/oauth/grant-type/mfa-oob"
    package static let otp = "urn:okta:params:oauth:grant-type:otp"
    package static let secondFactorOTP = "http://auth0.com/oauth/grant-type/mfa-otp"
    package static let webAuthn = "urn:okta:params:oauth:grant-type:webauthn"
    package static let deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    package static let tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    package static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The ticket of the QR code on a sign-in page; specific to this project.
    package static let enrollmentTicket = "urn:countersign:params:oauth:grant-type:enrollment-ticket"
    package static let ciba = "urn:openid:params:grant-type:ciba"
}
