import Foundation
import JOSE
import TestSupport
import Testing

@testable import IdentityCore

typealias Phone = SigningPhone

/// The actions of a phone with times in seconds since the start of ``TestOrganization``.
extension SigningPhone {
    init(userID: String) throws { try self.init(userID: userID, origin: TestOrganization.origin) }

    func enrollment(
        userVerification: Bool = false, attestation: String? = nil, authenticator: String = DeviceFixture.authenticatorID
    ) -> JSONValue {
        enrollment(in: authenticator, userVerification: userVerification, attestation: attestation)
    }

    func attestation(at seconds: TimeInterval = 2) -> TokenDraft { attestation(at: TestOrganization.time(seconds)) }

    func assertion(at seconds: TimeInterval = 2) -> TokenDraft { assertion(at: TestOrganization.time(seconds)) }

    func authorization(with key: SigningKey? = nil, at seconds: TimeInterval = 2) -> TokenDraft {
        authorization(with: key, at: TestOrganization.time(seconds))
    }

    func answer(
        to target: PushChallenge.Target, with role: PushMethod.KeyRole = .proofOfPossession, consent: String = "APPROVED_CONSENT_PROMPT",
        at seconds: TimeInterval = 2
    ) -> TokenDraft {
        answer(
            to: target.id, nonce: target.nonce, with: role == .proofOfPossession ? .proofOfPossession : .userVerification,
            context: ["userConsent": .string(consent), "transactionType": "LOGIN"], at: TestOrganization.time(seconds))
    }
}
