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
    /// A device whose codes follow a counter.
    static let hotp = FactorKind(rawValue: "hotp")
    /// A token that another system knows.
    static let token = FactorKind(rawValue: "token")
    /// The token that an administrator gave, in place of a password; nobody is asked for it.
    static let activation = FactorKind(rawValue: "activation")

    /// The grants by which a client can present the factor as the second one; what `supported_challenge_types` lists.
    var secondFactorGrantTypes: [String] {
        switch self {
        case .push, .sms, .voice: [GrantType.secondFactorOOB]
        case .email: [GrantType.mailedCode]
        case .question: [GrantType.securityQuestion]
        case .hotp, .token: [GrantType.hardwareCode]
        case .totp: [GrantType.secondFactorOTP]
        default: []
        }
    }
}
