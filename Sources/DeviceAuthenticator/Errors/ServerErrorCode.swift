/// An error code of the org (`errorCode`), as the device-authenticator reference 2.12 lists them.
public enum ServerErrorCode: Codable, Equatable, Sendable {
    /// `E0000007`: there is no such resource.
    case resourceNotFound
    /// `E0000008`: there is no such enrollment.
    case enrollmentNotFound
    /// `E0000011`: the token was refused.
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
    /// `E0000158`: the policy asks for a user verification key.
    case biometricKeyEnrollmentComplianceError
    /// `E0000180`: the enrollment is suspended.
    case enrollmentSuspended
    /// `E0000212`: the server took the attempt for phishing.
    case phishingAttemptDetected
    /// Any other code.
    case unknown(String)

    private static let known: [(String, ServerErrorCode)] = [
        ("E0000007", .resourceNotFound), ("E0000008", .enrollmentNotFound), ("E0000011", .invalidToken),
        ("E0000152", .deviceSuspended), ("E0000153", .deviceDeleted), ("E0000154", .enrollmentDeleted),
        ("E0000155", .userSuspended), ("E0000156", .userDeleted), ("E0000158", .biometricKeyEnrollmentComplianceError),
        ("E0000180", .enrollmentSuspended), ("E0000212", .phishingAttemptDetected),
    ]

    /// Reads a code.
    ///
    /// - Parameter raw: The code as the server writes it.
    public init(raw: String) {
        self = Self.known.first { $0.0 == raw }?.1 ?? .unknown(raw)
    }

    /// The code as the server writes it.
    public var rawValue: String {
        if case .unknown(let code) = self { return code }
        return Self.known.first { $0.1 == self }?.0 ?? ""
    }

    /// Reads a code from a string.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: `DecodingError` if it is no string.
    public init(from decoder: any Decoder) throws {
        self.init(raw: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the code as a string.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Whether enrollment, device or user are gone on the server.
    public var isResourceDeleted: Bool {
        [.enrollmentNotFound, .deviceDeleted, .enrollmentDeleted, .userDeleted].contains(self)
    }

    /// Whether enrollment, device or user are suspended on the server.
    public var isResourceSuspended: Bool {
        [.deviceSuspended, .userSuspended, .enrollmentSuspended].contains(self)
    }

    /// The HTTP status that the code comes with.
    ///
    /// - Returns: The status of the reference's table, 400 for codes that it does not list.
    public func httpCode() -> Int {
        switch self {
        case .resourceNotFound, .enrollmentNotFound: 404
        case .deviceSuspended, .phishingAttemptDetected: 403
        case .deviceDeleted, .enrollmentDeleted, .userDeleted: 410
        case .userSuspended, .enrollmentSuspended: 423
        case .invalidToken, .biometricKeyEnrollmentComplianceError, .unknown: 400
        }
    }

    /// What the code says about an enrollment (the device-authenticator reference 2.12).
    var enrollmentState: EnrollmentState {
        switch self {
        case .enrollmentNotFound, .userDeleted: .deleted
        case .deviceDeleted, .enrollmentDeleted: .reset
        case .deviceSuspended, .userSuspended, .enrollmentSuspended: .suspended
        case .resourceNotFound, .invalidToken, .biometricKeyEnrollmentComplianceError, .phishingAttemptDetected, .unknown: .active
        }
    }
}
