/// The resource owner's password (RFC 6749 section 4.3), the first factor of direct authentication (oauth reference 2.4.4).
struct PasswordGrant: FirstFactorHandler {
    static let grantType = GrantType.password

    let first: FirstFactorGrant

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let (username, password) = (try request.required("username"), try request.required("password"))
        first = try FirstFactorGrant(.password(password), of: username, request, reading: reading) {
            PasswordVerifier(environment: reading.engine.environment, origin: $0.origin)
        }
    }
}
