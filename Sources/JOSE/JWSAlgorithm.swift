/// A JSON Web Signature algorithm (RFC 7518 §3.1, RFC 8037). `none` is not supported.
public enum JWSAlgorithm: String, Sendable, Hashable, CaseIterable, Codable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    case rs384 = "RS384"
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// RSASSA-PSS with SHA-384.
    case ps384 = "PS384"
    /// RSASSA-PSS with SHA-512.
    case ps512 = "PS512"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// ECDSA on P-384 with SHA-384.
    case es384 = "ES384"
    /// ECDSA on P-521 with SHA-512.
    case es512 = "ES512"
    /// EdDSA on Ed25519.
    case edDSA = "EdDSA"
    /// HMAC with SHA-256.
    case hs256 = "HS256"
    /// HMAC with SHA-384.
    case hs384 = "HS384"
    /// HMAC with SHA-512.
    case hs512 = "HS512"

    /// The algorithms with key pairs: all except HMAC.
    public static let asymmetric: Set<JWSAlgorithm> = Set(allCases.filter { $0.keyType != .oct })

    /// The type of key that the algorithm uses.
    public var keyType: JSONWebKey.KeyType {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: .rsa
        case .es256, .es384, .es512: .ec
        case .edDSA: .okp
        case .hs256, .hs384, .hs512: .oct
        }
    }

    /// The curve that the algorithm uses, for EC and OKP keys; `nil` for other keys.
    var curve: JSONWebKey.Curve? {
        switch self {
        case .es256: .p256
        case .es384: .p384
        case .es512: .p521
        case .edDSA: .ed25519
        default: nil
        }
    }

    enum Digest {
        case sha256
        case sha384
        case sha512

        var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    var digest: Digest {
        switch self {
        case .rs256, .ps256, .es256, .hs256: .sha256
        case .rs384, .ps384, .es384, .hs384: .sha384
        case .rs512, .ps512, .es512, .hs512, .edDSA: .sha512
        }
    }

    var isPSS: Bool { self == .ps256 || self == .ps384 || self == .ps512 }
}
