internal import HTTPTypes
internal import IdentityEngine

/// Requests of back ends that the organization trusts (authn reference 1.1 and 1.2).
extension ServerRequest {
    /// The token of `Authorization: SSWS`; nil without it. The space after the scheme may be missing, as Okta's Python SDK sends it.
    ///
    /// At the classic API it is a back end's API token; at the device API, a token that the device signed.
    var sswsToken: String? {
        guard let value = head.headerFields[values: .authorization].first, value.prefix(4).lowercased() == "ssws" else { return nil }
        let token = value.dropFirst(4).drop { $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    /// The request as it is counted and logged: of a trusted caller at one of its gateways, from the address that it forwards; of
    /// everybody else, from where it came.
    ///
    /// - Parameter snapshot: The configuration.
    /// - Returns: The request, from its end user.
    func ofEndUser(_ snapshot: OrgSnapshot) -> ServerRequest {
        guard let address = context.address, let caller = sswsToken.flatMap(snapshot.trustedCaller) else { return self }
        let user = PeerAddress.endUser(
            behind: address, unread: unreadForwarded,
            gateways: (caller.gateways ?? []).compactMap(TrustedNetwork.init))
        var request = self
        request.context.address = user
        request.context.backEnd = user == address ? caller.name : nil
        return request
    }
}
