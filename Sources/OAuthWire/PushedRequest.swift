package import Foundation
package import IdentityCore
internal import JOSE
package import Store

/// The response to a pushed authorization request (RFC 9126 section 2.2).
package struct PushedAuthorization: Sendable {
    /// The `request_uri` for the browser's authorize request.
    package var requestURI: String
    /// The lifetime in seconds.
    package var expiresIn: Int
    /// The nonce for the client's next proof (`DPoP-Nonce`); `nil` if the client's proof already contained it, or if it sent no proof.
    package var nextNonce: String?
}

/// Functions for the `request_uri` of a pushed request: a URN that cannot be fetched.
package enum PushedRequest {
    /// The lifetime of a `request_uri` in seconds (Documentation/Protocol/OAuth.md §5.2).
    static let lifetime: TimeInterval = 300
    private static let prefix = "urn:okta:par-"

    /// Returns the single-use ticket that stores a request. The client's record owns it.
    package static func ticket(_ request: AuthorizationRequest, secret: String, now: Date) throws -> Ticket {
        Ticket(
            kind: .pushedRequest, digest: TicketDigest(of: secret), owner: RecordReference(.application, request.clientID), use: .once,
            expiresAt: now.addingTimeInterval(lifetime), payload: try RecordCoding.encode(request))
    }

    package static func uri(_ secret: String) -> String { prefix + secret }

    /// Returns the digest of the URI's secret; `nil` for other URIs.
    package static func digest(of uri: String) -> TicketDigest? {
        uri.hasPrefix(prefix) && uri.utf8.count <= 100 ? TicketDigest(of: String(uri.dropFirst(prefix.count))) : nil
    }
}

extension Engine {
    /// Stores an authorization request that the client pushed (`/par`, RFC 9126). A proof of possession binds the later code to the key of
    /// the proof, as `dpop_jkt` does (RFC 9449 section 10.1).
    package func pushAuthorizationRequest(
        _ request: TokenRequest, context: RequestContext
    ) async throws -> Result<PushedAuthorization, Refusal> {
        let proof = request.proof.map { proofs.genuine($0, with: nil, now: context.now) }
        return try await transact(request, proof: proof, context: context) { admitted, _ in
            (request: try Self.pushed(admitted), possession: admitted.proof)
        } decide: { [self] pushed in
            let secret = try environment.random.secret()
            let ticket = try PushedRequest.ticket(pushed.request, secret: secret, now: context.now)
            let answer = PushedAuthorization(
                requestURI: PushedRequest.uri(secret), expiresIn: Int(clamping: PushedRequest.lifetime),
                nextNonce: pushed.possession?.nextNonce)
            return Plan(.success(answer), Writes([.issue(ticket)]))
        }
    }

    private static func pushed(_ admitted: AdmittedRequest) throws(Refusal) -> AuthorizationRequest {
        guard admitted["request_uri"] == nil else {
            throw Refusal(.invalidRequest, "A pushed request cannot name another one by request_uri.", reason: "par: request_uri")
        }
        var values = admitted.parameters.filter { !$0.value.isEmpty }
        // An authenticated client may omit the parameter.
        values["client_id"] = admitted.application.id
        var checked: AuthorizationRequest
        do {
            let reader = AuthorizationRequestReader(
                snapshot: admitted.snapshot, server: admitted.server, now: admitted.context.now, isPushed: true)
            checked = try reader.read(AuthorizationParameters(values))
        } catch {
            switch error {
            case .page(let refusal): throw Refusal(.invalidRequest, refusal.description, reason: refusal.reason)
            case .client(let refusal, _): throw refusal
            }
        }
        // Without `openid` there is no ID token and no userinfo for these scopes.
        guard checked.scopes.contains(ScopeRequest.openID) || ScopeRequest.profile.isDisjoint(with: checked.scopes) else {
            throw Refusal(
                .accessDenied, "The scopes of OpenID Connect need the scope openid beside them.", reason: "par: no openid",
                status: .forbidden)
        }
        if let shown = admitted.proof?.thumbprint {
            guard checked.keyThumbprint ?? shown == shown else {
                throw .invalidProof("The proof is by another key than the one that dpop_jkt names.", reason: "par: dpop_jkt")
            }
            checked.keyThumbprint = shown
        }
        return checked
    }
}

extension PushedRequest {
    /// Returns the pushed request of a `request_uri`, and the change that consumes it; `nil` if it is unknown, expired, consumed or no
    /// longer permitted. Further parameters from the browser are ignored.
    package static func find(
        _ uri: String, clientID: String?, snapshot: OrgSnapshot, server: AuthorizationServerDefinition, view: any StoreView, now: Date
    ) throws -> (request: AuthorizationRequest, taking: Change)? {
        guard let digest = PushedRequest.digest(of: uri),
            case .fresh(let ticket) = try view.ticket(.pushedRequest, digest: digest, now: now)
        else { return nil }
        let request = try RecordCoding.decode(AuthorizationRequest.self, from: ticket.payload)
        // The request is checked again, because the configuration may have changed.
        guard request.clientID == clientID, request.server == server.id, let application = snapshot.application(request.clientID),
            application.isActive, application.grantTypes.contains(GrantType.authorizationCode),
            RedirectURI.isRegistered(request.redirectURI, among: application.redirectURIs, of: application),
            request.codeChallenge != nil || !application.requiresPKCE
        else { return nil }
        return (request, .take(.pushedRequest, digest: digest, now: now, gave: []))
    }
}
