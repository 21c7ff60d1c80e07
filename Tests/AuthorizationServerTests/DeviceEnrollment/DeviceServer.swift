import Foundation
import JOSE
import TestSupport
import Testing

@testable import IdentityCore
@testable import Store

/// A server whose organization has a push authenticator, with the requests that phones send.
struct DeviceServer: Sendable {
    static let api = "/idp/myaccount/app-authenticators"
    static let manage = "okta.myAccount.appAuthenticator.manage"
    static let version = ("Accept", "application/json; okta-version=1.0.0")
    static let patchType = "application/merge-patch+json; okta-version=1.0.0"

    let running: RunningServer
    var wire: WireClient { running.wire }

    /// Runs a test with its own server.
    static func with<Result: Sendable>(
        rateLimits: RateLimits = RateLimits(perClient: 100_000, perAddress: 100_000, perAddressSignIns: 100_000, perUser: 100_000),
        _ change: @Sendable (inout OrganizationDefinition) -> Void = { _ in },
        _ body: @Sendable (DeviceServer) async throws -> Result
    ) async throws -> Result {
        try await RunningServer.fresh(rateLimits: rateLimits) { running in
            let server = DeviceServer(running: running)
            try await server.configure(rateLimits: rateLimits, change)
            return try await body(server)
        }
    }

