@_exported public import Foundation

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

@available(macOS 10.0, *)
@MainActor
open class NSResponder: NSObject {
    override public init() { stub() }
}

@available(macOS 10.0, *)
@MainActor
open class NSWindow: NSResponder {}

@available(macOS 10.0, *)
@MainActor
open class NSView: NSResponder {
    open var window: NSWindow? { stub() }
}
