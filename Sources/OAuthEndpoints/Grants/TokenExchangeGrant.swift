internal import Foundation
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// Native SSO: an app signs in with the ID token and the device secret of another app on the device (RFC 8693; OpenID Connect Native SSO
/// 1.0 section 4.3; Documentation/Protocol/OAuth.md §2.4.7). The ID token may have expired; the secret must be valid. The policies of the
/// new app are evaluated on the factors that were proved for the first app.
struct TokenExchangeGrant: GrantHandler, Redacted {
    static let grantType = GrantType.tokenExchange

    /// The accepted prefixes of token types (Documentation/Protocol/OAuth.md §2.4.7).
    private static let prefixes = ["urn:ietf:params:oauth:token-type:", "urn:x-oath:params:oauth:token-type:"]
    private static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"

    private let request: AdmittedRequest
    private let scopes: [String]
    private let secret: String
    private let digest: TicketDigest
    private let user: User
    private let authentication: Grant.Authentication
    private let sessionID: String

    static func lookup(_ parameters: [String: String], isProved: Bool, _ engine: Engine) -> Lookup {
        Lookup(.ticket(.deviceSecret, TicketDigest(of: parameters["actor_token"] ?? ""), .owner(.named(.user, byKey: "user"))))
    }

    init(_ request: AdmittedRequest, reading: Reading<GrantVerdict>) throws {
        let view = reading.view
        self.request = request
        let subject = try request.required("subject_token")
        try Self.require(request, "subject_token_type", "id_token")
        secret = try request.required("actor_token")
        try Self.require(request, "actor_token_type", "device-secret")
        try Self.limits(of: request)
        scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        digest = TicketDigest(of: secret)

        let (snapshot, now) = (request.snapshot, request.context.now)
        let claims = snapshot.keyRing.verification.claims(ofHint: subject, issuer: snapshot.issuer(of: request.server), now: now)
        guard let claims, claims.jwtID.flatMap(TokenID.init)?.kind == .id, claims.audience.count == 1,
            claims.audience.first.flatMap({ snapshot.application($0) })?.isActive == true
        else { throw Self.invalid("exchange: subject_token") }
        guard let (grant, user) = try view.deviceGrant(digest, server: request.server.id, snapshot: snapshot, now: now) else {
            throw Self.invalid("exchange: actor_token")
        }
        guard let sessionID = grant.sessionID, let authentication = grant.authentication, claims.subject == user.id,
            claims.json["sid"]?.stringValue == sessionID, claims.json["ds_hash"]?.stringValue == DeviceSecret.hash(digest.bytes)
        else { throw Self.invalid("exchange: the tokens do not belong together") }
        (self.user, self.authentication, self.sessionID) = (user, authentication, sessionID)
    }

    func decide(_ engine: Engine, _ verdict: FactorVerdict?) throws -> TokenDecision {
        let now = request.context.now
        let decision = request.snapshot.signOnDecision(for: user, application: request.application)
        switch decision.assurance {
        case .deny: throw Refusal(.accessDenied, "You are not allowed to sign in to this application.", reason: decision.reason)
        case .twoFactors where !authentication.methods.contains("mfa"):
            throw Refusal(.accessDenied, "This application asks for a second factor. Sign in to it.", reason: decision.reason)
        case .phishingResistant where !Set(authentication.methods).isSuperset(of: ["mfa", "pop"]):
            throw Refusal(.accessDenied, "This application asks for a passkey. Sign in to it.", reason: decision.reason)
        case .oneFactor, .twoFactors, .phishingResistant: break
        }
        if let age = decision.reauthenticateAfter, now.timeIntervalSince1970 > Double(authentication.time + age) {
            throw Refusal(.accessDenied, "The sign-in is too long ago for this application. Sign in again.", reason: decision.reason)
        }
        let context = AuthenticationContext(
            userID: user.id, time: Date(clampingNumericDate: Double(authentication.time)), methods: authentication.methods,
            contextClass: authentication.contextClass)
        // A concurrent sign-out of the device makes this commit fail.
        return try UserGrant(
            request: request, user: user, authentication: context, scopes: scopes, sessionID: sessionID, deviceSecret: secret,
            issuedTokenType: Self.accessTokenType
        ).issue(engine, after: Writes([.require(.deviceSecret, digest: digest, now: now)]))
    }

    private static func require(_ request: AdmittedRequest, _ name: String, _ type: String) throws(Refusal) {
        guard isType(try request.required(name), type) else {
            throw Refusal(
                .invalidRequest, "The \(name) is not supported. Exchange an id_token with a device-secret as the actor.",
                reason: "exchange: \(name)")
        }
    }

    /// Checks the parameters that this server does not support. Throws ``Refusal`` for the audience of another server, for another
    /// requested token type, and for `resource`.
    private static func limits(of request: AdmittedRequest) throws(Refusal) {
        if let wanted = request["requested_token_type"], !isType(wanted, "access_token") {
            throw Refusal(
                .invalidRequest, "The requested_token_type is not supported. Leave it out.", reason: "exchange: requested_token_type")
        }
        guard request["resource"] == nil else {
            throw Refusal(.invalidRequest, "The parameter resource is not supported. Use audience.", reason: "exchange: resource")
        }
        let audience = request.snapshot.audience(of: request.server)
        guard request["audience"] ?? audience == audience else {
            throw Refusal(.invalidRequest, "The audience is not that of this authorization server.", reason: "exchange: audience")
        }
    }

    private static func isType(_ text: String, _ type: String) -> Bool { prefixes.contains { text == $0 + type } }

    /// Returns the refusal of an invalid token. The response is the same for every reason, which only the log shows.
    private static func invalid(_ reason: String) -> Refusal {
        Refusal(.invalidGrant, "The tokens are invalid or expired, or do not belong together.", reason: reason)
    }
}
