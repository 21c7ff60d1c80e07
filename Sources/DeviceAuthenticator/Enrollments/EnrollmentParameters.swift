public import Foundation

/// What an enrollment shall have.
public struct EnrollmentParameters: Sendable {
    let deviceToken: DeviceToken
    /// nil if the app said nothing about it, which the wire tells from "no".
    private(set) var userVerification: Bool?
    private(set) var userVerificationSettings = BiometricEnrollmentSettings.default
    private(set) var isCIBAEnabled = false

    /// An enrollment for a push token, with neither user verification nor CIBA.
    ///
    /// - Parameter deviceToken: The token of the push service.
    public init(deviceToken: DeviceToken) {
        self.deviceToken = deviceToken
    }

    /// The spelling of the older documentation.
    ///
    /// - Parameters:
    ///   - deviceToken: The token as the system gives it.
    ///   - enableUserVerification: Whether to make a user verification key.
    public init(deviceToken: Data, enableUserVerification: Bool) {
        self.init(deviceToken: .tokenData(deviceToken))
        self.enableUserVerification(enable: enableUserVerification)
    }

    /// Asks for a user verification key, or refuses one.
    ///
    /// - Parameters:
    ///   - enable: Whether to make the key.
    ///   - userVerificationSettings: What guards it.
    public mutating func enableUserVerification(enable: Bool, userVerificationSettings: BiometricEnrollmentSettings = .default) {
        userVerification = enable
        self.userVerificationSettings = userVerificationSettings
    }

    /// Lets the server send CIBA challenges, or not, which is the default.
    ///
    /// - Parameter enable: Whether it may.
    public mutating func enableCIBATransactions(enable: Bool) {
        isCIBAEnabled = enable
    }
}

/// What guards a user verification key.
public struct BiometricEnrollmentSettings: Sendable {
    /// The constraints. Off Apple's systems the ``UserVerifier`` decides instead.
    public let accessControlFlags: SecAccessControlCreateFlags

    /// Settings with these constraints.
    ///
    /// - Parameter accessControlFlags: The constraints.
    public init(accessControlFlags: SecAccessControlCreateFlags) {
        self.accessControlFlags = accessControlFlags
    }

    /// The biometrics that are enrolled when the key is made: a change of them destroys the key.
    public static var `default`: BiometricEnrollmentSettings { BiometricEnrollmentSettings(accessControlFlags: .biometryCurrentSet) }
}
