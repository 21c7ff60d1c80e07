// SwiftUI exports AppKit on macOS.
@_exported public import AppKit

@available(macOS 10.15, *)
@MainActor
@preconcurrency
public protocol NSViewRepresentable: View where Body == Never {
    associatedtype NSViewType: NSView
    typealias Context = NSViewRepresentableContext<Self>
    @MainActor @preconcurrency func makeNSView(context: Context) -> NSViewType
    @MainActor @preconcurrency func updateNSView(_ nsView: NSViewType, context: Context)
}

@available(macOS 10.15, *)
extension NSViewRepresentable {
    public var body: Never { stub() }
}

@available(macOS 10.15, *)
@MainActor
@preconcurrency
public struct NSViewRepresentableContext<Representable: NSViewRepresentable> {}
