internal import Foundation
internal import IdentityCore
internal import JOSE

/// What begins a classic sign-in (authn reference 4.2).
package struct ClassicRequest: Sendable {
    /// The name as it was typed.
    package var username: String
    /// The password as it was typed.
    package var password: String
    /// Given back with every answer; at most 2,048 characters.
    package var relayState: String?
    /// Whether the client wants to be offered what can be set up, one after the other.
    package var enrollsOptional: Bool
    /// Whether the client shows that a password will expire.
    package var warnsBeforeExpiry: Bool

    /// Describes a request.
    package init(
        username: String, password: String, relayState: String? = nil, enrollsOptional: Bool = false, warnsBeforeExpiry: Bool = false
    ) {
        self.username = username
        self.password = password
        self.relayState = relayState
        self.enrollsOptional = enrollsOptional
        self.warnsBeforeExpiry = warnsBeforeExpiry
    }
}

/// Who calls the classic API: anybody, or a back end that shows an API token.
package struct ClassicCaller: Sendable {
    /// What came in `Authorization: SSWS`; nil without it.
    package var apiToken: String?
    /// What the browser's cookie `DT` holds.
    package var deviceCookie: String?
    /// What the body says of the device; believed only of a caller with a good API token.
    package var deviceToken: String?
    /// Whether it is a page in a browser, whose cookies others can plant: a host beside this one, or a script.
    package var isPage: Bool
    /// The push factors that the browser's cookie says are asked by themselves.
    package var autoPush: [String]

    /// Describes a caller.
    package init(
        apiToken: String? = nil, deviceCookie: String? = nil, deviceToken: String? = nil, isPage: Bool = false, autoPush: [String] = []
    ) {
        self.autoPush = autoPush
        self.apiToken = apiToken
        self.deviceCookie = deviceCookie
        self.deviceToken = deviceToken
        self.isPage = isPage
    }

    /// The longest device token, in bytes.
    static let longestDeviceToken = 32

    /// The token of the device that it is on; nil if it names none that can be one.
    func device(isTrusted: Bool) -> String? {
        [isTrusted ? deviceToken : nil, deviceCookie].lazy.compactMap { $0 }
            .first { (RememberedDevice.shortestToken...Self.longestDeviceToken).contains($0.utf8.count) && !$0.contains("-") }
    }
}

extension ClassicRequest: Redacted {}

extension ClassicCaller: Redacted {
    /// Which parts there are; never the tokens.
    package var description: String {
        "ClassicCaller(apiToken: \(apiToken != nil), device: \(deviceCookie != nil || deviceToken != nil))"
    }
}
