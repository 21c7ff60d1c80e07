internal import Foundation
internal import IdentityCore
internal import JOSE

/// A request to start a classic sign-in (Documentation/Protocol/Authn.md §4.2).
package struct ClassicRequest: Sendable {
    /// The user name as typed.
    package var username: String
    /// The password as typed.
    package var password: String
    /// Returned with every response; at most 2,048 characters.
    package var relayState: String?
    /// Whether the client wants optional factors to be offered, one after the other.
    package var enrollsOptional: Bool = false
    /// Whether the client warns before a password expires.
    package var warnsBeforeExpiry: Bool = false
}

/// The caller of the classic API: a public client, or a back end with an API token.
package struct ClassicCaller: Sendable {
    /// The token of `Authorization: SSWS`.
    package var apiToken: String?
    /// The value of the browser's cookie `DT`.
    package var deviceCookie: String?
    /// The device token in the body; ignored unless the caller has a valid API token.
    package var deviceToken: String?
    /// Whether the caller is a page in a browser. An attacker can plant cookies there, from a sibling host or a script.
    package var isPage: Bool = false
    /// The push factors that the client asks automatically, from the browser's cookie.
    package var autoPush: [String] = []

    /// The maximum length of a device token, in bytes.
    static let longestDeviceToken = 32

    /// The device token of the request; `nil` if there is no valid one.
    func device(isTrusted: Bool) -> String? {
        [isTrusted ? deviceToken : nil, deviceCookie].lazy.compactMap { $0 }
            .first { (RememberedDevice.shortestToken...Self.longestDeviceToken).contains($0.utf8.count) && !$0.contains("-") }
    }
}

extension ClassicRequest: Redacted {}

extension ClassicCaller: Redacted {
    package var description: String {
        "ClassicCaller(apiToken: \(apiToken != nil), device: \(deviceCookie != nil || deviceToken != nil))"
    }
}
