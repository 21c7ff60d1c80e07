extension JWK {
    /// The name of an algorithm (RFC 7518 §3.1 and §4.1; RFC 8037).
    public enum Algorithm: RawRepresentable, Codable, Hashable, Sendable, ClaimConvertable {
        /// `HS256`.
        case hs256
        /// `HS384`.
        case hs384
        /// `HS512`.
        case hs512
        /// `RS256`.
        case rs256
        /// `RS384`.
        case rs384
        /// `RS512`.
        case rs512
        /// `ES256`.
        case es256
        /// `ES384`.
        case es384
        /// `ES512`.
        case es512
        /// `PS256`.
        case ps256
        /// `PS384`.
        case ps384
        /// `PS512`.
        case ps512
        /// `none`.
        case none
        /// `RSA1_5`.
        case rsa15
        /// `RSA-OAEP`.
        case rsaOAEP
        /// `RSA-OAEP-256`.
        case rsaOAEP256
        /// `A128KW`.
        case a128KW
        /// `A192KW`.
        case a192KW
        /// `A256KW`.
        case a256KW
        /// `dir`.
        case dir
        /// `ECDH-ES`.
        case ecdhES
        /// `ECDH-ES+A128KW`.
        case ecdhESA128KW
        /// `ECDH-ES+A192KW`.
        case ecdhESA192KW
        /// `ECDH-ES+A256KW`.
        case ecdhESA256KW
        /// `A128GCMKW`.
        case a128GCMKW
        /// `A192GCMKW`.
        case a192GCMKW
        /// `A256GCMKW`.
        case a256GCMKW
        /// `PBES2-HS256+A128KW`.
        case pbes2HS256A128KW
        /// `PBES2-HS384+A192KW`.
        case pbes2HS384A192KW
        /// `PBES2-HS512+A256KW`.
        case pbes2HS512A256KW
        /// `EdDSA`.
        case edDSA
        /// Any other algorithm, identified by name.
        case other(algorithm: String)

        private static let standard: [Self] = [
            .hs256, .hs384, .hs512, .rs256, .rs384, .rs512, .es256, .es384, .es512, .ps256, .ps384, .ps512, .none, .rsa15, .rsaOAEP,
            .rsaOAEP256, .a128KW, .a192KW, .a256KW, .dir, .ecdhES, .ecdhESA128KW, .ecdhESA192KW, .ecdhESA256KW, .a128GCMKW,
            .a192GCMKW, .a256GCMKW, .pbes2HS256A128KW, .pbes2HS384A192KW, .pbes2HS512A256KW, .edDSA,
        ]
        private static let algorithmsByName = Dictionary(uniqueKeysWithValues: standard.map { ($0.rawValue, $0) })

        /// Creates the algorithm with this case-sensitive name, or ``other(algorithm:)`` if the name is unknown. Returns `nil` for an empty
        /// name.
        public init?(rawValue: String) {
            guard !rawValue.isEmpty else { return nil }
            self.init(name: rawValue)
        }

        package init(name: String) { self = Self.algorithmsByName[name] ?? .other(algorithm: name) }

        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `RSA1_5`; the name in Okta's SDK.
        public static var rsa1_5: Self { .rsa15 }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `ECDH-ES+A128KW`; the name in Okta's SDK.
        public static var ecdhES_a128KW: Self { .ecdhESA128KW }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `ECDH-ES+A192KW`; the name in Okta's SDK.
        public static var ecdhES_a192KW: Self { .ecdhESA192KW }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `ECDH-ES+A256KW`; the name in Okta's SDK.
        public static var ecdhES_a256KW: Self { .ecdhESA256KW }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `PBES2-HS256+A128KW`; the name in Okta's SDK.
        public static var pbes2_HS256_A128KW: Self { .pbes2HS256A128KW }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `PBES2-HS384+A192KW`; the name in Okta's SDK.
        public static var pbes2_HS384_A192KW: Self { .pbes2HS384A192KW }
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `PBES2-HS512+A256KW`; the name in Okta's SDK.
        public static var pbes2_HS512_A256KW: Self { .pbes2HS512A256KW }

        /// The name.
        public var rawValue: String {
            // A switch, because a dictionary with these cases as keys would call `rawValue` to hash its keys.
            switch self {
            case .hs256: "HS256"
            case .hs384: "HS384"
            case .hs512: "HS512"
            case .rs256: "RS256"
            case .rs384: "RS384"
            case .rs512: "RS512"
            case .es256: "ES256"
            case .es384: "ES384"
            case .es512: "ES512"
            case .ps256: "PS256"
            case .ps384: "PS384"
            case .ps512: "PS512"
            case .none: "none"
            case .rsa15: "RSA1_5"
            case .rsaOAEP: "RSA-OAEP"
            case .rsaOAEP256: "RSA-OAEP-256"
            case .a128KW: "A128KW"
            case .a192KW: "A192KW"
            case .a256KW: "A256KW"
            case .dir: "dir"
            case .ecdhES: "ECDH-ES"
            case .ecdhESA128KW: "ECDH-ES+A128KW"
            case .ecdhESA192KW: "ECDH-ES+A192KW"
            case .ecdhESA256KW: "ECDH-ES+A256KW"
            case .a128GCMKW: "A128GCMKW"
            case .a192GCMKW: "A192GCMKW"
            case .a256GCMKW: "A256GCMKW"
            case .pbes2HS256A128KW: "PBES2-HS256+A128KW"
            case .pbes2HS384A192KW: "PBES2-HS384+A192KW"
            case .pbes2HS512A256KW: "PBES2-HS512+A256KW"
            case .edDSA: "EdDSA"
            case .other(let name): name
            }
        }
    }
}
