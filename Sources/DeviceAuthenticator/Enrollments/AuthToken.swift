public import Foundation
public import JOSE

/// What authorises a call at the org. Its descriptions never show the token.
public enum AuthToken: Sendable, Redacted {
    /// An OAuth access token.
    ///
    /// To enroll, to turn user verification on or off, and to delete, its scope has to contain `okta.myAccount.appAuthenticator.manage`.
    /// Such tokens are for one use: this module never stores one, and an app should not either.
    case bearer(String)

    /// The kind of token; nothing of the token.
    public var description: String { "AuthToken.bearer(…)" }

    /// The value of the header `Authorization`.
    var authorization: String {
        switch self {
        case .bearer(let token): "Bearer \(token)"
        }
    }
}

/// The token of the push service, by which the server reaches this installation. Its descriptions never show it.
public enum DeviceToken: Sendable, Redacted {
    /// None is known yet: no pushes come, challenges can be pulled.
    case empty
    /// As the system gives it.
    case tokenData(Data)
    /// In the form that the server takes.
    case tokenString(String)

    /// Whether there is one.
    public var description: String {
        if case .empty = self { "DeviceToken.empty" } else { "DeviceToken(…)" }
    }

    /// The form on the wire: lower-case hexadecimal of the bytes.
    var wireValue: String {
        switch self {
        case .empty: ""
        case .tokenData(let data): data.map { String(format: "%02x", $0) }.joined()
        case .tokenString(let text): text
        }
    }
}
