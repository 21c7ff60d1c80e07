#if canImport(SwiftUI) && canImport(UserNotifications) && !os(tvOS)
public import Foundation
#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#endif
public import UserNotifications

/// Gives notifications to the view model, which knows what they mean.
///
/// Make one when the app is launched, before that has ended, so that a tap that launched the app is heard; keep it, and call ``register()``.
/// The token comes to the app delegate's `didRegisterForRemoteNotificationsWithDeviceToken`, which hands it on:
/// `Task { await viewModel.updatePushToken(token) }`. Used on the main actor, which is where the system calls it.
@MainActor
public final class PushNotifications: NSObject, UNUserNotificationCenterDelegate {
    private let viewModel: AuthenticatorViewModel

    /// Takes notifications from now on.
    ///
    /// - Parameter viewModel: Who they are for.
    public init(viewModel: AuthenticatorViewModel) {
        self.viewModel = viewModel
        super.init()
        UNUserNotificationCenter.current().delegate = self
    }

    #if canImport(UIKit) && !os(watchOS)
    /// Asks the person, once, whether notifications may be shown, and the system for this device's push token, at each launch: it changes.
    ///
    /// The token is asked for whatever the person says: a push that shows nothing still comes while the app is in front.
    ///
    /// - Returns: Whether notifications are shown; if not, requests are seen in the app only.
    /// - Throws: If the system can't ask.
    @discardableResult
    public func register() async throws -> Bool {
        UIApplication.shared.registerForRemoteNotifications()
        return try await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound])
    }
    #endif

    /// The app is in front: the request is shown in it, and another app's notification as usual.
    nonisolated public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let push = PushPayload(notification.request.content.userInfo)
        let done = Answered(completionHandler)
        Task { @MainActor in
            let isRequest = await viewModel.didReceive(push)
            done.call(isRequest ? [] : [.banner, .sound])
        }
    }

    /// The person tapped the notification, or chose an action of it.
    nonisolated public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let push = PushPayload(response.notification.request.content.userInfo, action: response.actionIdentifier)
        let done = Answered { (_: Void) in completionHandler() }
        Task { @MainActor in
            await viewModel.didRespond(to: push)
            done.call(())
        }
    }
}

/// A completion handler on its way to the main actor.
///
/// Invariant that makes `@unchecked Sendable` safe: the system made it for one call, on any thread; it is called once.
private struct Answered<Value>: @unchecked Sendable {
    private let handler: (Value) -> Void

    init(_ handler: @escaping (Value) -> Void) {
        self.handler = handler
    }

    @MainActor func call(_ value: Value) { handler(value) }
}
#endif
