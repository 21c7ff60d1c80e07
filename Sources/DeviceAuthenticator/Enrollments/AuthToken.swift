public import Foundation
public import JOSE

/// A token that authorizes a call to the org. Descriptions redact it.
public enum AuthToken: Sendable, Redacted {
    /// An OAuth access token. To enroll, to delete, and to turn user verification on or off, it needs the scope
    /// `okta.myAccount.appAuthenticator.manage`. Such a token is for one use: do not store it. This module does not store it either.
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

    /// Whether there is a token, without its value.
    public var description: String {
        if case .empty = self { "DeviceToken.empty" } else { "DeviceToken(…)" }
    }

    /// The form for the server: lower-case hexadecimal.
    var wireValue: String {
        switch self {
        case .empty: ""
        case .tokenData(let data): data.map { String(format: "%02x", $0) }.joined()
        case .tokenString(let text): text
        }
    }
}
