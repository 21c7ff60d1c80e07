extension OktaAPISuccessResponse {
    /// What came of the last attempt with a factor (authn reference, 2.6).
    public enum FactorResult: RawRepresentable, Codable, Hashable, Sendable {
        /// Verified.
        case success
        /// The factor is active.
        case active
        /// The factor waits for its activation.
        case pending
        /// Not finished: ask again in three to five seconds.
        case waiting
        /// The person gave up.
        case cancelled
        /// Not completed in time.
        case timeout
        /// The code is right, but of another time.
        case timeWindowExceeded
        /// The code was used before: wait for the next one.
        case passcodeReplayed
        /// The server failed to verify.
        case error
        /// The person denied it on the device.
        case rejected
        /// A word that this version does not know, as it came.
        case unknown(String)

        /// The case for a word of the wire; upper and lower case count.
        ///
        /// - Parameter raw: The word.
        public init(raw: String) {
            self =
                switch raw {
                case "SUCCESS": .success
                case "ACTIVE": .active
                case "PENDING_ACTIVATION": .pending
                case "WAITING": .waiting
                case "CANCELLED": .cancelled
                case "TIMEOUT": .timeout
                case "TIME_WINDOW_EXCEEDED": .timeWindowExceeded
                case "PASSCODE_REPLAYED": .passcodeReplayed
                case "ERROR": .error
                case "REJECTED": .rejected
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
            case .success: "SUCCESS"
            case .active: "ACTIVE"
            case .pending: "PENDING_ACTIVATION"
            case .waiting: "WAITING"
            case .cancelled: "CANCELLED"
            case .timeout: "TIMEOUT"
            case .timeWindowExceeded: "TIME_WINDOW_EXCEEDED"
            case .passcodeReplayed: "PASSCODE_REPLAYED"
            case .error: "ERROR"
            case .rejected: "REJECTED"
            case .unknown(let raw): raw
            }
        }
    }
}
