internal import Foundation

/// What a client gets for a request that it pushed (RFC 9126 section 2.2).
public struct PushedAuthorization: Sendable {
    /// What it sends the browser with.
    public var requestURI: String
    /// Seconds that it is good for.
    public var expiresIn: Int
    /// The nonce that the client's next proof should carry, for the header `DPoP-Nonce`; nil if it knows, or sent no proof.
    public var nextNonce: String?
}

/// The `request_uri` of a pushed request: a name of ours, which nobody fetches.
enum PushedRequest {
    /// Seconds that one is good for (oauth reference 5.2).
    static let lifetime: TimeInterval = 300
    private static let prefix = "urn:okta:par-"

    /// The ticket that keeps a request until it is used once. It goes with its client.
    static func ticket(_ request: AuthorizationRequest, secret: String, now: Date) throws -> Ticket {
        Ticket(
            kind: .pushedRequest, digest: TicketDigest(of: secret), owner: RecordReference(.application, request.clientID), use: .once,
            expiresAt: now.addingTimeInterval(lifetime), payload: try RecordCoding.encode(request))
    }

    static func uri(_ secret: String) -> String { prefix + secret }

    /// The digest of a URI's secret; nil for what is not ours.
    static func digest(of uri: String) -> TicketDigest? {
        uri.hasPrefix(prefix) && uri.utf8.count <= 100 ? TicketDigest(of: String(uri.dropFirst(prefix.count))) : nil
    }
}

extension IdentityEngine {
    /// Takes an authorization request from the client itself (`/par`, RFC 9126).
    ///
    /// A proof that comes with it binds the code to its key, as `dpop_jkt` does (RFC 9449 section 10.1).
    ///
    /// - Parameters:
    ///   - request: The client and the parameters of its authorize request.
    ///   - context: When and from where it came.
    /// - Returns: The request's name, on disk; or a refusal.
    /// - Throws: ``StoreError`` if the store failed; then nothing was kept.
    public func pushAuthorizationRequest(
        _ request: TokenRequest, context: RequestContext
    ) async throws -> Result<PushedAuthorization, Refusal> {
        let snapshot = try await snapshot()
        let proof = request.proof.map { proofs.genuine($0, with: nil, now: context.now) }
        var assertionUse: Change?
        var possession: ProofOfPossession?
        let checked: AuthorizationRequest
        do throws(Refusal) {
            let admitted = try admit(request, proof: proof, snapshot: snapshot, context: context)
            (assertionUse, possession) = (admitted.assertionUse, admitted.proof)
            checked = try Self.pushed(admitted)
        } catch {
            // What authenticated is used, whatever came of it.
            if let assertionUse, case .conflict = try await store.commit([assertionUse]) {
                return .failure(ClientAuthenticator.wrong("client.assertion: used"))
            }
            var told = error
            told.nextNonce = error.nextNonce ?? possession?.nextNonce
            return .failure(told)
        }
        let secret = try environment.random.secret()
        let uses = [assertionUse, possession?.use.change].compactMap { $0 }
        switch try await store.commit(uses + [.issue(try PushedRequest.ticket(checked, secret: secret, now: context.now))]) {
        case .committed:
            return .success(
                PushedAuthorization(
                    requestURI: PushedRequest.uri(secret), expiresIn: Int(PushedRequest.lifetime), nextNonce: possession?.nextNonce))
        case .conflict(let index, _):
            let isAssertion = assertionUse != nil && index == 0
            return .failure(isAssertion ? ClientAuthenticator.wrong("client.assertion: used") : .usedProof)
        }
    }

    private static func pushed(_ admitted: AdmittedRequest) throws(Refusal) -> AuthorizationRequest {
        guard admitted["request_uri"] == nil else {
            throw Refusal(.invalidRequest, "A pushed request cannot name another one by request_uri.", reason: "par: request_uri")
        }
        var values = admitted.parameters.filter { !$0.value.isEmpty }
        // Who it is was shown another way, which may leave the parameter out.
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
        // As the published API has it; what such scopes open is in an id token and at userinfo, neither of which is there without openid.
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

extension HostedStart {
    /// The request that was pushed, which the browser only names: its parameters are the client's own, whatever stands beside it.
    ///
    /// - Returns: It, and the change that uses it up.
    static func pushed(
        _ uri: String, clientID: String?, snapshot: OrgSnapshot, server: AuthorizationServerDefinition, view: any StoreView, now: Date
    ) throws -> (AuthorizationRequest, Change)? {
        guard let digest = PushedRequest.digest(of: uri),
            case .fresh(let ticket) = try view.ticket(.pushedRequest, digest: digest, now: now)
        else { return nil }
        let request = try RecordCoding.decode(AuthorizationRequest.self, from: ticket.payload)
        // Held to the configuration as it is now: it may have been changed since.
        guard request.clientID == clientID, request.server == server.id, let application = snapshot.application(request.clientID),
            application.isActive, application.grantTypes.contains(GrantType.authorizationCode),
            RedirectURI.isRegistered(request.redirectURI, among: application.redirectURIs, of: application),
            request.codeChallenge != nil || !application.requiresPKCE
        else { return nil }
        return (request, .take(.pushedRequest, digest: digest, now: now, gave: []))
    }
}
