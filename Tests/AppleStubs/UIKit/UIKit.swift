@_exported public import Foundation

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
@MainActor
open class UIResponder: NSObject {
    override public init() { stub() }
}

@available(iOS 2.0, tvOS 9.0, visionOS 1.0, *)
@MainActor
open class UIView: UIResponder {}

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
