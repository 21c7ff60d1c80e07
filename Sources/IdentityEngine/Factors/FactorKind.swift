/// A kind of factor.
///
/// Open, so that a factor is added by one file: its kind, its class, its verifier.
struct FactorKind: RawRepresentable, Hashable, Sendable, Codable {
    var rawValue: String

    init(rawValue: String) {
        self.rawValue = rawValue
    }

    static let password = FactorKind(rawValue: "password")
    static let push = FactorKind(rawValue: "push")
    static let totp = FactorKind(rawValue: "totp")
    static let sms = FactorKind(rawValue: "sms")
    static let voice = FactorKind(rawValue: "voice")
    static let email = FactorKind(rawValue: "email")
    static let question = FactorKind(rawValue: "question")

    /// The grants by which a client can present the factor as the second one; what `supported_challenge_types` lists.
    var secondFactorGrantTypes: [String] {
        switch self {
        case .push, .sms, .voice: [GrantType.secondFactorOOB]
        case .email: [GrantType.mailedCode]
        case .question: [GrantType.securityQuestion]
        case .totp: [GrantType.secondFactorOTP]
        default: []
        }
    }
}
