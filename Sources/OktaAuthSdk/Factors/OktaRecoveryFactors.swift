/// How a person is reached who forgot the password or whose account is locked.
public enum OktaRecoveryFactors: Hashable, Sendable {
    /// A link by e-mail; it is followed elsewhere.
    case email
    /// A code by text message.
    case sms
    /// A code by a phone call.
    case call

    /// The factor type of the same name.
    ///
    /// - Returns: The factor type.
    public func toFactorType() -> FactorType {
        switch self {
        case .email: .email
        case .sms: .sms
        case .call: .call
        }
    }
}
