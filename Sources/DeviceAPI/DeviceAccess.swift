internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
internal import Store

/// The authenticated caller of a device endpoint.
package struct DeviceCaller: Sendable {
    package let user: User
    /// The grant of the access token; `nil` for a request that the device signed itself.
    package let grant: Grant?
    /// The only enrollment that the caller may access; `nil` for a user's token, which gives access to all enrollments of the user.
    let enrollmentID: String?
    /// The single use of a signed authorization or of a proof, to be committed with the request; `nil` for bearer tokens.
    let use: AssertionUse?
    /// The role of the key that signed the request; `nil` for an access token.
    package let keyRole: PushMethod.KeyRole?
    /// The scopes of the access token, or those that a device's signature implies.
    let scopes: Set<String>

    var clientID: String? { grant?.clientID }

    /// Checks that the caller has one of the scopes; throws `E0000006` otherwise.
    func check(_ needed: Set<String>) throws(DeviceRefusal) {
        guard scopes.isDisjoint(with: needed) else { return }
        throw .accessDenied(
            "The access token does not permit this. It needs one of the scopes: \(needed.sorted().joined(separator: ", ")).",
            reason: "scope is missing")
    }
}

/// Authenticates the caller of a device endpoint (Documentation/Protocol/Devices.md §2.1, §2.2 and §3.10). All state is read in one view.
/// The org server must have issued the access token. The token's grant is checked, so that a revocation takes effect at once. An
/// authorization that the device signed has the rights of `manage` for the device's own enrollment.
struct DeviceAccess {
    static let signedType = "okta-enrollmentupdate+jwt"

    let snapshot: OrgSnapshot
    let view: any StoreView
    let now: Date
    /// The verified proof of a request with the scheme `DPoP`; `nil` for other schemes.
    var possession: ProofOfPossession?

    var directory: DeviceDirectory { DeviceDirectory(snapshot: snapshot, view: view, now: now) }

    /// Returns the caller.
    /// - Throws: ``DeviceRefusal``: 401 for an invalid token, or the refusal for the state of the account or enrollment. ``StoreError``.
    func caller(_ authorization: DeviceAuthorization) throws -> DeviceCaller {
        switch authorization {
        case .none: throw DeviceRefusal.invalidToken("no token")
        case .bearer(let token): try accessToken(token, provedBy: nil)
        case .dpop(let token, _): try accessToken(token, provedBy: possession)
        case .ssws(let token): try signed(token)
        }
    }

    /// Returns an enrollment of the caller with its device and authenticator. Neither the enrollment nor the device is deleted or
    /// suspended.
    /// - Throws: ``DeviceRefusal``: 404 for an enrollment that is not the caller's, 403 for a token of another enrollment, and the codes of
    ///   the lifecycle for a deleted or suspended enrollment or device. ``StoreError``.
    func enrollment(id: String, of caller: DeviceCaller) throws -> EnrolledDevice {
        guard let enrolled = try directory.enrollment(id: id), enrolled.enrollment.userID == caller.user.id else {
            throw DeviceRefusal.notFound("enrollment", reason: "enrollment is unknown, or another user's")
        }
        if let own = caller.enrollmentID, own != id {
            throw DeviceRefusal.accessDenied(
                "The token is for another enrollment. Get one with this enrollment's key.", reason: "token of another enrollment")
        }
        if let refusal = enrolled.refusal { throw refusal }
        return enrolled
    }

    private func accessToken(_ token: String, provedBy possession: ProofOfPossession?) throws -> DeviceCaller {
        guard let claims = snapshot.keyRing.verification.claims(of: token, issuer: snapshot.origin, now: now),
            claims.audience == [snapshot.origin],
            let id = claims.jwtID.flatMap(TokenID.init), id.kind == .access, let issuedAt = claims.issuedAt,
            let grant = try view.record(.grant, id: id.grantID).map(Grant.init), grant.server == nil,
            !grant.isRevoked(tokenID: id.text, issuedAt: Int(clamping: issuedAt)), snapshot.application(grant.clientID)?.isActive == true
        else { throw DeviceRefusal.invalidToken("access token") }
        do throws(Refusal) { try claims.requireBinding(to: possession) } catch { throw DeviceRefusal.proof(error) }
        if let possession, try possession.use.isMade(in: view) { throw DeviceRefusal.proof(.usedProof) }
        guard let userID = grant.userID else {
            throw DeviceRefusal.accessDenied("The token belongs to a client. Sign in as a user.", reason: "access token without a user")
        }
        let user = try GrantUserReader.user(id: userID, in: view)
        // The account is checked before the grant, so that a device learns that the account is suspended or deleted.
        if let refusal = DeviceRefusal.account(user) { throw refusal }
        if let closure = grant.closure(by: user) { throw DeviceRefusal.invalidToken("access token: \(closure)") }
        guard let user else { throw DeviceRefusal.invalidToken("user.removed") }
        return DeviceCaller(
            user: user, grant: grant, enrollmentID: grant.enrollmentID, use: possession?.use, keyRole: nil, scopes: Set(claims.scopes))
    }

    /// Authenticates by a token that the device signed. The state of the enrollment is checked last, so that only a holder of the
    /// enrollment's key learns this state.
    private func signed(_ token: String) throws -> DeviceCaller {
        guard let issuer = try? JSONWebSignature(parsing: token).unverifiedClaims().issuer,
            let enrolled = try directory.enrollment(id: issuer)
        else { throw DeviceRefusal.invalidToken("signed authorization: no such enrollment") }
        let method = enrolled.method
        let verified: DeviceToken
        do {
            verified = try DeviceToken(
                verifying: token,
                DeviceToken.Expectation(
                    types: [Self.signedType], keys: [method.proofOfPossession] + (method.userVerification.map { [$0] } ?? []),
                    issuer: enrolled.enrollment.id, subject: enrolled.enrollment.userID, audience: snapshot.deviceAudience), now: now)
        } catch {
            throw DeviceRefusal.invalidToken("signed authorization: \(error.code.rawValue)")
        }
        guard verified.claims["kid"]?.stringValue == verified.keyID else {
            throw DeviceRefusal.invalidToken("signed authorization: another key in its payload")
        }
        let use = verified.use(by: enrolled.enrollment.id)
        guard try !use.isMade(in: view) else { throw DeviceRefusal.invalidToken("signed authorization: used") }
        let user = try GrantUserReader.user(id: enrolled.enrollment.userID, in: view)
        if let refusal = DeviceRefusal.account(user) ?? enrolled.refusal { throw refusal }
        guard let user else { throw DeviceRefusal.invalidToken("user.removed") }
        return DeviceCaller(
            user: user, grant: nil, enrollmentID: enrolled.enrollment.id, use: use, keyRole: method.key(id: verified.keyID)?.role,
            scopes: [DeviceScope.manage])
    }
}

/// The unchecked `Authorization` header of a device's request (Documentation/Protocol/Devices.md §2.1).
package enum DeviceAuthorization: Sendable {
    /// The header is absent, or its scheme is not supported.
    case none
    /// `Bearer`: an access token of the org server.
    case bearer(String)
    /// `DPoP`: an access token of the org server that is bound to a key, with its proof.
    case dpop(String, PresentedProof)
    /// `SSWS`: a token that the device signed with a key of its enrollment.
    case ssws(String)
}

extension DeviceAuthorization: Redacted {
    package var description: String {
        switch self {
        case .none: "DeviceAuthorization(none)"
        case .bearer: "DeviceAuthorization(bearer)"
        case .dpop: "DeviceAuthorization(dpop)"
        case .ssws: "DeviceAuthorization(ssws)"
        }
    }
}
