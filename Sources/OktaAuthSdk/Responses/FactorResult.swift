extension OktaAPISuccessResponse {
    /// The result of the last attempt with a factor (Documentation/Protocol/Authn.md §2.6).
    public enum FactorResult: RawRepresentable, Codable, Hashable, Sendable {
        /// The factor was verified.
        case success
        /// The factor is active.
        case active
        /// The activation is pending.
        case pending
        /// The result is pending. Check again in three to five seconds.
        case waiting
        /// The user cancelled.
        case cancelled
        /// The verification timed out.
        case timeout
        /// The code is correct but belongs to another time window.
        case timeWindowExceeded
        /// The code was already used. The user must wait for the next code.
        case passcodeReplayed
        /// The server could not verify the factor.
        case error
        /// The user rejected the push on the device.
        case rejected
        /// A value that this version does not know.
        case unknown(String)

        /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
        public init(raw: String) {
            let known: [Self] = [
                .success, .active, .pending, .waiting, .cancelled, .timeout, .timeWindowExceeded, .passcodeReplayed, .error, .rejected,
            ]
            self = known.first { $0.rawValue == raw } ?? .unknown(raw)
        }

        /// Creates the case for a value from the server, which is case-sensitive. Other values become `unknown`.
        public init(rawValue: String) {
            self.init(raw: rawValue)
        }

        /// The value in the protocol.
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
