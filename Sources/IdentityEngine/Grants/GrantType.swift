/// The `grant_type` values that the engine knows, as they stand on the wire.
enum GrantType {
    static let password = "password"
    static let refreshToken = "refresh_token"
    static let clientCredentials = "client_credentials"
}
