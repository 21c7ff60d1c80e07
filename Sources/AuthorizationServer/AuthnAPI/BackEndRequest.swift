internal import HTTPTypes
internal import IdentityEngine

/// Requests of back ends that the organization trusts (authn reference 1.1 and 1.2).
extension ServerRequest {
    /// The API token of `Authorization: SSWS`; nil without it. The space after the scheme may be missing, as Okta's Python SDK sends it.
    var apiToken: String? {
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
        guard let address = context.address, let gateways = apiToken.flatMap({ snapshot.trustedCaller(token: $0)?.gateways }) else {
            return self
        }
        var request = self
        request.context.address = PeerAddress.endUser(
            behind: address, forwarded: head.headerFields[values: .forwardedFor], gateways: gateways.compactMap(TrustedNetwork.init))
        return request
    }
}
