#if canImport(UserNotifications) && !os(tvOS)
public import Foundation
public import UserNotifications

/// The delegate of an authenticator app that forwards notifications to a ``PushRequestModel``.
///
/// Create it before the app has finished launching, so that a tap that launched the app is not lost, and keep a reference to it. The app
/// registers for remote notifications itself, and sends the push token to its enrollments.
@MainActor
public final class PushRequestNotifications: NSObject, UNUserNotificationCenterDelegate {
    private let model: PushRequestModel

    /// Creates the delegate, which receives notifications from now on.
    /// - Parameter model: The model that shows and answers the requests.
    public init(model: PushRequestModel) {
        self.model = model
        super.init()
        UNUserNotificationCenter.current().delegate = self
    }

    /// Handles a notification while the app is in the foreground. The app shows a request itself; the system shows other notifications.
    nonisolated public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        let push = Push(userInfo: notification.request.content.userInfo)
        let completion = Completion(call: completionHandler)
        Task { @MainActor in
            let isRequest = await model.receive(push.userInfo)
            completion.call(isRequest ? [] : [.banner, .sound])
        }
    }

    /// Handles a notification that the user tapped, or whose action the user chose.
    nonisolated public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let push = Push(userInfo: response.notification.request.content.userInfo)
        let action = response.actionIdentifier
        let completion = Completion<Void> { completionHandler() }
        Task { @MainActor in
            await model.receive(push.userInfo, action: action)
            completion.call(())
        }
    }

    /// The payload of a push. `@unchecked Sendable` is safe because the dictionary is an immutable copy of values that the system read from
    /// JSON.
    private struct Push: @unchecked Sendable {
        let userInfo: [AnyHashable: Any]
    }

    /// A completion handler. `@unchecked Sendable` is safe because the system allows one call on any thread, and it is called once.
    private struct Completion<Value>: @unchecked Sendable {
        let call: (Value) -> Void
    }
}
#endif
