internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// The grant of a device's maintenance token. A device gets the token for an enrollment by signing with the enrollment's
/// proof-of-possession key, without the user (Documentation/Protocol/Devices.md §2.10 and §3.8). The token permits only actions without
/// effect on security: reading open challenges, and changing the push token and the capabilities. It is valid for one enrollment. It
/// becomes invalid when the enrollment, its device or its user is no longer active.
struct MaintenanceTokenGrant: AssertionHandler {
    /// The lifetime in seconds.
    static let lifetime = 3_600
    /// The text in the log where other grants name an access policy rule.
    private static let rule = "upkeep of a device"

    private let request: AdmittedRequest
    private let scopes: [String]
    private let enrolled: EnrolledDevice
    private let user: User?
    private let use: AssertionUse
    /// The refusal of a correctly signed assertion; `nil` if the device gets a token.
    private let refusal: Refusal?

    /// The rows of the enrollment that an assertion names. The id of its use is not known before the enrollment.
    static func lookup(_ claims: ClaimSet) -> Lookup {
        guard let id = claims["methodEnrollmentId"]?.stringValue else { return Lookup() }
        return Lookup(
            .records(
                .enrollment, where: "method", is: id, limit: 1, .named(.device, byKey: "device"), .named(.user, byKey: "user")))
    }

    init(_ assertion: String, _ request: AdmittedRequest, reading view: any StoreView) throws {
        guard request.server.id == nil else { throw JWTBearerGrant.invalid("assertion: only the org server gives maintenance tokens") }
        self.request = request
        scopes = try Self.scopes(of: request)
        let now = request.context.now
        let directory = DeviceDirectory(snapshot: request.snapshot, view: view, now: now)
        guard let methodID = try? JSONWebSignature(parsing: assertion).unverifiedClaims()["methodEnrollmentId"]?.stringValue,
            let enrolled = try directory.enrollment(methodID: methodID)
        else { throw JWTBearerGrant.invalid("assertion: no such push method") }
        self.enrolled = enrolled
        let token: DeviceToken
        do {
            token = try DeviceToken(
                verifying: assertion,
                DeviceToken.Expectation(
                    types: ["JWT", ""], keys: [enrolled.method.proofOfPossession], issuer: DeviceToken.maintenanceIssuer,
                    subject: enrolled.enrollment.userID, audience: request.snapshot.deviceAudience), now: now)
        } catch {
            throw JWTBearerGrant.invalid("assertion: \(error.code.rawValue)")
        }
        use = token.use(by: enrolled.enrollment.id)
        user = try GrantUserReader.user(id: enrolled.enrollment.userID, in: view)
        refusal = try Self.refusal(of: enrolled, user, isUsed: use.isMade(in: view), client: request.application.id)
    }

    /// Returns the requested scopes. Throws ``Refusal`` unless all are for maintenance and allowed for this client.
    private static func scopes(of request: AdmittedRequest) throws(Refusal) -> [String] {
        let scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        guard DeviceScope.maintenance.isSuperset(of: scopes) else {
            throw Refusal(
                .invalidScope, "A maintenance token can only have the scopes \(DeviceScope.maintenance.sorted().joined(separator: ", ")).",
                reason: "scope.not_maintenance")
        }
        return scopes
    }

    private static func refusal(of enrolled: EnrolledDevice, _ user: User?, isUsed: Bool, client: String) -> Refusal? {
        if isUsed { return JWTBearerGrant.invalid("assertion: used") }
        if let closed = EnrolledDevice.Closure(of: user) ?? enrolled.closure {
            return JWTBearerGrant.invalid("assertion: \(closed.reason)")
        }
        guard let authenticator = enrolled.authenticator, authenticator.isActive else {
            return JWTBearerGrant.invalid("assertion: the authenticator is off")
        }
        return authenticator.clientID == client ? nil : JWTBearerGrant.invalid("assertion: the client is not the authenticator's")
    }

    func decide(_ engine: Engine) throws -> TokenDecision {
        let userID = enrolled.enrollment.userID
        if let refusal { return .refused(refusal, Writes(), userID: userID) }
        guard let user else { throw JWTBearerGrant.invalid("user.removed") }
        let now = request.context.now
        let grant = Grant(
            id: try engine.environment.random.identifier(prefix: "gra"), clientID: request.application.id, server: nil, userID: userID,
            scopes: scopes, grantType: request.grantType, rule: Self.rule, enrollmentID: enrolled.enrollment.id, createdAt: now,
            account: .init(user), accessTokenLifetime: Self.lifetime, expiresAt: now.addingTimeInterval(TimeInterval(Self.lifetime)))
        let response = try request.issuer(engine).response(for: grant, user: user, scopes: scopes, refreshToken: nil)
        return .issued(
            response, Writes([use.change, .put(grant.record)]), rule: "\(Self.rule); enrollment \(enrolled.enrollment.id)", userID: userID)
    }
}
