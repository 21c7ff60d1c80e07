public import Foundation
public import JOSE

/// The org of an enrollment.
public struct Organization: Sendable, Equatable {
    /// The org's id.
    public let id: String
    /// The org's URL.
    public let url: URL

    /// Creates an org, for an app's test doubles.
    public init(id: String, url: URL) {
        self.id = id
        self.url = url
    }
}

/// The user of an enrollment.
public struct User: Sendable, Equatable {
    /// The user's id.
    public let id: String
    /// The user's name; `nil` if the server did not provide it.
    public let name: String?

    /// Creates a user, for an app's test doubles.
    public init(id: String, name: String?) {
        self.id = id
        self.name = name
    }
}

/// The policy of an authenticator.
public protocol AuthenticatorPolicyProtocol: Sendable {
    /// The policy for user verification keys.
    var userVerificationSetting: UserVerificationPolicySetting { get }
}

/// A policy for user verification keys.
public enum UserVerificationPolicySetting: Equatable, Codable, Sendable {
    /// The key is optional.
    case preferred
    /// The key is mandatory.
    case required
    /// A value that this module does not know.
    case unknown(String)

    /// Parses a server's value, ignoring case.
    public init(raw: String) {
        switch raw.lowercased() {
        case "preferred": self = .preferred
        case "required": self = .required
        default: self = .unknown(raw)
        }
    }

    /// The value in lower case; an unknown value is unchanged.
    public var rawValue: String {
        switch self {
        case .preferred: "preferred"
        case .required: "required"
        case .unknown(let raw): raw
        }
    }

    /// Decodes the value from a string. Throws `DecodingError` for another type.
    public init(from decoder: any Decoder) throws {
        self.init(raw: try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes ``rawValue``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// The state of an enrollment according to the server's last response (Documentation/Protocol/Devices.md §6.3).
public enum EnrollmentState: Sendable {
    /// The server reported no problem.
    case active
    /// The enrollment, device or user is suspended.
    case suspended
    /// The enrollment was not found, or the user was deleted.
    case deleted
    /// The device or enrollment was deleted: delete the enrollment here and enroll again.
    case reset
}

/// A maintenance token response. Descriptions redact the tokens.
public struct Oauth2Credential: Codable, Sendable, Redacted {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The access token.
    public let access_token: String
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The type of the token, such as `Bearer`.
    public let token_type: String
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The lifetime of the token in seconds; `nil` if the server did not provide it.
    public let expires_in: Int?
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The refresh token; normally `nil`, because servers do not issue refresh tokens for these scopes.
    public let refresh_token: String?
    /// The scopes of the token, separated by spaces; `nil` if the server did not provide them.
    public let scope: String?

    /// The type, lifetime and scopes, without the tokens.
    public var description: String {
        "Oauth2Credential(\(token_type), expires in: \(expires_in.map(String.init) ?? "?"), scope: \(scope ?? "?"))"
    }
}

/// The push token and options of an enrollment.
public struct EnrollmentParameters: Sendable {
    let deviceToken: DeviceToken
    /// Whether the app wants user verification; `nil` if the app did not choose. The request distinguishes `nil` from `false`.
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
    /// The access constraints of the key. On platforms other than Apple's, the ``UserVerifier`` decides instead.
    public let accessControlFlags: SecAccessControlCreateFlags

    /// Creates settings with access constraints.
    public init(accessControlFlags: SecAccessControlCreateFlags) {
        self.accessControlFlags = accessControlFlags
    }

    /// The settings that require the biometrics enrolled at the creation of the key. A change of these biometrics invalidates the key.
    public static var `default`: BiometricEnrollmentSettings { BiometricEnrollmentSettings(accessControlFlags: .biometryCurrentSet) }
}

/// A token that authorizes a call to the org. Descriptions redact it.
public enum AuthToken: Sendable, Redacted {
    /// An OAuth access token. To enroll, to delete, and to turn user verification on or off, the token needs the scope
    /// `okta.myAccount.appAuthenticator.manage`. A token with this scope is for one use: do not store it. This module does not store it
    /// either.
    case bearer(String)

    /// The kind of token, without its value.
    public var description: String { "AuthToken.bearer(…)" }

    /// The value of the `Authorization` header.
    var authorization: String {
        switch self {
        case .bearer(let token): "Bearer \(token)"
        }
    }
}

/// The push service's token, with which the server reaches this installation. Descriptions redact it.
public enum DeviceToken: Sendable, Redacted {
    /// No token is known yet: pushes do not arrive, but challenges can be pulled.
    case empty
    /// The bytes that the system provides.
    case tokenData(Data)
    /// The string form that the server expects.
    case tokenString(String)

    /// A text that shows whether there is a token, without the token's value.
    public var description: String {
        if case .empty = self { "DeviceToken.empty" } else { "DeviceToken(…)" }
    }

    /// The form for the server: bytes in lower-case hexadecimal, a string unchanged, and the empty string without a token.
    var wireValue: String {
        switch self {
        case .empty: ""
        case .tokenData(let data): data.map { String(format: "%02x", $0) }.joined()
        case .tokenString(let text): text
        }
    }
}
