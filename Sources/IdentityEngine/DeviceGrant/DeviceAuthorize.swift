internal import Foundation
public import JOSE

/// What a device is told when it begins (RFC 8628 section 3.2).
public struct DeviceAuthorizationStart: Sendable {
    /// The members of the answer.
    public var members: [String: JSONValue]
}

extension DeviceAuthorizationStart: Redacted {}

extension IdentityEngine {
    /// Begins a sign-in for a device that has no browser (`/device/authorize`, RFC 8628 section 3.1; oauth reference 2.8).
    ///
    /// - Parameters:
    ///   - request: The client and the parameters `scope` and `acr_values`.
    ///   - context: When and from where it came.
    /// - Returns: The codes and their times; or a refusal.
    /// - Throws: ``StoreError`` if the store failed; then nothing was begun.
    public func deviceAuthorize(
        _ request: TokenRequest, context: RequestContext
    ) async throws -> Result<DeviceAuthorizationStart, Refusal> {
        for _ in 0..<Self.attempts {
            let (admitted, signIn) = try await store.read { [self] view -> (AdmittedRequest?, Result<SignInRequest, Refusal>) in
                var admitted: AdmittedRequest?
                do {
                    let known = try admit(request, snapshot: snapshot(view), context: context)
                    admitted = known
                    return (known, .success(try Self.deviceSignIn(known)))
                } catch let refusal as Refusal {
                    return (admitted, .failure(refusal))
                }
            }
            var changes = admitted?.assertionUse.map { [$0] } ?? []
            let answer: Result<DeviceAuthorizationStart, Refusal>
            switch signIn {
            case .failure(let refusal):
                if admitted?.application.isConfidential == true {
                    changes.append(
                        try logEntry(
                            "device.authorization.start", .failure, reason: refusal.reason, clientID: admitted?.application.id,
                            server: request.server, context: context))
                }
                guard !changes.isEmpty else { return .failure(refusal) }
                answer = .failure(refusal)
            case .success(let signIn):
                let (start, own) = try beginDevice(signIn, origin: admitted?.snapshot.origin ?? "", now: context.now)
                changes += own
                answer = .success(start)
            }
            switch try await store.commit(changes) {
            case .committed: return answer
            case .conflict(index: 0, .version) where admitted?.assertionUse != nil:
                return .failure(ClientAuthenticator.wrong("client.assertion: used"))
            // The code belongs to another device: there are others.
            case .conflict: continue
            }
        }
        throw StoreError(.unavailable, "The request met other writers \(Self.attempts) times. Try it again.")
    }

    private static func deviceSignIn(_ request: AdmittedRequest) throws(Refusal) -> SignInRequest {
        try request.requireGrant(GrantType.deviceCode)
        let scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        // Who enrols a phone does it on that phone; a code that somebody was talked into typing must not.
        guard ScopeRequest.interactive.isDisjoint(with: scopes) else {
            throw Refusal(.invalidScope, "The scope takes a sign-in on the device itself.", reason: "device: interactive scope")
        }
        return SignInRequest(
            application: request.application, server: request.server.id, scopes: scopes,
            contextClasses: Array((request["acr_values"]?.spaceSeparated ?? []).filter { $0.utf8.count <= 200 }.prefix(20)))
    }

    private func beginDevice(
        _ request: SignInRequest, origin: String, now: Date
    ) throws -> (DeviceAuthorizationStart, [Change]) {
        let (deviceCode, userCode) = (try environment.random.secret(prefix: "dc_"), try UserCode.make(environment.random))
        var transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"), purpose: .device, request: request, now: now,
            lifetime: DeviceRequest.lifetime)
        transaction.device = DeviceRequest(userCode: TicketDigest(of: userCode).bytes)
        let owner = RecordReference(.transaction, transaction.id)
        let changes: [Change] = [
            .put(try transaction.record()),
            .issue(
                Ticket(
                    kind: .userCode, digest: TicketDigest(of: userCode), owner: owner, use: .once, expiresAt: transaction.expiresAt)),
            // Kept longer, so that a device that comes late is told so.
            .issue(
                Ticket(
                    kind: .deviceCode, digest: TicketDigest(of: deviceCode), owner: owner, use: .once,
                    expiresAt: transaction.expiresAt.addingTimeInterval(SignInTransaction.keptAfter))),
        ]
        let page = origin + "/activate"
        return (
            DeviceAuthorizationStart(members: [
                "device_code": .string(deviceCode), "user_code": .string(userCode), "verification_uri": .string(page),
                "verification_uri_complete": .string("\(page)?user_code=\(userCode)"),
                "expires_in": .integer(Int64(DeviceRequest.lifetime)), "interval": .integer(Int64(PollPacer.interval)),
            ]), changes
        )
    }
}
