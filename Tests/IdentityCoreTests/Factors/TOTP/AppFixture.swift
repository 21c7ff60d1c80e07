import Foundation

@testable import IdentityCore
@testable import Store

/// An organization whose users sign in with authenticator apps.
struct AppFixture {
    static let firstFactor = "urn:okta:params:oauth:grant-type:otp"
    static let secondFactor = "http://auth0.com/oauth/grant-type/mfa-otp"
    static let jane = PushFixture.jane

    let organization: PushFixture
    /// The secret of Jane's authenticator app.
    let secret: [UInt8]

    var engine: Engine { organization.engine }

    /// - Parameter prepare: A closure that runs before Jane enrolls the app.
    init(
        store: any Store = InMemoryStore(), _ change: @escaping (inout OrganizationDefinition) -> Void = { _ in },
        prepare: (PushFixture) async throws -> Void = { _ in }
    ) async throws {
        organization = try await PushFixture(store: store) { definition in
            for index in definition.applications.indices where definition.applications[index].id != "no-push-app" {
                definition.applications[index].grantTypes += [Self.firstFactor, Self.secondFactor]
            }
            change(&definition)
        }
        try await prepare(organization)
        guard
            let offer = try await organization.engine.grantAuthenticatorApp(
                userID: organization.userID(), context: PushFixture.context(0)), let secret = Base32.decode(offer.secret)
        else { throw NoSuchThing("Jane") }
        self.secret = secret
    }

    /// Returns the code that the app shows.
    func code(at seconds: TimeInterval) -> String {
        TimeBasedCode.code(secret: secret, step: TimeBasedCode.step(at: TestOrganization.time(seconds)))
    }

    /// Returns a code that the app does not show at this time, nor 30 seconds before or after.
    func wrongCode(at seconds: TimeInterval) -> String {
        let shown = [-30, 0, 30].map { code(at: seconds + $0) }
        return ["000000", "111111", "222222", "333333"].first { !shown.contains($0) } ?? ""
    }

    func second(
        _ mfaToken: String, _ code: String, client: String = "direct-app", server: String? = "default", at seconds: TimeInterval = 12
    ) async throws -> Result<TokenResponse, Refusal> {
        try await organization.token(
            ["grant_type": Self.secondFactor, "mfa_token": mfaToken, "otp": code], client: client, server: server, at: seconds)
    }

    func first(
        _ code: String, of login: String = jane, client: String = "one-factor-app", at seconds: TimeInterval = 12,
        _ more: [String: String] = [:]
    ) async throws -> Result<TokenResponse, Refusal> {
        let parameters = ["grant_type": Self.firstFactor, "login_hint": login, "otp": code, "scope": "openid"]
        return try await organization.token(parameters.merging(more) { $1 }, client: client, at: seconds)
    }

    func stored() async throws -> User {
        guard let user = try await engine.user(login: Self.jane) else { throw NoSuchThing("Jane") }
        return user
    }

    func enrollments() async throws -> [Enrollment] {
        let id = try await organization.userID()
        return try await organization.store.read { try $0.records(.enrollment, where: "user", is: id, limit: 100).map(Enrollment.init) }
    }
}
