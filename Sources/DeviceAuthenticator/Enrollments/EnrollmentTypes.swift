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
    /// The user's name, if the server provided it.
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

/// The state of an enrollment according to the server's last response (the device-authenticator reference 6.3).
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
    /// The lifetime of the token in seconds.
    public let expires_in: Int?
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The refresh token; servers do not issue one for these scopes.
    public let refresh_token: String?
    /// The scopes of the token, separated by spaces.
    public let scope: String?

    /// The type, lifetime and scopes, without the tokens.
    public var description: String {
        "Oauth2Credential(\(token_type), expires in: \(expires_in.map(String.init) ?? "?"), scope: \(scope ?? "?"))"
    }
}
