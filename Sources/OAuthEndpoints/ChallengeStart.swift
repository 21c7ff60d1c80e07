internal import Foundation
package import IdentityCore
internal import JOSE
package import OAuthWire
package import Store

extension Engine {
    /// Starts a challenge for the sign-in that `find` returns; `lookup` returns its rows. With `isNamed`, the request names the user.
    /// Unknown names are then logged like users without a device, so that the response time does not reveal whether the account exists.
    package func start(
        _ request: TokenRequest, context: RequestContext, isNamed: Bool = false, lookup: @escaping @Sendable () -> Lookup,
        find: @escaping @Sendable (AdmittedRequest, Reading<Never>) throws -> ChallengeStart
    ) async throws -> Result<StartedChallenge, Refusal> {
        try await transact(request, context: context) { refusal, admitted, found in
            let isDenied = refusal.code == .accessDenied
            guard admitted?.application.isConfidential == true || found?.userID != nil || (isNamed && isDenied) else { return nil }
            return LoggedEvent(
                "user.mfa.push.challenge", isDenied ? .denied : .failure, reason: refusal.reason, userID: found?.userID,
                clientID: admitted?.application.id, server: request.server)
        } lookup: {
            lookup()
        } read: { [self] admitted, reading in
            let start = try find(admitted, reading)
            let planned: Result<PlannedChallenge, Refusal>
            do {
                planned = .success(
                    try plan(
                        start, application: admitted.application, snapshot: admitted.snapshot, context: context, reading.view))
            } catch let refusal as Refusal { planned = .failure(refusal) }
            return FoundChallenge(userID: start.obstacle == nil ? start.user.value.id : nil, planned: planned)
        } decide: { (found: FoundChallenge) in
            let planned = try found.planned.get()
            return try commitment(of: planned, context: context).map { result in
                result.map { started in
                    StartedChallenge(
                        members: members(of: started.challenge, start: planned.start, secret: started.secret, now: context.now))
                }
            }
        }
    }

    private func members(of challenge: PushChallenge, start: ChallengeStart, secret: String, now: Date) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "expires_in": .integer(Int64(clamping: challenge.expiresAt.timeIntervalSince(now))),
            "interval": .integer(Int64(pollPacer.interval)),
        ]
        if start.ticket == .backchannelRequest {
            members["auth_req_id"] = .string(secret)
            return members
        }
        members["oob_code"] = .string(secret)
        members["channel"] = "push"
        members["binding_method"] = challenge.numbers == nil ? "none" : "transfer"
        members["binding_code"] = challenge.numbers.map { .string($0.right) }
        members["challenge_type"] = start.type.map(JSONValue.string)
        return members
    }
}

/// The planned challenge and its user.
private struct FoundChallenge: Sendable {
    /// The challenged user; `nil` if the challenge cannot be sent to a user.
    var userID: String?
    var planned: Result<PlannedChallenge, Refusal>
}

extension Refusal {
    /// Returns the refusal for too many sign-in attempts of one user, in the form of the challenge endpoints
    /// (Documentation/Protocol/OAuth.md §2.16).
    static func tooManySignIns(_ status: RateLimitStatus) -> Refusal {
        Refusal(
            .invalidGrant, "Too many attempts. Wait and try again.", reason: "sign-in attempts for one user name or from one address",
            status: .tooManyRequests, rateLimit: status)
    }
}
