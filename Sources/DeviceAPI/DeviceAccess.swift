internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
internal import Store

/// Who sends a device's request, as far as it was proved.
package struct DeviceCaller: Sendable {
    package let user: User
    /// What an access token came from; nil for a request that the device signed itself.
    package let grant: Grant?
    /// The only enrolment that it speaks for; nil for a person's token, which speaks for all of theirs.
    let enrollmentID: String?
    /// What must be committed for the request to count: the use of a signed authorization or of a proof, which are good once. Nil
    /// for bearer tokens.
    let use: AssertionUse?
    /// Which key signed the request, if the device signed it.
    package let keyRole: PushMethod.KeyRole?
    /// What it may do: the token's scopes, or the rights that a signature has.
    let scopes: Set<String>

    /// The client that the access token was issued to.
    var clientID: String? { grant?.clientID }

    /// Checks that the caller may do what one of some scopes permits.
    ///
    /// - Throws: ``DeviceRefusal`` with `E0000006` that names them.
    func check(_ needed: Set<String>) throws(DeviceRefusal) {
        guard scopes.isDisjoint(with: needed) else { return }
        throw .accessDenied(
            "The access token does not permit this. It needs one of the scopes: \(needed.sorted().joined(separator: ", ")).",
            reason: "scope is missing")
    }
}

/// Judges what a device's request brings to say who it is (device-authenticator reference 2.1, 2.2 and 3.10).
///
/// Everything is read in one view. Access tokens are the org server's own, good now, and their grant is asked, so that a
/// revocation is seen at once; an authorization that the device signed has the rights of `manage` for its own enrolment.
struct DeviceAccess {
    static let signedType = "okta-enrollmentupdate+jwt"

    let snapshot: OrgSnapshot
    let view: any StoreView
    let now: Date
    /// The proof of a request that came by the scheme `DPoP`, found good.
    var possession: ProofOfPossession?

    var directory: DeviceDirectory { DeviceDirectory(snapshot: snapshot, view: view, now: now) }

    /// Who sends a request.
    ///
    /// - Parameter authorization: What it brought.
    /// - Returns: The caller.
    /// - Throws: ``DeviceRefusal``: 401 for a token that is not good, or what the state of the account or the enrolment refuses.
    ///   ``StoreError``.
    func caller(_ authorization: DeviceAuthorization) throws -> DeviceCaller {
        switch authorization {
        case .none: throw DeviceRefusal.invalidToken("no token")
        case .bearer(let token): try accessToken(token, provedBy: nil)
        case .dpop(let token, _): try accessToken(token, provedBy: possession)
        case .ssws(let token): try signed(token)
        }
    }

    /// The caller's enrolment that a request is about.
    ///
    /// - Parameters:
    ///   - id: The enrolment's id, as the request names it.
    ///   - caller: Who asks.
    /// - Returns: It, its device and its authenticator; neither it nor the device is deleted or suspended.
    /// - Throws: ``DeviceRefusal``: 404 for what is not the caller's, 403 for a token of another enrolment, and the lifecycle's codes for
    ///   what is closed or was theirs. ``StoreError``.
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

    // MARK: - Access tokens

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
            throw DeviceRefusal.accessDenied("The token is a client's own. Sign in as a person.", reason: "access token without a user")
        }
        let user = try GrantHolder.user(id: userID, in: view)
        // A token of a person whose account is closed for now still tells the device so.
        if let refusal = DeviceRefusal.account(user) { throw refusal }
        if let closure = grant.closure(by: user) { throw DeviceRefusal.invalidToken("access token: \(closure)") }
        guard let user else { throw DeviceRefusal.invalidToken("user.removed") }
        return DeviceCaller(
            user: user, grant: grant, enrollmentID: grant.enrollmentID, use: possession?.use, keyRole: nil, scopes: Set(claims.scopes))
    }

    // MARK: - Signed by the device

    /// Nobody learns of an enrolment's state without a signature by its key.
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
        let user = try GrantHolder.user(id: enrolled.enrollment.userID, in: view)
        if let refusal = DeviceRefusal.account(user) ?? enrolled.refusal { throw refusal }
        guard let user else { throw DeviceRefusal.invalidToken("user.removed") }
        return DeviceCaller(
            user: user, grant: nil, enrollmentID: enrolled.enrollment.id, use: use, keyRole: method.key(id: verified.keyID)?.role,
            scopes: [DeviceScope.manage])
    }
}

/// How a request of a device says who sends it: what stands in its `Authorization` header, not yet checked
/// (device-authenticator reference 2.1).
package enum DeviceAuthorization: Sendable {
    /// The header is absent, or of a scheme that is not known here.
    case none
    /// `Bearer`: an access token of the org server.
    case bearer(String)
    /// `DPoP`: an access token of the org server that is bound to a key, and the proof that came with it.
    case dpop(String, PresentedProof)
    /// `SSWS`: a token that the device signed with a key of its enrolment.
    case ssws(String)
}

extension DeviceAuthorization: Redacted {
    /// Which form it is; never the token.
    package var description: String {
        switch self {
        case .none: "DeviceAuthorization(none)"
        case .bearer: "DeviceAuthorization(bearer)"
        case .dpop: "DeviceAuthorization(dpop)"
        case .ssws: "DeviceAuthorization(ssws)"
        }
    }
}
