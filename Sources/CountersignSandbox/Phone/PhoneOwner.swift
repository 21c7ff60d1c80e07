internal import DeviceAuthenticator
internal import Foundation
internal import NIOConcurrencyHelpers

extension VirtualPhone {
    /// What comes of it when a phone asks to be unlocked.
    public enum Verification: String, Sendable, CaseIterable {
        /// The person types the right PIN.
        case succeeds
        /// The person can't be verified.
        case fails
        /// The person gives up.
        case cancels
    }
}

/// The person who holds a phone, when it asks to be unlocked.
final class PhoneOwner: UserVerifier {
    /// What unlocks every virtual phone; nobody types it.
    private static let pin = Data("2580".utf8)

    private let behaviour = NIOLockedValueBox(VirtualPhone.Verification.succeeds)

    var verification: VirtualPhone.Verification {
        get { behaviour.withLockedValue { $0 } }
        set { behaviour.withLockedValue { $0 = newValue } }
    }

    func verify(_ request: UserVerificationRequest) async throws(UserVerificationFailure) -> UserVerification {
        switch verification {
        case .succeeds: UserVerification(method: .pin, secret: Self.pin)
        case .fails: throw .failed
        case .cancels: throw .cancelled
        }
    }
}
