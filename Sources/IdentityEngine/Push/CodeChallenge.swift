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
        let (admitted, refusal) = try await store.read { [self] view -> (AdmittedRequest?, Refusal?) in
            var admitted: AdmittedRequest?
            do {
                let known = try admit(request, snapshot: snapshot(view), context: context)
                admitted = known
                let token = try known.required("mfa_token")
                try known.requireGrant(GrantType.secondFactorOTP)
                let (_, user) = try openTransaction(token, known, view)
                let enrollments = try view.usableEnrollments(of: user.value.id, snapshot: known.snapshot)
                guard enrollments.contains(where: { $0.factor == .totp }) else {
                    throw ChallengePlan.unusable("no authenticator app is enrolled")
                }
                return (admitted, nil)
            } catch let refusal as Refusal {
                return (admitted, refusal)
            }
        }
        var changes = admitted?.assertionUse.map { [$0] } ?? []
        if let refusal, admitted?.application.isConfidential == true {
            changes.append(
                try logEntry(
                    "user.mfa.totp.challenge", .failure, reason: refusal.reason, clientID: admitted?.application.id, server: request.server,
                    context: context))
        }
        if !changes.isEmpty, case .conflict = try await store.commit(changes) {
            return .failure(ClientAuthenticator.wrong("client.assertion: used"))
        }
        if let refusal { return .failure(refusal) }
        return .success(StartedChallenge(members: ["challenge_type": .string(GrantType.secondFactorOTP)], pushes: []))
    }
}
