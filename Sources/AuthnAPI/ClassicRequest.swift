internal import Foundation
internal import IdentityCore
internal import JOSE
internal import Store

/// A request to start a classic sign-in (Documentation/Protocol/Authn.md §4.2).
package struct ClassicRequest: Sendable {
    /// The user name as typed.
    package var username: String
    /// The password as typed.
    package var password: String
    /// The client's value, which every response repeats; at most 2,048 bytes. `nil` for none.
    package var relayState: String?
    /// Whether the sign-in also offers optional factors, one after the other.
    package var enrollsOptional: Bool = false
    /// Whether the client shows a warning before a password expires.
    package var warnsBeforeExpiry: Bool = false
}

/// The caller of the classic API: a public client, or a back end with an API token.
package struct ClassicCaller: Sendable {
    /// The API token of the header `Authorization: SSWS`; `nil` for a public client.
    package var apiToken: String?
    /// The value of the browser's cookie `DT`; `nil` for none.
    package var deviceCookie: String?
    /// The device token in the body; `nil` for none. It is ignored unless the caller has a valid API token.
    package var deviceToken: String?
    /// Whether the caller is a page in a browser. There, another host of the same domain or a script can set cookies.
    package var isPage: Bool = false
    /// The ids of the push factors that the client starts automatically, from the browser's cookie.
    package var autoPush: [String] = []

    /// The maximum length of a device token, in bytes.
    static let longestDeviceToken = 32

    /// The digest of the device token of a page, which counts only if this server issued it; `nil` for none.
    var issuedDevice: [UInt8]? { isPage ? device(isTrusted: false).map { TicketDigest(of: $0).bytes } : nil }

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
