/// The provider of a factor (Documentation/Protocol/Authn.md §5.1).
public enum FactorProvider: RawRepresentable, Codable, Hashable, Sendable {
    /// The organization itself.
    case okta
    /// Google Authenticator and similar apps.
    case google
    /// RSA SecurID.
    case rsa
    /// Symantec VIP.
    case symantec
    /// YubiKey one-time passwords.
    case yubico
    /// Duo.
    case duo
    /// Security keys.
    case fido
    /// A value that this version does not know.
    case unknown(String)

    /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
    public init(raw: String) {
        let known: [Self] = [.okta, .google, .rsa, .symantec, .yubico, .duo, .fido]
        self = known.first { $0.rawValue == raw } ?? .unknown(raw)
    }

    /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
    public init(rawValue: String) {
        self.init(raw: rawValue)
    }

    /// The value in the protocol.
    public var rawValue: String {
        switch self {
        case .okta: "OKTA"
        case .google: "GOOGLE"
        case .rsa: "RSA"
        case .symantec: "SYMANTEC"
        case .yubico: "YUBICO"
        case .duo: "DUO"
        case .fido: "FIDO"
        case .unknown(let raw): raw
        }
    }
}
