#if canImport(SwiftUI) && canImport(UserNotifications) && !os(tvOS)
public import Foundation
#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#endif
public import UserNotifications

/// Forwards notifications to the view model.
///
/// Create it before the app has finished launching, so that a tap that launched the app is not lost. Keep it, and call ``register()``. The app
/// delegate's `didRegisterForRemoteNotificationsWithDeviceToken` receives the token and forwards it: `Task { await viewModel.updatePushToken(token)
/// }`. The system calls it on the main actor.
@MainActor
public final class PushNotifications: NSObject, UNUserNotificationCenterDelegate {
    private let viewModel: AuthenticatorViewModel

    /// Receives notifications from now on.
    ///
    /// - Parameter viewModel: The view model that handles them.
    public init(viewModel: AuthenticatorViewModel) {
        self.viewModel = viewModel
        super.init()
        UNUserNotificationCenter.current().delegate = self
    }

    #if canImport(UIKit) && !os(watchOS)
    /// Asks the user once for permission to show notifications, and the system at each launch for this device's push token, which can change.
    ///
    /// The token is requested even without permission, because silent pushes arrive while the app is in the foreground.
    ///
    /// - Returns: Whether notifications are shown. Otherwise requests are visible only in the app.
    /// - Throws: An error of the permission request.
    @discardableResult
    public func register() async throws -> Bool {
        UIApplication.shared.registerForRemoteNotifications()
        return try await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound])
    }
    #endif

    /// The app is in the foreground: it shows the request itself, and other notifications as usual.
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

    /// The user tapped the notification or chose one of its actions.
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

/// A completion handler that moves to the main actor.
///
/// Invariant that makes `@unchecked Sendable` safe: the system created it for one call on any thread, and it is called once.
private struct Answered<Value>: @unchecked Sendable {
    private let handler: (Value) -> Void

    init(_ handler: @escaping (Value) -> Void) {
        self.handler = handler
    }

    @MainActor func call(_ value: Value) { handler(value) }
}
#endif
