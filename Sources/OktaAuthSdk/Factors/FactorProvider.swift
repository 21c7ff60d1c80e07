/// Who provides a factor (authn reference, 5.1).
public enum FactorProvider: RawRepresentable, Codable, Hashable, Sendable {
    /// The organization's own.
    case okta
    /// Google Authenticator, and apps like it.
    case google
    /// RSA SecurID.
    case rsa
    /// Symantec VIP.
    case symantec
    /// YubiKey in its mode for one-time passwords.
    case yubico
    /// Duo.
    case duo
    /// Security keys.
    case fido
    /// A word that this version does not know, as it came.
    case unknown(String)

    /// The case for a word of the wire; upper and lower case count.
    ///
    /// - Parameter raw: The word.
    public init(raw: String) {
        self =
            switch raw {
            case "OKTA": .okta
            case "GOOGLE": .google
            case "RSA": .rsa
            case "SYMANTEC": .symantec
            case "YUBICO": .yubico
            case "DUO": .duo
            case "FIDO": .fido
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
