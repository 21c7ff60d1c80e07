public import Foundation
public import JOSE

/// An org, as an enrollment knows it.
public struct Organization: Sendable, Equatable {
    /// The org's id.
    public let id: String
    /// The org's URL.
    public let url: URL

    /// An org, for an app's own test doubles.
    ///
    /// - Parameters:
    ///   - id: The org's id.
    ///   - url: The org's URL.
    public init(id: String, url: URL) {
        self.id = id
        self.url = url
    }
}

/// A user, as an enrollment knows them.
public struct User: Sendable, Equatable {
    /// The user's id.
    public let id: String
    /// The user's name, if the server gave it.
    public let name: String?

    /// A user, for an app's own test doubles.
    ///
    /// - Parameters:
    ///   - id: The user's id.
    ///   - name: The user's name.
    public init(id: String, name: String?) {
        self.id = id
        self.name = name
    }
}

/// What the policy of an authenticator asks for.
public protocol AuthenticatorPolicyProtocol: Sendable {
    /// Whether enrollments need a user verification key.
    var userVerificationSetting: UserVerificationPolicySetting { get }
}

/// Whether enrollments need a user verification key.
public enum UserVerificationPolicySetting: Equatable, Codable, Sendable {
    /// They may have one.
    case preferred
    /// They must have one.
    case required
    /// Another value.
    case unknown(String)

    /// Reads a value in any case.
    ///
    /// - Parameter raw: The value as the server writes it.
    public init(raw: String) {
        switch raw.lowercased() {
        case "preferred": self = .preferred
        case "required": self = .required
        default: self = .unknown(raw)
        }
    }

    /// The value in lower case; of an unknown one as it came.
    public var rawValue: String {
        switch self {
        case .preferred: "preferred"
        case .required: "required"
        case .unknown(let raw): raw
        }
    }

    /// Reads a value from a string.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: `DecodingError` if it is no string.
    public init(from decoder: any Decoder) throws {
        self.init(raw: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes ``rawValue``.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// What the last answer of the server says about an enrollment (the device-authenticator reference 6.3).
public enum EnrollmentState: Sendable {
    /// Nothing is wrong.
    case active
    /// Enrollment, device or user are suspended.
    case suspended
    /// Enrollment or user were deleted.
    case deleted
    /// Device or enrollment were deleted: remove the enrollment here and enroll again.
    case reset
}

/// The answer to a request for a maintenance token. Its descriptions never show the tokens.
public struct Oauth2Credential: Codable, Sendable, Redacted {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The access token.
    public let access_token: String
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The kind of token, such as `Bearer`.
    public let token_type: String
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// How long the token lives, in seconds.
    public let expires_in: Int?
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The refresh token; servers give none with these scopes.
    public let refresh_token: String?
    /// What the token permits, separated by spaces.
    public let scope: String?

    /// Kind, lifetime and scope; nothing of the tokens.
    public var description: String {
        "Oauth2Credential(\(token_type), expires in: \(expires_in.map(String.init) ?? "?"), scope: \(scope ?? "?"))"
    }
}
