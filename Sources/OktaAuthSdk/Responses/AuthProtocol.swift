extension EmbeddedResponse.AuthenticationObject {
    /// A federation protocol.
    public enum AuthProtocol: RawRepresentable, Codable, Hashable, Sendable {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// SAML 2.0.
        case saml_2_0
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// SAML 1.1.
        case saml_1_1
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// WS-Federation.
        case ws_fed
        /// A value that this version does not know.
        case unknown(String)

        /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
        public init(raw: String) {
            let known: [Self] = [.saml_2_0, .saml_1_1, .ws_fed]
            self = known.first { $0.rawValue == raw } ?? .unknown(raw)
        }

        /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
        public init(rawValue: String) {
            self.init(raw: rawValue)
        }

        /// The value in the protocol.
        public var rawValue: String {
            switch self {
            case .saml_2_0: "SAML2.0"
            case .saml_1_1: "SAML1.1"
            case .ws_fed: "WS-FED"
            case .unknown(let raw): raw
            }
        }
    }
}