    /// Configures the organization with a push authenticator and a test's changes.
    func configure(rateLimits: RateLimits = RateLimits(), _ change: (inout OrganizationDefinition) -> Void) async throws {
        var definition = TestOrganization.definition(origin: RunningServer.origin, rateLimits: rateLimits)
        definition.applications.append(
            Application(
                id: "phone-app", name: "Phone app", kind: .native,
                grantTypes: ["password", "http://auth0.com/oauth/grant-type/mfa-oob", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
                assignment: .init(everyone: true), signOnPolicy: "one factor",
                grantedAPIScopes: [
                    Self.manage, "okta.myAccount.appAuthenticator.read", "okta.myAccount.appAuthenticator.maintenance.manage",
                    "okta.myAccount.appAuthenticator.maintenance.read",
                ]))
        definition.authenticators = [
            PushAuthenticator(id: "autphone", name: "Acme Push", clientID: "phone-app", numberChallenge: .never)
        ]
        change(&definition)
        _ = try await running.engine.apply(definition, context: context)
    }

    var context: RequestContext { RequestContext(now: running.clock.now, requestID: "test") }

    // MARK: - Tokens

    /// Signs Jane in with her password, and returns the access token.
    func accessToken(scope: String = manage) async throws -> String {
        let form = "client_id=phone-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=\(scope)"
        let answer = try await wire.post("/oauth2/v1/token", form)
        return try #require(try answer.json["access_token"]?.stringValue, "\(answer.body)")
    }

    /// Requests a maintenance token of an enrollment.
    func maintenanceToken(of phone: EnrollingPhone) async throws -> String {
        let form =
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&client_id=phone-app"
            + "&scope=okta.myAccount.appAuthenticator.maintenance.manage&assertion="
        let answer = try await wire.post("/oauth2/v1/token", form + (try phone.assertion()))
        return try #require(try answer.json["access_token"]?.stringValue, "\(answer.body)")
    }

    /// Returns an access token of Jane's sign-in with two factors.
    func strongToken() async throws -> String {
        let engine = running.engine
        let snapshot = try await engine.snapshot()
        let user = try #require(try await engine.user(login: "jane.doe@example.com"))
        let now = running.clock.now
        let proof = AuthenticationContext(userID: user.id, time: now, methods: ["pwd", "swk", "mfa"])
        let grant = Grant(
            id: try engine.environment.random.identifier(prefix: "gra"), clientID: "phone-app", server: nil, userID: user.id,
            scopes: [Self.manage], grantType: "http://auth0.com/oauth/grant-type/mfa-oob", rule: "test", createdAt: now,
            account: .init(user), authentication: .init(proof, firstIssuedAt: now), accessTokenLifetime: 3_600,
            expiresAt: now.addingTimeInterval(3_600))
        #expect(try await engine.store.commit([.put(grant.record)]) == .committed)
        let issuer = TokenIssuer(
            snapshot: snapshot, server: try #require(snapshot.server(nil)), application: try #require(snapshot.application("phone-app")),
            random: engine.environment.random, now: now)
        return try issuer.response(for: grant, user: user, scopes: grant.scopes, refreshToken: nil).accessToken
    }

    // MARK: - Requests

    func call(
        _ method: String, _ path: String, token: String? = nil, scheme: String = "Bearer", accept: (String, String)? = version,
        contentType: String? = nil, body: [UInt8] = []
    ) async throws -> WireResponse {
        var headers = accept.map { [$0] } ?? []
        if let token { headers.append(("Authorization", "\(scheme) \(token)")) }
        if let contentType { headers.append(("Content-Type", contentType)) }
        return try await wire.call(method, path, headers: headers, body: body)
    }

    func enroll(_ body: JSONValue, token: String?) async throws -> WireResponse {
        try await call("POST", Self.api, token: token, contentType: "application/json", body: body.serialized())
    }

    /// Changes an enrollment as the official client does, with the patch media type in both headers.
    func patch(_ id: String, _ push: JSONValue, token: String?, scheme: String = "Bearer") async throws -> WireResponse {
        try await call(
            "PATCH", Self.api + "/" + id, token: token, scheme: scheme, accept: ("Accept", Self.patchType), contentType: Self.patchType,
            body: JSONValue.object(["methods": ["push": push]]).serialized())
    }

    func delete(_ id: String, token: String?) async throws -> WireResponse {
        try await call("DELETE", Self.api + "/" + id, token: token)
    }

    /// Returns an enrollment from the store.
    func enrollment(_ id: String) async throws -> Enrollment {
        let record: Record? = try await running.engine.store.read { try $0.record(.enrollment, id: id) }
        return try Enrollment(try #require(record))
    }

    /// Enrolls a phone for Jane over the wire.
    func enrolledPhone() async throws -> EnrollingPhone {
        var phone = try EnrollingPhone(now: running.clock.now)
        let answer = try await enroll(phone.enrollment(), token: accessToken())
        try phone.remember(answer.json)
        return phone
    }
}

/// A phone that enrolls and signs at a fixed time.
struct EnrollingPhone: Sendable {
    private let now: Date
    private var phone: SigningPhone

    init(now: Date) throws {
        self.now = now
        phone = try SigningPhone(origin: RunningServer.origin)
    }

    var enrollmentID: String { phone.enrollmentID }
    var methodID: String { phone.methodID }
    var userID: String { phone.userID }
    var deviceID: String { phone.deviceID }
    var clientInstanceID: String { phone.clientInstanceID }
    var possessionKey: SigningKey { phone.possessionKey }

    mutating func remember(_ answer: JSONValue) throws { try phone.remember(answer) }

    /// Returns the body of an enrollment request (Documentation/Protocol/Devices.md §2.5.2). A known device sends its attestation.
    func enrollment(attestation: String? = nil) -> JSONValue { phone.enrollment(in: "autphone", attestation: attestation) }

    func attestation(by key: SigningKey? = nil) throws -> String {
        var draft = phone.attestation(at: now)
        if let key { draft.key = key }
        return try draft.signed()
    }

    func assertion() throws -> String { try phone.assertion(at: now).signed() }

    func authorization() throws -> String { try phone.authorization(at: now).signed() }
}

/// Checks the status, the body and the headers of a device API error. If a challenge can no longer be answered, each cause has a
/// machine-readable reason.
func expectDeviceError(
    _ response: WireResponse, _ status: Int, _ code: String, _ summary: String, causes: [String] = [], reason: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let details = causes.map { text -> JSONValue in
        var cause: JSONValue = ["errorSummary": .string(text)]
        cause["reason"] = reason.map(JSONValue.string)
        return cause
    }
    let requestID = try #require(response["x-okta-request-id"], sourceLocation: sourceLocation)
    #expect(response.status == status, sourceLocation: sourceLocation)
    #expect(
        try response.json == [
            "errorCode": .string(code), "errorSummary": .string(summary), "errorLink": .string(code),
            "errorId": .string("oae" + requestID), "errorCauses": .array(details),
        ], sourceLocation: sourceLocation)
    #expect(response["Content-Type"] == "application/json", sourceLocation: sourceLocation)
    #expect(response["Cache-Control"] == "no-cache, no-store", sourceLocation: sourceLocation)
    if status == 401 {
        #expect(
            response["WWW-Authenticate"] == #"Bearer error="invalid_token", error_description="\#(summary)""#,
            sourceLocation: sourceLocation)
    }
}
