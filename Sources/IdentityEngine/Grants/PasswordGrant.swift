internal import Foundation
internal import JOSE

/// The resource owner's password (RFC 6749 section 4.3), the first factor of direct authentication (oauth reference 2.4.4).
struct PasswordGrant: GrantHandler, Redacted {
    static let grantType = GrantType.password
    static let isQuick = false

    private let request: AdmittedRequest
    private let username: String
    private let password: String
    private let scopes: [String]

    init(_ request: AdmittedRequest, reading view: any StoreView) throws {
        self.request = request
        username = try request.required("username")
        password = try request.required("password")
        scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
    }

    func decide(_ engine: IdentityEngine) async throws -> TokenDecision {
        let signIn = SignInRequest(request, scopes: scopes)
        switch try await engine.authenticate(
            username: username, password: password, for: signIn, snapshot: request.snapshot, context: request.context)
        {
        case .refused(let refusal): throw refusal
        case .authenticated(let user, let authentication):
            return try UserGrant(request: request, user: user, authentication: authentication, scopes: scopes).issue(engine)
        }
    }
}
