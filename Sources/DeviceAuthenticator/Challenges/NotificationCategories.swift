#if canImport(UserNotifications) && canImport(Darwin) && !os(tvOS)
internal import UserNotifications
#endif

/// The notification categories and their actions (Documentation/Protocol/Devices.md §4.3).
enum NotificationCategories {
    static let challenge = "OKTA_PUSH_CHALLENGE"
    static let verificationChallenge = "OKTA_PUSH_UV_CHALLENGE"
    static let approveAction = "APPROVE_BUTTON"
    static let denyAction = "DENY_BUTTON"
    static let reviewAction = "REVIEW_BUTTON"

    #if canImport(UserNotifications) && canImport(Darwin) && !os(tvOS)
    /// Adds categories to those that the app has registered. A category is added if its titles are set.
    static func register(_ settings: ApplicationConfig.PushSettings) {
        guard !categories(settings).isEmpty else { return }
        UNUserNotificationCenter.current().getNotificationCategories { others in
            // Created here, because categories cannot be sent to the handler.
            UNUserNotificationCenter.current().setNotificationCategories(categories(settings).union(others))
        }
    }

    private static func categories(_ settings: ApplicationConfig.PushSettings) -> Set<UNNotificationCategory> {
        var categories: Set<UNNotificationCategory> = []
        if let approve = settings.approveActionTitle, let deny = settings.denyActionTitle {
            let actions = [
                UNNotificationAction(identifier: approveAction, title: approve, options: .authenticationRequired),
                UNNotificationAction(identifier: denyAction, title: deny, options: .authenticationRequired),
            ]
            categories.insert(UNNotificationCategory(identifier: challenge, actions: actions, intentIdentifiers: []))
        }
        if let review = settings.userVerificationActionTitle {
            let action = UNNotificationAction(identifier: reviewAction, title: review, options: .foreground)
            categories.insert(UNNotificationCategory(identifier: verificationChallenge, actions: [action], intentIdentifiers: []))
        }
        return categories
    }
    #endif
}
