@_exported public import Foundation

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 10.0, macOS 10.14, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
open class UNUserNotificationCenter: NSObject {
    open class func current() -> UNUserNotificationCenter { stub() }

    open weak var delegate: (any UNUserNotificationCenterDelegate)?

    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { stub() }

    @available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) { stub() }

    @available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
    open func getNotificationCategories(completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void) { stub() }
}

@available(iOS 10.0, macOS 10.14, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void)

    @available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void)
}

// Both requirements are optional in Objective-C. The implementations are deprecated, so that the compiler warns if a class does not
// implement a requirement with the signature and name of the protocol.
@available(iOS 10.0, macOS 10.14, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
extension UNUserNotificationCenterDelegate {
    @available(*, deprecated, message: "The type does not implement the requirement.")
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping @Sendable (UNNotificationPresentationOptions) -> Void
    ) { stub() }

    @available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
    @available(*, deprecated, message: "The type does not implement the requirement.")
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping @Sendable () -> Void
    ) { stub() }
}

@available(iOS 10.0, macOS 10.14, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public struct UNAuthorizationOptions: OptionSet, Sendable {
    public var rawValue: UInt { stub() }
    public init(rawValue: UInt) { stub() }

    public static var sound: UNAuthorizationOptions { stub() }
    public static var alert: UNAuthorizationOptions { stub() }
}

@available(iOS 10.0, macOS 10.14, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public var rawValue: UInt { stub() }
    public init(rawValue: UInt) { stub() }

    public static var sound: UNNotificationPresentationOptions { stub() }

    @available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
    public static var banner: UNNotificationPresentationOptions { stub() }
}

@available(iOS 10.0, macOS 10.14, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
open class UNNotification: NSObject {
    open var request: UNNotificationRequest { stub() }
}

@available(iOS 10.0, macOS 10.14, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
open class UNNotificationRequest: NSObject {
    open var content: UNNotificationContent { stub() }
}

@available(iOS 10.0, macOS 10.14, tvOS 10.0, visionOS 1.0, watchOS 3.0, *)
open class UNNotificationContent: NSObject {
    @available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
    open var userInfo: [AnyHashable: Any] { stub() }
}

@available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
open class UNNotificationResponse: NSObject {
    open var notification: UNNotification { stub() }
    open var actionIdentifier: String { stub() }
}

@available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
open class UNNotificationCategory: NSObject {
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String], options: UNNotificationCategoryOptions = []
    ) { stub() }
}

@available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public var rawValue: UInt { stub() }
    public init(rawValue: UInt) { stub() }
}

@available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
open class UNNotificationAction: NSObject {
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) { stub() }
}

@available(iOS 10.0, macOS 10.14, visionOS 1.0, watchOS 3.0, *)
public struct UNNotificationActionOptions: OptionSet, Sendable {
    public var rawValue: UInt { stub() }
    public init(rawValue: UInt) { stub() }

    public static var authenticationRequired: UNNotificationActionOptions { stub() }
    public static var foreground: UNNotificationActionOptions { stub() }
}
