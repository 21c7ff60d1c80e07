internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// An assertion about a user from an issuer that a custom server trusts (RFC 7523 section 2.1; Documentation/Protocol/OAuth.md §2.4.8). The
/// assertion counts as one factor. If the application's policy requires two factors, the request is refused.
struct UserAssertionGrant: AssertionHandler {
    /// The maximum length of a user name in bytes.
    private static let longestName = 300
    /// The maximum time until an assertion expires, in seconds.
    static let longest: Double = 3_600
    /// The allowed clock difference to the issuer, in seconds.
    private static let clockLeeway: Double = 60

    private let request: AdmittedRequest
    private let scopes: [String]
    private let user: User
    private let time: Date
    private let use: AssertionUse?

    /// The rows of the user whom an assertion names, and of its use.
    static func lookup(_ claims: ClaimSet) -> Lookup {
        guard let name = claims.subject, name.utf8.count <= longestName else { return Lookup() }
        var nodes = [Lookup.Node.records(.user, where: "login", is: User.key(forLogin: name), limit: 1)]
        if let id = claims.jwtID, let issuer = claims.issuer { nodes.append(AssertionUse.row(of: id, by: issuer)) }
        return Lookup(nodes)
    }

    init(_ assertion: String, _ request: AdmittedRequest, reading view: any StoreView) throws {
        self.request = request
        let now = request.context.now
        guard let issuer = request.server.trustedIssuer(of: assertion) else { throw JWTBearerGrant.invalid("assertion.issuer") }
        scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        guard issuer.clients?.contains(request.application.id) ?? true else { throw JWTBearerGrant.invalid("assertion: another client") }
        let base = request.snapshot.issuer(of: request.server)
        let verifier = JWTVerifier(
            keys: issuer.keys, algorithms: [.rs256, .rs384, .rs512, .es256, .es384, .es512], issuer: issuer.issuer,
            audience: [base, "\(base)/v1/token"], leeway: Self.clockLeeway)
        let claims: ClaimSet
        do {
            claims = try verifier.verify(assertion, now: now)
        } catch {
            throw JWTBearerGrant.invalid("assertion: \(error.code.rawValue)")
        }
        // The server of a second audience could replay the assertion here.
        guard claims.audience.count == 1 else { throw JWTBearerGrant.invalid("assertion: several audiences") }
        let seconds = now.timeIntervalSince1970
        guard let end = claims.expiresAt, seconds < end else { throw JWTBearerGrant.invalid("assertion: expired") }
        guard end <= seconds + Self.longest else { throw JWTBearerGrant.invalid("assertion: too long") }
        use = claims.jwtID.map { AssertionUse(of: $0, by: issuer.issuer, until: end) }
        guard try use?.isMade(in: view) != true else { throw JWTBearerGrant.invalid("assertion: used") }
        guard let name = claims.subject, name.utf8.count <= Self.longestName,
            let stored = try view.records(.user, where: "login", is: User.key(forLogin: name), limit: 1).first.map(StoredUser.init),
            stored.value.status == .active
        else { throw JWTBearerGrant.invalid("assertion: subject") }
        user = stored.value
        time = try Self.authenticationTime(claims["auth_time"], now: now)
    }

    /// Returns the time at which the issuer authenticated the user: `auth_time`, but not later than now. Without `auth_time`, returns now.
    private static func authenticationTime(_ claim: JSONValue?, now: Date) throws -> Date {
        guard let claim else { return now }
        guard let time = claim.doubleValue.flatMap(Date.init(numericDate:)) else { throw JWTBearerGrant.invalid("assertion: auth_time") }
        return min(time, now)
    }

    func decide(_ engine: Engine) throws -> TokenDecision {
        let now = request.context.now
        let decision = request.snapshot.signOnDecision(for: user, application: request.application)
        switch decision.assurance {
        case .deny: throw Refusal(.accessDenied, "You are not allowed to sign in to this application.", reason: decision.reason)
        case .twoFactors, .phishingResistant:
            throw Refusal(.accessDenied, "This application asks for two factors. Sign in to it.", reason: decision.reason)
        case .oneFactor: break
        }
        if let age = decision.reauthenticateAfter, now > time.addingTimeInterval(TimeInterval(age)) {
            throw Refusal(.accessDenied, "The sign-in is too long ago for this application. Sign in again.", reason: decision.reason)
        }
        let context = AuthenticationContext(userID: user.id, time: time, methods: ["fed"])
        return try UserGrant(request: request, user: user, authentication: context, scopes: scopes)
            .issue(engine, after: Writes(use.map { [$0.change] } ?? []))
    }
}

extension AuthorizationServerDefinition {
    /// Returns the trusted issuer that an assertion names. The assertion is not verified yet; its issuer only selects the keys.
    func trustedIssuer(of assertion: String) -> TrustedIssuer? {
        guard !trustedIssuers.isEmpty, let issuer = try? JSONWebSignature(parsing: assertion).unverifiedClaims().issuer else { return nil }
        return trustedIssuers.first { $0.issuer.utf8.elementsEqual(issuer.utf8) }
    }
}
