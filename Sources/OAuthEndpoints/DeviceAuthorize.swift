internal import Foundation
package import IdentityCore
package import JOSE
package import OAuthWire
internal import ServerHTTP
internal import Store

/// The device authorization response (RFC 8628 section 3.2).
package struct DeviceAuthorizationStart: Sendable {
    package var members: [String: JSONValue]
}

extension DeviceAuthorizationStart: Redacted {}

extension Engine {
    /// Seconds until a device code expires.
    private static let deviceCodeLifetime: TimeInterval = 600

    /// Starts a sign-in for a device without a browser (`/device/authorize`, RFC 8628 section 3.1; Documentation/Protocol/OAuth.md §2.8).
    /// - Parameter request: The client and the parameters `scope` and `acr_values`.
    package func deviceAuthorize(
        _ request: TokenRequest, context: RequestContext
    ) async throws -> Result<DeviceAuthorizationStart, Refusal> {
        try await transact(request, context: context) { (refusal, admitted, _: DeviceBeginning?) in
            guard let admitted, admitted.application.isConfidential else { return nil }
            return LoggedEvent(
                "device.authorization.start", .failure, reason: refusal.reason, clientID: admitted.application.id, server: request.server)
        } read: { admitted, _ in
            DeviceBeginning(signIn: try Self.deviceSignIn(admitted), origin: admitted.snapshot.origin)
        } decide: { (beginning: DeviceBeginning) in
            try plan(beginning, now: context.now)
        }
    }

    private static func deviceSignIn(_ request: AdmittedRequest) throws(Refusal) -> SignInRequest {
        try request.requireGrant(GrantType.deviceCode)
        let scopes = try ScopeRequest(request["scope"]).grantedToUser(of: request.application, by: request.server)
        // An attacker could persuade a user to enter the code, and then enroll the attacker's phone. So an enrollment requires a sign-in on
        // the phone itself.
        guard ScopeRequest.interactive.isDisjoint(with: scopes) else {
            throw Refusal(.invalidScope, "The scope takes a sign-in on the device itself.", reason: "device: interactive scope")
        }
        return SignInRequest(
            application: request.application, server: request.server.id, scopes: scopes,
            contextClasses: Array((request["acr_values"]?.spaceSeparated ?? []).filter { $0.utf8.count <= 200 }.prefix(20)))
    }

    private func plan(_ beginning: DeviceBeginning, now: Date) throws -> Plan<Result<DeviceAuthorizationStart, Refusal>> {
        let (deviceCode, userCode) = (try environment.random.secret(prefix: "dc_"), try UserCode.make(environment.random))
        var transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"), purpose: .device, request: beginning.signIn, now: now,
            lifetime: Self.deviceCodeLifetime)
        transaction.userCode = TicketDigest(of: userCode).bytes
        let owner = RecordReference(.transaction, transaction.id)
        let changes: [Change] = [
            .put(try transaction.record()),
            .issue(
                Ticket(
                    kind: .userCode, digest: TicketDigest(of: userCode), owner: owner, use: .once, expiresAt: transaction.expiresAt)),
            // This ticket outlives the code, so that a late device receives `expired_token`.
            .issue(
                Ticket(
                    kind: .deviceCode, digest: TicketDigest(of: deviceCode), owner: owner, use: .once,
                    expiresAt: transaction.expiresAt.addingTimeInterval(SignInTransaction.keptAfter))),
        ]
        let page = beginning.origin + RoutePath.activate.pattern
        let start = DeviceAuthorizationStart(members: [
            "device_code": .string(deviceCode), "user_code": .string(userCode), "verification_uri": .string(page),
            "verification_uri_complete": .string("\(page)?user_code=\(userCode)"),
            "expires_in": .integer(Int64(clamping: Self.deviceCodeLifetime)), "interval": .integer(Int64(clamping: pollPacer.interval)),
        ])
        return Plan(.success(start), Writes(changes))
    }
}

private struct DeviceBeginning: Sendable {
    var signIn: SignInRequest
    /// The organization's own origin.
    var origin: String
}
