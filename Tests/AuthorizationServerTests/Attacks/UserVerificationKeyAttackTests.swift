import JOSE
import TestSupport
import Testing

@testable import IdentityCore

/// An attacker who has the user's password and the keys of the phone that sign without the user: the client instance key and the
/// proof-of-possession key. The attacker does not have the user verification key, which the user must unlock.
@Suite("Attacks: user verification key of a phone")
struct UserVerificationKeyAttackTests {
    /// The change of the user verification key in the attacker's enrollment.
    enum Replacement: CaseIterable, Sendable { case otherKey, noKey }

    @Test(
        "Re-enrollment of a phone with the instance key and a password does not replace or remove the user verification key",
        arguments: [PushAuthenticator.UserVerification.required, .preferred], [Replacement.otherKey, .noKey])
    func replacement(policy: PushAuthenticator.UserVerification, replacement: Replacement) async throws {
        try await DeviceServer.with({ $0.authenticators[0].userVerification = policy }) { server in
            // Both tokens are from a sign-in with the password alone, because the user has no second factor yet.
            let (token, attackersToken) = (try await server.accessToken(), try await server.accessToken())
            var phone = try SigningPhone(origin: RunningServer.origin)
            let enrolled = try await server.enroll(phone.enrollment(in: "autphone", userVerification: true), token: token)
            try phone.remember(enrolled.json)
            let attacker = try phone.again()
            let attestation = try phone.attestation(at: server.running.clock.now).signed()
            let refused = try await server.enroll(
                attacker.enrollment(in: "autphone", userVerification: replacement == .otherKey, attestation: attestation),
                token: attackersToken)
            #expect(refused.status == (policy == .required && replacement == .noKey ? 400 : 403), "\(refused.body)")
            #expect(try refused.json["errorCode"] == (refused.status == 400 ? "E0000158" : "E0000006"))
            let stored = try #require(try await server.enrollment(phone.enrollmentID).push)
            #expect(stored.key(id: phone.verificationKey.keyID ?? "")?.role == .userVerification)
            #expect(stored.key(id: phone.possessionKey.keyID ?? "")?.role == .proofOfPossession)
        }
    }

    @Test("Re-enrollment of a phone with the instance key and a password does not add a missing user verification key")
    func addition() async throws {
        try await DeviceServer.with { server in
            let (token, attackersToken) = (try await server.accessToken(), try await server.accessToken())
            var phone = try SigningPhone(origin: RunningServer.origin)
            try phone.remember(try await server.enroll(phone.enrollment(in: "autphone"), token: token).json)
            let attestation = try phone.attestation(at: server.running.clock.now).signed()
            let refused = try await server.enroll(
                phone.again().enrollment(in: "autphone", userVerification: true, attestation: attestation), token: attackersToken)
            #expect(refused.status == 403, "\(refused.body)")
            #expect(try await server.enrollment(phone.enrollmentID).push?.userVerification == nil)
        }
    }

    @Test(
        "Re-enrollment with a two-factor sign-in can replace the user verification key; re-enrollment that keeps the key needs only the password"
    )
    func permitted() async throws {
        try await DeviceServer.with({ $0.authenticators[0].userVerification = .required }) { server in
            let (token, weak) = (try await server.accessToken(), try await server.accessToken())
            var phone = try SigningPhone(origin: RunningServer.origin)
            try phone.remember(try await server.enroll(phone.enrollment(in: "autphone", userVerification: true), token: token).json)
            var again = try phone.again()
            again.verificationKey = phone.verificationKey
            let kept = try await server.enroll(
                again.enrollment(
                    in: "autphone", userVerification: true, attestation: phone.attestation(at: server.running.clock.now).signed()),
                token: weak)
            #expect(kept.status == 200, "\(kept.body)")
            let replaced = try await server.enroll(
                phone.again().enrollment(
                    in: "autphone", userVerification: true, attestation: phone.attestation(at: server.running.clock.now).signed()),
                token: server.strongToken())
            #expect(replaced.status == 200, "\(replaced.body)")
        }
    }

    @Test("A forged UV_PERMANENTLY_UNAVAILABLE answer signed by the possession key does not disable the phone")
    func forgedLoss() async throws {
        try await PushServer.with(PushOrganization(userVerification: .required)) { server in
            let phone = try await server.enroll(.init(verifiesUser: true))
            let client = DirectClient(server)
            let attacked = try await client.begin()
            let forged = try await phone.answer(try await phone.challenge(), .says("UV_PERMANENTLY_UNAVAILABLE"))
            #expect(forged.status == 400)
            try expectRefusal(try await client.poll(attacked), 400, "access_denied")
            // The phone gets another challenge, and the user verification key still approves it.
            let pending = try await client.begin()
            let waiting = try #require(try await phone.waiting().last)
            #expect(try await phone.answer(waiting, .approveVerified).status == 200)
            #expect(try await client.poll(pending).status == 200)
        }
    }
}
