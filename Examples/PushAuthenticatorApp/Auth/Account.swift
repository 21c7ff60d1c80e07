public import DeviceAuthenticator
public import Foundation
internal import Wording

/// A user whose sign-ins this device can approve.
public struct Account: Sendable, Equatable, Identifiable {
    /// The enrollment's id.
    public let id: String
    /// The user name.
    public let name: String
    /// The organization's URL.
    public let organization: URL
    /// Whether this device verifies the user before an approval.
    public let verifiesUser: Bool
    /// Whether the user approves requests without a sign-in (CIBA) on this device.
    public let answersCIBA: Bool
    /// The account's problem at the organization as text; `nil` for none.
    public let trouble: String?
}

extension Account {
    /// Creates the account of an enrollment.
    public init(_ enrollment: any AuthenticatorEnrollmentProtocol) {
        let trouble: String? =
            switch (enrollment as? AuthenticatorEnrollment)?.enrollmentState {
            case .suspended: words("Suspended by the organization")
            case .deleted, .reset: words("Deleted by the organization. Remove it here")
            case .active, nil: nil
            }
        self.init(
            id: enrollment.enrollmentId, name: enrollment.user.name ?? enrollment.user.id, organization: enrollment.organization.url,
            verifiesUser: enrollment.userVerificationEnabled, answersCIBA: enrollment.isCIBAEnabled, trouble: trouble)
    }
}
