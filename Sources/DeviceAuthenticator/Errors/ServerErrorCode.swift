/// An error code of the org (`errorCode`, Documentation/Protocol/Devices.md §2.12).
public enum ServerErrorCode: Codable, Equatable, Sendable {
    /// `E0000007`: the resource does not exist.
    case resourceNotFound
    /// `E0000008`: the enrollment does not exist.
    case enrollmentNotFound
    /// `E0000011`: the token was rejected.
    case invalidToken
    /// `E0000152`: the device is suspended.
    case deviceSuspended
    /// `E0000153`: the device was deleted.
    case deviceDeleted
    /// `E0000154`: the enrollment was deleted.
    case enrollmentDeleted
    /// `E0000155`: the user is suspended.
    case userSuspended
    /// `E0000156`: the user was deleted.
    case userDeleted
    /// `E0000158`: the policy requires a user verification key.
    case biometricKeyEnrollmentComplianceError
    /// `E0000180`: the enrollment is suspended.
    case enrollmentSuspended
    /// `E0000212`: the server detected a phishing attempt.
    case phishingAttemptDetected
    /// Any other code.
    case unknown(String)

    private static let known: [(String, ServerErrorCode)] = [
        ("E0000007", .resourceNotFound), ("E0000008", .enrollmentNotFound), ("E0000011", .invalidToken),
        ("E0000152", .deviceSuspended), ("E0000153", .deviceDeleted), ("E0000154", .enrollmentDeleted),
        ("E0000155", .userSuspended), ("E0000156", .userDeleted), ("E0000158", .biometricKeyEnrollmentComplianceError),
        ("E0000180", .enrollmentSuspended), ("E0000212", .phishingAttemptDetected),
    ]

    /// Parses a code as the server writes it.
    public init(raw: String) {
        self = Self.known.first { $0.0 == raw }?.1 ?? .unknown(raw)
    }

    /// The code as the server writes it.
    public var rawValue: String {
        if case .unknown(let code) = self { return code }
        return Self.known.first { $0.1 == self }?.0 ?? ""
    }

    /// Decodes a code from a string. Throws `DecodingError` for another type.
    public init(from decoder: any Decoder) throws {
        self.init(raw: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the code as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Whether the enrollment, device or user was deleted on the server.
    public var isResourceDeleted: Bool {
        [.enrollmentNotFound, .deviceDeleted, .enrollmentDeleted, .userDeleted].contains(self)
    }

    /// Whether the enrollment, device or user is suspended on the server.
    public var isResourceSuspended: Bool {
        [.deviceSuspended, .userSuspended, .enrollmentSuspended].contains(self)
    }

    /// Returns the HTTP status that belongs to the code; 400 for codes that Documentation/Protocol/Devices.md §2.12 does not list.
    public func httpCode() -> Int {
        switch self {
        case .resourceNotFound, .enrollmentNotFound: 404
        case .deviceSuspended, .phishingAttemptDetected: 403
        case .deviceDeleted, .enrollmentDeleted, .userDeleted: 410
        case .userSuspended, .enrollmentSuspended: 423
        case .invalidToken, .biometricKeyEnrollmentComplianceError, .unknown: 400
        }
    }

    /// The resulting state of an enrollment (Documentation/Protocol/Devices.md §2.12).
    var enrollmentState: EnrollmentState {
        switch self {
        case .enrollmentNotFound, .userDeleted: .deleted
        case .deviceDeleted, .enrollmentDeleted: .reset
        case .deviceSuspended, .userSuspended, .enrollmentSuspended: .suspended
        case .resourceNotFound, .invalidToken, .biometricKeyEnrollmentComplianceError, .phishingAttemptDetected, .unknown: .active
        }
    }
}
