public import Foundation

/// The push token and options of an enrollment.
public struct EnrollmentParameters: Sendable {
    let deviceToken: DeviceToken
    /// `nil` if the app did not choose, which differs from `false` in the request.
    private(set) var userVerification: Bool?
    private(set) var userVerificationSettings = BiometricEnrollmentSettings.default
    private(set) var isCIBAEnabled = false

    /// Creates parameters without user verification and CIBA.
    /// - Parameter deviceToken: The token of the push service.
    public init(deviceToken: DeviceToken) {
        self.deviceToken = deviceToken
    }

    /// Creates parameters without CIBA. This signature is from the older documentation.
    /// - Parameters:
    ///   - deviceToken: The bytes that the system provides.
    ///   - enableUserVerification: Whether to create a user verification key.
    public init(deviceToken: Data, enableUserVerification: Bool) {
        self.init(deviceToken: .tokenData(deviceToken))
        self.enableUserVerification(enable: enableUserVerification)
    }

    /// Sets whether to create a user verification key.
    /// - Parameter userVerificationSettings: The protection of the key.
    public mutating func enableUserVerification(enable: Bool, userVerificationSettings: BiometricEnrollmentSettings = .default) {
        userVerification = enable
        self.userVerificationSettings = userVerificationSettings
    }

    /// Sets whether the server may send CIBA challenges; `false` by default.
    public mutating func enableCIBATransactions(enable: Bool) {
        isCIBAEnabled = enable
    }
}

/// The protection of a user verification key.
public struct BiometricEnrollmentSettings: Sendable {
    /// The access constraints of the key. On other platforms than Apple's, the ``UserVerifier`` decides instead.
    public let accessControlFlags: SecAccessControlCreateFlags

    /// Creates settings with access constraints.
    public init(accessControlFlags: SecAccessControlCreateFlags) {
        self.accessControlFlags = accessControlFlags
    }

    /// Requires the biometrics that are enrolled when the key is created. Changing them invalidates the key.
    public static var `default`: BiometricEnrollmentSettings { BiometricEnrollmentSettings(accessControlFlags: .biometryCurrentSet) }
}
