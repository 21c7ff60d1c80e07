internal import Foundation

#if canImport(UserNotifications) && !os(tvOS)
internal import UserNotifications
#endif

/// The payload of a push or of a pending challenge (Documentation/Protocol/Devices.md §4.1).
struct PushPayload: Sendable {
    static let defaultSkew = 300
    static let version = "IDXv1"

    let challenge: String

    /// Reads the payload's members; names with the prefix `okta.` are used if the plain names are missing. Throws
    /// ``DeviceAuthenticatorError/pushNotRecognized``.
    init(_ string: (String) -> String?) throws {
        guard (string("payloadVersion") ?? string("okta.payloadVersion")) == Self.version,
            let challenge = string("challenge") ?? string("okta.challenge")
        else { throw DeviceAuthenticatorError.pushNotRecognized }
        self.challenge = challenge
    }

    init(userInfo: [AnyHashable: Any]) throws {
        try self.init { userInfo[$0] as? String }
    }

    /// Returns the user's answer for a notification action (Documentation/Protocol/Devices.md §4.3).
    static func response(toAction identifier: String?) -> PushChallengeUserResponse {
        switch identifier {
        case NotificationCategories.approveAction: .userApproved
        case NotificationCategories.denyAction: .userDenied
        default: .userNotResponded
        }
    }
}

#if canImport(UserNotifications) && !os(tvOS)
extension PushDevice {
    func parsePushNotification(_ notification: UNNotification, allowedClockSkewInSeconds: Int) throws -> any PushChallengeProtocol {
        try parsePushNotification(
            userInfo: notification.request.content.userInfo, actionIdentifier: nil, allowedClockSkewInSeconds: allowedClockSkewInSeconds)
    }

    func parsePushNotificationResponse(_ response: UNNotificationResponse, allowedClockSkewInSeconds: Int) throws
        -> any PushChallengeProtocol
    {
        try parsePushNotification(
            userInfo: response.notification.request.content.userInfo, actionIdentifier: response.actionIdentifier,
            allowedClockSkewInSeconds: allowedClockSkewInSeconds)
    }
}
#endif
