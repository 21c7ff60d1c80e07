@testable import IdentityCore

/// The results of a device's answers (Documentation/Protocol/Devices.md §5.5). An answer without a row is invalid.
enum AnswerTable {
    enum Result: Equatable { case approved(userVerified: Bool), denied, failed, invalid }

    private struct Row {
        var consents: [PushAnswer.Consent]
        /// The key that signed the answer; `nil` for any key.
        var key: PushMethod.KeyRole?
        /// The user verification that the challenge asked for; `nil` for any.
        var verification: [PushChallenge.UserVerification]?
        var result: Result
    }

    private static let rows = [
        Row(consents: [.denied], result: .denied),
        Row(consents: [.cancelledUserVerification, .abandoned], result: .failed),
        Row(consents: [.approvedByUserVerification], key: .userVerification, result: .approved(userVerified: true)),
        Row(
            consents: [.approved], key: .proofOfPossession, verification: [.discouraged, .preferred],
            result: .approved(userVerified: false)),
        Row(
            consents: [.none, .verificationTemporarilyUnavailable, .verificationPermanentlyUnavailable], key: .proofOfPossession,
            verification: [.preferred], result: .approved(userVerified: false)),
        Row(
            consents: [.none, .verificationTemporarilyUnavailable, .verificationPermanentlyUnavailable], key: .proofOfPossession,
            verification: [.required], result: .failed),
    ]

    static func result(
        _ consent: PushAnswer.Consent, _ key: PushMethod.KeyRole, _ verification: PushChallenge.UserVerification
    ) -> Result {
        rows.first { row in
            row.consents.contains(consent) && row.key ?? key == key && row.verification?.contains(verification) ?? true
        }?.result ?? .invalid
    }
}
