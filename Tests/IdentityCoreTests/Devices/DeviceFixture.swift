import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import Store

/// An organization with a push authenticator, and requests to the device endpoints.
struct DeviceFixture {
    static let authenticatorID = "autphone"
    static let manage = "okta.myAccount.appAuthenticator.manage"
    static let read = "okta.myAccount.appAuthenticator.read"
    static let maintenanceManage = "okta.myAccount.appAuthenticator.maintenance.manage"
    static let maintenanceRead = "okta.myAccount.appAuthenticator.maintenance.read"
    static let allScopes = [manage, read, maintenanceManage, maintenanceRead]
    static let john = "john.roe@example.com"

    let organization: TestOrganization
    var engine: Engine { organization.engine }

    init(_ change: (inout OrganizationDefinition) -> Void = { _ in }) async throws {
        organization = try await TestOrganization { definition in
            Self.prepare(&definition)
            change(&definition)
        }
    }

    static func prepare(_ definition: inout OrganizationDefinition) {
        for id in ["phone-app", "other-phone-app"] {
            definition.applications.append(
                Application(
                    id: id, name: id, kind: .native,
                    grantTypes: [
                        "password", "refresh_token", "http://auth0.com/oauth/grant-type/mfa-oob",
                        "urn:ietf:params:oauth:grant-type:jwt-bearer",
                    ], assignment: .init(everyone: true), signOnPolicy: "one factor", grantedAPIScopes: allScopes))
        }
        definition.authenticators = [PushAuthenticator(id: authenticatorID, name: "Acme Push", clientID: "phone-app")]
        definition.users.append(UserDefinition(login: john, password: "Battery-Staple-9"))
    }

    static func context(_ seconds: TimeInterval = 0) -> RequestContext { TestOrganization.context(TestOrganization.time(seconds)) }

    func userID(_ login: String = TestOrganization.jane) async throws -> String {
        let user = try await engine.user(login: login)
        return try #require(user).id
    }

    /// Applies the organization again with a change.
    func reconfigure(_ change: (inout OrganizationDefinition) -> Void) async throws {
        var definition = TestOrganization.definition
        Self.prepare(&definition)
        change(&definition)
        _ = try await engine.apply(definition, context: Self.context())
    }

    // MARK: - Access tokens

    /// Returns an access token of a sign-in with this user and these methods.
    func accessToken(
        _ scopes: [String] = [manage], of login: String = TestOrganization.jane, client: String = "phone-app", server: String? = nil,
        grantType: String = "password", methods: [String] = ["pwd"], signedInAt: TimeInterval = 0, issuedAt: TimeInterval = 0
    ) async throws -> String {
        let snapshot = try await engine.snapshot()
        let user = try await engine.user(login: login)
        let now = TestOrganization.time(issuedAt)
        let proof = AuthenticationContext(
            userID: user?.id ?? "", time: TestOrganization.time(signedInAt), methods: methods)
        let grant = Grant(
            id: try engine.environment.random.identifier(prefix: "gra"), clientID: client, server: server, userID: user?.id,
            scopes: scopes, grantType: grantType, rule: "test", createdAt: now, account: user.map(Grant.AccountState.init),
            authentication: .init(proof, firstIssuedAt: now), accessTokenLifetime: 3_600, expiresAt: now.addingTimeInterval(3_600))
        #expect(try await organization.store.commit([.put(grant.record)]) == .committed)
        let issuer = TokenIssuer(
            snapshot: snapshot, server: try #require(snapshot.server(server)), application: try #require(snapshot.application(client)),
            random: engine.environment.random, now: now)
        return try issuer.response(for: grant, user: user, scopes: scopes, refreshToken: nil).accessToken
    }

    /// Returns an access token of a sign-in with two factors.
    func strongToken(of login: String = TestOrganization.jane, at seconds: TimeInterval = 0) async throws -> DeviceAuthorization {
        .bearer(try await accessToken(of: login, methods: ["pwd", "swk", "mfa"], signedInAt: seconds, issuedAt: seconds))
    }

    /// Returns an access token of a sign-in with a password alone.
    func weakToken(of login: String = TestOrganization.jane, at seconds: TimeInterval = 0) async throws -> DeviceAuthorization {
        .bearer(try await accessToken(of: login, signedInAt: seconds, issuedAt: seconds))
    }

    // MARK: - Requests

    func enroll(
        _ body: JSONValue, _ authorization: DeviceAuthorization, at seconds: TimeInterval = 1
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        try await engine.enrollDevice(body, authorization: authorization, context: Self.context(seconds))
    }

    /// Enrolls a phone, by default after a sign-in with two factors.
    func enrolledPhone(
        of login: String = TestOrganization.jane, userVerification: Bool = false, by authorization: DeviceAuthorization? = nil,
        at seconds: TimeInterval = 0
    ) async throws -> Phone {
        var phone = try Phone(userID: try await userID(login))
        let strong = try await strongToken(of: login, at: seconds)
        let answer = try await enroll(
            phone.enrollment(userVerification: userVerification), authorization ?? strong, at: seconds + 1
        ).get()
        try phone.remember(answer)
        return phone
    }

    func update(
        _ phone: Phone, _ push: JSONValue, _ authorization: DeviceAuthorization, at seconds: TimeInterval = 2
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        try await engine.updateDeviceEnrollment(
            id: phone.enrollmentID, patch: ["methods": ["push": push]], authorization: authorization, context: Self.context(seconds))
    }

    func delete(
        _ phone: Phone, _ authorization: DeviceAuthorization, at seconds: TimeInterval = 2
    ) async throws -> Result<Void, DeviceRefusal> {
        try await engine.deleteDeviceEnrollment(id: phone.enrollmentID, authorization: authorization, context: Self.context(seconds))
    }

    func configuration(
        _ authorization: DeviceAuthorization, client: String? = "phone-app", at seconds: TimeInterval = 1
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        try await engine.authenticatorConfiguration(clientID: client, authorization: authorization, context: Self.context(seconds))
    }

    func maintenanceToken(
        _ assertion: String, scope: String? = maintenanceManage, client: String = "phone-app", server: String? = nil,
        at seconds: TimeInterval = 2
    ) async throws -> Result<TokenResponse, Refusal> {
        var parameters = ["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "client_id": client, "assertion": assertion]
        parameters["scope"] = scope
        return try await organization.token(parameters, server: server, at: seconds)
    }

    // MARK: - State

    func stored(_ phone: Phone) async throws -> Enrollment {
        let record: Record? = try await organization.store.read { try $0.record(.enrollment, id: phone.enrollmentID) }
        return try Enrollment(try #require(record))
    }

    func storedDevice(_ phone: Phone) async throws -> Device {
        let record: Record? = try await organization.store.read { try $0.record(.device, id: phone.deviceID) }
        return try Device(try #require(record))
    }

    func enrollments(of login: String = TestOrganization.jane) async throws -> [DeviceEnrollmentSummary] {
        try await engine.deviceEnrollments(ofUser: try await userID(login))
    }
}

extension Result where Failure == DeviceRefusal {
    /// The error code of a refusal; `nil` for a success.
    var code: String? { if case .failure(let refusal) = self { refusal.code } else { nil } }
    /// The status of a refusal; `nil` for a success.
    var status: Int? { if case .failure(let refusal) = self { refusal.status } else { nil } }
    /// The reason of a refusal; `nil` for a success.
    var why: String? { if case .failure(let refusal) = self { refusal.reason } else { nil } }
}
