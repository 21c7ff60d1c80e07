/// The kinds of factors, as the server names them (authn reference, 5.1).
public enum FactorType: RawRepresentable, Codable, Hashable, Sendable {
    /// A security question.
    case question
    /// A code by text message.
    case sms
    /// A code by a phone call.
    case call
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A code of an authenticator app.
    case TOTP
    /// An approval on a device.
    case push
    /// A code of a token that its maker verifies.
    case token
    /// A code of a hardware token.
    case tokenHardware
    /// A page of another provider.
    case web
    /// A security key by U2F.
    case u2f
    /// A code by e-mail.
    case email
    /// A word that this version does not know, as it came.
    case unknown(String)

    /// The case for a word of the wire; upper and lower case count.
    ///
    /// - Parameter raw: The word.
    public init(raw: String) {
        self =
            switch raw {
            case "question": .question
            case "sms", "SMS": .sms
            case "call", "CALL": .call
            case "token:software:totp": .TOTP
            case "push": .push
            case "token": .token
            case "token:hardware": .tokenHardware
            case "web", "Web": .web
            case "u2f": .u2f
            case "email", "EMAIL": .email
            default: .unknown(raw)
            }
    }

    /// The case for a word of the wire; upper and lower case count.
    ///
    /// - Parameter rawValue: The word.
    public init(rawValue: String) {
        self.init(raw: rawValue)
    }

    /// The word of the wire.
    public var rawValue: String {
        switch self {
        case .question: "question"
        case .sms: "sms"
        case .call: "call"
        case .TOTP: "token:software:totp"
        case .push: "push"
        case .token: "token"
        case .tokenHardware: "token:hardware"
        case .web: "web"
        case .u2f: "u2f"
        case .email: "email"
        case .unknown(let raw): raw
        }
    }
}
