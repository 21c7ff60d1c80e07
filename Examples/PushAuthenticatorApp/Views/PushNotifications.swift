#if canImport(SwiftUI) && canImport(UserNotifications) && !os(tvOS) && !os(watchOS)
public import Foundation
#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#endif
public import UserNotifications

/// The notification delegate that forwards notifications to the view model.
///
/// Create it before the app has finished launching, so that a tap that launched the app is not lost. Keep a reference to it, and call
/// ``register()``. The app delegate's `didRegisterForRemoteNotificationsWithDeviceToken` receives the push token. Forward the token with
/// `Task { await viewModel.updatePushToken(token) }`.
@MainActor
public final class PushNotifications: NSObject, UNUserNotificationCenterDelegate {
    private let viewModel: AuthenticatorViewModel

    /// Creates the delegate, which receives notifications from now on.
    ///
    /// - Parameter viewModel: The view model that handles the notifications.
    public init(viewModel: AuthenticatorViewModel) {
        self.viewModel = viewModel
        super.init()
        UNUserNotificationCenter.current().delegate = self
    }

    #if canImport(UIKit) && !os(watchOS)
    /// Asks the user for permission to show notifications, and the system for this device's push token. Call this function at each launch,
    /// because the token can change. The system asks the user only once.
    ///
    /// The token is requested even without permission, because silent pushes still arrive while the app is in the foreground.
    ///
    /// - Returns: Whether notifications are shown. Otherwise requests are visible only in the app.
    /// - Throws: An error of the permission request.
    @discardableResult
    public func register() async throws -> Bool {
        UIApplication.shared.registerForRemoteNotifications()
        return try await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound])
    }
    #endif

    /// Handles a notification while the app is in the foreground. The app shows a request itself; the system shows other notifications.
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

    /// Handles a notification that the user tapped, or whose action the user chose.
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

/// A completion handler that is transferred to the main actor.
///
/// `@unchecked Sendable` is safe because the system allows one call on any thread, and the handler is called once.
private struct Answered<Value>: @unchecked Sendable {
    private let handler: (Value) -> Void

    init(_ handler: @escaping (Value) -> Void) {
        self.handler = handler
    }

    @MainActor func call(_ value: Value) { handler(value) }
}
#endif
