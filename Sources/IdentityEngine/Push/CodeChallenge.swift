internal import Foundation
internal import JOSE

/// A second factor that takes no step of the server's: the person has a code to type already (oauth reference 2.6 and 6.4).
extension IdentityEngine {
    /// Whether a client asks for a code rather than for something out of band. Of a client that can do both, the channel tells.
    static func asksForCode(_ request: TokenRequest) -> Bool {
        let types = request.parameters["challenge_types_supported"]?.spaceSeparated ?? []
        guard types.contains(GrantType.secondFactorOTP) else { return false }
        return !types.contains(GrantType.secondFactorOOB) || request.parameters["channel_hint"]?.isEmpty ?? true
    }

    /// Says whether a code will do. Nothing is started, and nothing is written but the use of a client's assertion.
    func codeChallenge(_ request: TokenRequest, context: RequestContext) async throws -> Result<StartedChallenge, Refusal> {
        try await transact(request, context: context) { (refusal, admitted, _: Bool?) in
            guard admitted?.application.isConfidential == true else { return nil }
            return LoggedEvent(
                "user.mfa.totp.challenge", .failure, reason: refusal.reason, clientID: admitted?.application.id, server: request.server)
        } read: { [self] admitted, reading in
            let token = try admitted.required("mfa_token")
            try admitted.requireGrant(GrantType.secondFactorOTP)
            let (_, user) = try openTransaction(token, admitted, reading.view)
            return try reading.view.enrollments(of: user.value.id, snapshot: admitted.snapshot).usable.contains { $0.factor == .totp }
        } decide: { (hasApp: Bool) in
            guard hasApp else { throw ChallengePlan.unusable("no authenticator app is enrolled") }
            return Plan(.success(StartedChallenge(members: ["challenge_type": .string(GrantType.secondFactorOTP)], pushes: [])))
        }
    }
}
