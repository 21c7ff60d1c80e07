extension OktaAPISuccessResponse {
    /// What a recovery is for.
    public enum RecoveryType: RawRepresentable, Codable, Hashable, Sendable {
        /// A forgotten password.
        case password
        /// A locked account.
        case unlock
        /// A word that this version does not know, as it came.
        case unknown(String)

        /// The case for a word of the wire; upper and lower case count.
        ///
        /// - Parameter raw: The word.
        public init(raw: String) {
            self =
                switch raw {
                case "PASSWORD": .password
                case "UNLOCK": .unlock
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
            case .password: "PASSWORD"
            case .unlock: "UNLOCK"
            case .unknown(let raw): raw
            }
        }
    }
}
