import AuthorizationServer
import Foundation
import JOSE
import Testing

@testable import IdentityEngine

/// A server whose organization has a push authenticator, and requests as phones send them.
struct DeviceServer: Sendable {
    static let api = "/idp/myaccount/app-authenticators"
    static let manage = "okta.myAccount.appAuthenticator.manage"
    static let version = ("Accept", "application/json; okta-version=1.0.0")
    static let patchType = "application/merge-patch+json; okta-version=1.0.0"

    let running: RunningServer
    var wire: WireClient { running.wire }

    /// Runs a test against a server of its own.
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

    /// Gives the organization its authenticator, changed as a test wants it.
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

    /// Signs Jane in with her password.
    func accessToken(scope: String = manage) async throws -> String {
        let form = "client_id=phone-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=\(scope)"
        let answer = try await wire.post("/oauth2/v1/token", form)
        return try #require(try answer.json["access_token"]?.stringValue, "\(answer.body)")
    }

    /// An access token for the upkeep of an enrolment.
    func maintenanceToken(of phone: EnrollingPhone) async throws -> String {
        let form =
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&client_id=phone-app"
            + "&scope=okta.myAccount.appAuthenticator.maintenance.manage&assertion="
        let answer = try await wire.post("/oauth2/v1/token", form + (try phone.assertion()))
        return try #require(try answer.json["access_token"]?.stringValue, "\(answer.body)")
    }

    /// An access token of a sign-in of Jane with two factors.
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

    /// Changes an enrolment as the official client does: the patch's type in both headers.
    func patch(_ id: String, _ push: JSONValue, token: String?, scheme: String = "Bearer") async throws -> WireResponse {
        try await call(
            "PATCH", Self.api + "/" + id, token: token, scheme: scheme, accept: ("Accept", Self.patchType), contentType: Self.patchType,
            body: JSONValue.object(["methods": ["push": push]]).serialized())
    }

    func delete(_ id: String, token: String?) async throws -> WireResponse {
        try await call("DELETE", Self.api + "/" + id, token: token)
    }

    /// A phone that Jane enrolled over the wire.
    func enrolledPhone() async throws -> EnrollingPhone {
        var phone = try EnrollingPhone(now: running.clock.now)
        let answer = try await enroll(phone.enrollment(), token: accessToken())
        try phone.remember(answer.json)
        return phone
    }
}

/// An app installation with real keys.
struct EnrollingPhone: Sendable {
    let now: Date
    let instanceKey: SigningKey
    let possessionKey: SigningKey
    var userID = ""
    var enrollmentID = ""
    var methodID = ""
    var deviceID = ""
    var clientInstanceID = ""

    init(now: Date) throws {
        self.now = now
        instanceKey = try .generate(.es256, keyID: UUID().uuidString)
        possessionKey = try .generate(.es256, keyID: UUID().uuidString)
    }

    mutating func remember(_ answer: JSONValue) throws {
        enrollmentID = try #require(answer["id"]?.stringValue, "\(answer)")
        userID = try #require(answer["user"]?["id"]?.stringValue)
        methodID = try #require(answer["methods"]?["push"]?["id"]?.stringValue)
        deviceID = try #require(answer["device"]?["id"]?.stringValue)
        clientInstanceID = try #require(answer["device"]?["clientInstanceId"]?.stringValue)
    }

    static func jwk(_ key: SigningKey) throws -> JSONValue {
        var json = try #require(key.publicKey).json()
        json["alg"] = nil
        json["use"] = nil
        json["okta:kpr"] = "SOFTWARE"
        return json
    }

    /// The body of the reference's example (2.5.2); of a known device with its attestation.
    func enrollment(attestation: String? = nil) throws -> JSONValue {
        var device: JSONValue = [
            "displayName": "Ada's phone", "platform": "IOS", "manufacturer": "APPLE", "model": "iPhone15,3", "osVersion": "17.4.0",
            "secureHardwarePresent": true, "screenLockType": "BIOMETRIC", "clientInstanceBundleId": "AcmeApp",
            "clientInstanceVersion": "3.0", "clientInstanceDeviceSdkVersion": "DeviceAuthenticator 1.1.0", "authenticatorAppKey": "0C1E",
        ]
        if let attestation {
            device["id"] = .string(deviceID)
            device["clientInstanceId"] = .string(clientInstanceID)
            device["deviceAttestation"] = ["clientInstanceKeyAttestation": .string(attestation)]
        } else {
            device["clientInstanceKey"] = try Self.jwk(instanceKey)
        }
        return [
            "authenticatorId": "autphone", "device": device,
            "methods": [
                "push": [
                    "pushToken": "00ff12", "apsEnvironment": "development", "capabilities": ["transactionTypes": ["LOGIN"]],
                    "keys": ["proofOfPossession": try Self.jwk(possessionKey)],
                ]
            ],
        ]
    }

    func signed(
        _ type: String, _ issuer: String, _ subject: String, _ more: [String: JSONValue] = [:], by key: SigningKey? = nil
    ) throws -> String {
        let issuedAt = Int64(now.timeIntervalSince1970)
        let common: [String: JSONValue] = [
            "iss": .string(issuer), "aud": .string(RunningServer.origin), "sub": .string(subject), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + 300), "nbf": .integer(issuedAt - 300), "jti": .string(UUID().uuidString),
        ]
        return try (key ?? possessionKey).sign(.object(common.merging(more) { $1 }), header: ["typ": .string(type)])
    }

    func attestation() throws -> String { try signed("", clientInstanceID, deviceID, by: instanceKey) }

    func assertion() throws -> String {
        try signed("JWT", "urn:okta:devices:app:authenticator", userID, ["methodEnrollmentId": .string(methodID)])
    }

    func authorization() throws -> String {
        try signed("okta-enrollmentupdate+jwt", enrollmentID, userID, ["kid": .string(possessionKey.keyID ?? "")])
    }
}

/// The whole of an error of the device API: the status, and a body that official clients decode. Each cause of a challenge that can be
/// answered no more says why, for a program.
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
