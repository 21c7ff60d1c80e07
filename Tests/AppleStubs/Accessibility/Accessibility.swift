@_exported public import Foundation

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(iOS 17.0, macOS 14.0, tvOS 17.0, visionOS 1.0, watchOS 10.0, *)
public enum AccessibilityNotification {
    public struct Announcement {
        public init(_ announcement: String) { stub() }
        public func post() { stub() }
    }
}
