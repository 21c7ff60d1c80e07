/// The type of a factor (Documentation/Protocol/Authn.md §5.1).
public enum FactorType: RawRepresentable, Codable, Hashable, Sendable {
    /// A security question.
    case question
    /// A code in a text message.
    case sms
    /// A code in a phone call.
    case call
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A code from an authenticator app.
    case TOTP
    /// A push notification that the user approves on a device.
    case push
    /// A code from a token. The token's vendor verifies the code.
    case token
    /// A code from a hardware token.
    case tokenHardware
    /// A web page of another provider.
    case web
    /// A U2F security key.
    case u2f
    /// A code in an email.
    case email
    /// A value that this version does not know.
    case unknown(String)

    /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
    public init(raw: String) {
        let known: [Self] = [.question, .sms, .call, .TOTP, .push, .token, .tokenHardware, .web, .u2f, .email]
        let spellings: [String: Self] = ["SMS": .sms, "CALL": .call, "Web": .web, "EMAIL": .email]
        self = known.first { $0.rawValue == raw } ?? spellings[raw] ?? .unknown(raw)
    }

    /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
    public init(rawValue: String) {
        self.init(raw: rawValue)
    }

    /// The value in the protocol.
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
    /// The value in the protocol.
    @available(*, deprecated, renamed: "rawValue")
    public var description: String { rawValue }
}
