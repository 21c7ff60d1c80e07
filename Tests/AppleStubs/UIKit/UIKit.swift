@_exported public import Foundation

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
@MainActor
open class UIResponder: NSObject {
    override public init() { stub() }
}

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
@MainActor
open class UIView: UIResponder {
    open var window: UIWindow? { stub() }
}

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
@MainActor
open class UIWindow: UIView {
    override public init() { stub() }
}

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
@MainActor
open class UIApplication: UIResponder {
    open class var shared: UIApplication { stub() }

    @available(iOS 8.0, tvOS 9.0, visionOS 1.0, *)
    open func registerForRemoteNotifications() { stub() }
}

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
extension UIApplication {
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        public var rawValue: String { stub() }
        public init(rawValue: String) { stub() }
    }
}

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    @available(iOS 3.0, tvOS 9.0, visionOS 1.0, *)
    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    @available(iOS 3.0, tvOS 9.0, visionOS 1.0, *)
    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
}

// Both requirements are optional in Objective-C. The implementations are deprecated, so that the compiler warns if a class does not
// implement a requirement with the signature and name of the protocol.
@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
extension UIApplicationDelegate {
    @available(*, deprecated, message: "The type does not implement the requirement.")
    public func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { stub() }

    @available(*, deprecated, message: "The type does not implement the requirement.")
    public func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) { stub() }
}

// The conformance is unchecked because Apple's class is not final.
@available(iOS 2.0, tvOS 9.0, visionOS 1.0, watchOS 2.0, *)
open class UIColor: NSObject, @unchecked Sendable {
    @available(iOS 13.0, visionOS 1.0, *)
    open class var systemGroupedBackground: UIColor { stub() }
}

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
@nonexhaustive public enum UIKeyboardType: Int, Sendable {
    case `default` = 0
    case numberPad = 4
    case phonePad = 5
    case emailAddress = 7
}

@available(iOS 10.0, tvOS 10.0, visionOS 1.0, *)
public struct UITextContentType: RawRepresentable, Hashable, Sendable {
    public var rawValue: String { stub() }
    public init(rawValue: String) { stub() }

    @available(iOS 10.0, tvOS 10.0, visionOS 1.0, *)
    public static var telephoneNumber: UITextContentType { stub() }

    @available(iOS 11.0, tvOS 11.0, visionOS 1.0, *)
    public static var username: UITextContentType { stub() }

    @available(iOS 11.0, tvOS 11.0, visionOS 1.0, *)
    public static var password: UITextContentType { stub() }

    @available(iOS 12.0, tvOS 12.0, visionOS 1.0, *)
    public static var newPassword: UITextContentType { stub() }

    @available(iOS 12.0, tvOS 12.0, visionOS 1.0, *)
    public static var oneTimeCode: UITextContentType { stub() }
}
