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
    package static let secondFactorWebAuthn = "urn:okta:params:oauth:grant-type:mfa-webauthn"
    package static let deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    package static let tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    package static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The ticket of the QR code on a sign-in page; specific to this project.
    package static let enrollmentTicket = "urn:countersign:params:oauth:grant-type:enrollment-ticket"
    package static let ciba = "urn:openid:params:grant-type:ciba"

    /// A grant type that applications and rules can name.
    package struct Entry: Sendable {
        package let name: String
        /// The short name in the org file; `nil` for none.
        package let alias: String?
        /// Whether tokens of this grant can enroll and remove keys of devices, because the user just proved a factor to the server.
        package let isInteractive: Bool

        fileprivate init(_ name: String, alias: String? = nil, isInteractive: Bool = false) {
            (self.name, self.alias, self.isInteractive) = (name, alias, isInteractive)
        }
    }

    /// The grant types that applications and rules can name, including those that this version does not implement.
    package static let all = [
        Entry(password, isInteractive: true), Entry(authorizationCode, isInteractive: true), Entry(refreshToken), Entry(clientCredentials),
        Entry(oob, alias: "oob", isInteractive: true), Entry(secondFactorOOB, alias: "mfa-oob", isInteractive: true),
        Entry(otp, alias: "otp", isInteractive: true), Entry(secondFactorOTP, alias: "mfa-otp", isInteractive: true),
        Entry(webAuthn, alias: "webauthn", isInteractive: true), Entry(secondFactorWebAuthn, alias: "mfa-webauthn", isInteractive: true),
        Entry(deviceCode, alias: "device_code"), Entry(tokenExchange, alias: "token-exchange"), Entry(jwtBearer, alias: "jwt-bearer"),
        Entry(enrollmentTicket, alias: "enrollment-ticket", isInteractive: true), Entry(ciba, alias: "ciba"),
    ]
}
