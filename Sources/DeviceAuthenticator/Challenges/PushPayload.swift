internal import Foundation

#if canImport(UserNotifications)
internal import UserNotifications
#endif

/// What a push, or an element of the list of pending challenges, brings (the device-authenticator reference 4.1).
struct PushPayload: Sendable {
    static let defaultSkew = 300
    static let version = "IDXv1"

    let challenge: String

    /// Reads the payload's members; the plain names win, those with the prefix `okta.` are read if the plain ones are no strings.
    ///
    /// - Throws: ``DeviceAuthenticatorError/pushNotRecognized``.
    init(_ string: (String) -> String?) throws {
        guard (string("payloadVersion") ?? string("okta.payloadVersion")) == Self.version,
            let challenge = string("challenge") ?? string("okta.challenge")
        else { throw DeviceAuthenticatorError.pushNotRecognized }
        self.challenge = challenge
    }

    init(userInfo: [AnyHashable: Any]) throws {
        try self.init { userInfo[$0] as? String }
    }

    /// What an action of a notification says (the device-authenticator reference 4.3).
    static func response(toAction identifier: String?) -> PushChallengeUserResponse {
        switch identifier {
        case NotificationCategories.approveAction: .userApproved
        case NotificationCategories.denyAction: .userDenied
        default: .userNotResponded
        }
    }
}

#if canImport(UserNotifications)
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
