internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import Store

/// The rows that a device's request reads in addition to its caller.
struct DeviceRows: Sendable {
    /// The rows of the caller's user.
    var user: [Lookup.Node] = []
    /// The enrollment in the path; `nil` for none.
    var enrollmentID: String?
    /// The rows of that enrollment's device.
    var device: [Lookup.Node] = []
    /// Rows of their own.
    var others: [Lookup.Node] = []

    /// Returns the lookup of a request. The claims of a token are not verified here.
    func lookup(_ authorization: DeviceAuthorization, _ possession: ProofOfPossession?) -> Lookup {
        let enrolled = Lookup.Node.named(.device, byKey: "device").appending(device)
        var nodes = others
        var signer: String?
        switch authorization {
        case .none: break
        case .bearer(let token), .dpop(let token, _):
            if let id = Self.claims(of: token)?.jwtID.flatMap(TokenID.init)?.grantID {
                // A grant that a ticket of a sign-in gave names the sign-in.
                let signIn = Lookup.Node.named(.transaction, byKey: Grant.signInKey, .named(.session, byKey: "session"))
                nodes.append(.record(.grant, id: id, .named(.user, byKey: "user").appending(user), signIn))
            }
        case .ssws(let token):
            if let claims = Self.claims(of: token), let id = claims.issuer {
                signer = id
                let own: [Lookup.Node] =
                    [.named(.user, byKey: "user").appending(user)] + (id == enrollmentID ? [enrolled] : [.named(.device, byKey: "device")])
                nodes.append(.record(.enrollment, id: id).appending(own))
                nodes += [DeviceToken.rowOfUse(claims, by: id)].compactMap(\.self)
            }
        }
        if let enrollmentID, enrollmentID != signer { nodes.append(.record(.enrollment, id: enrollmentID, enrolled)) }
        if let possession { nodes.append(possession.use.row) }
        return Lookup(nodes)
    }

    private static func claims(of token: String) -> ClaimSet? { try? JSONWebSignature(parsing: token).unverifiedClaims() }
}

extension EnrollmentRequest {
    /// The rows of an enrollment: the user's factors, and the device if it is enrolled already.
    var rows: DeviceRows {
        guard case .known(let id, let instanceID, let attestation) = installation else { return DeviceRows(user: [.factors]) }
        let claims = try? JSONWebSignature(parsing: attestation).unverifiedClaims()
        let use = claims.flatMap { DeviceToken.rowOfUse($0, by: instanceID) }
        return DeviceRows(user: [.factors], others: [.record(.device, id: id)] + [use].compactMap(\.self))
    }
}

extension EnrollmentPatch {
    /// The rows of a change. Only a change of keys depends on the user's factors.
    func rows(of enrollmentID: String) -> DeviceRows {
        DeviceRows(user: userVerification == nil ? [] : [.factors], enrollmentID: enrollmentID)
    }
}
