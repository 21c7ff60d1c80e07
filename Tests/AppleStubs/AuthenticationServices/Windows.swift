@_exported public import Foundation

// AppKit and UIKit do not exist on the same platform, and `ASPresentationAnchor` names a class of one of them. A stub cannot express this
// without a condition.
#if canImport(UIKit) && !os(watchOS)
@_exported public import UIKit

@available(iOS 12.0, tvOS 13.0, visionOS 1.0, *)
public typealias ASPresentationAnchor = UIWindow
#elseif canImport(AppKit)
@_exported public import AppKit

@available(macOS 10.15, *)
public typealias ASPresentationAnchor = NSWindow
#endif

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }
