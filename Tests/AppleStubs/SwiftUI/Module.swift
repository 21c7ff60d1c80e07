// SwiftUI exports Foundation and Observation on Apple's systems.
@_exported public import Foundation
@_exported public import Observation

internal func stub(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is a stub") }

// The compiler sees the type behind `some View`. If the type were `Never`, the compiler would warn that the code after a call does not run.
internal func stubView(_ name: StaticString = #function) -> EmptyView { stub(name) }
internal func stubToolbarItem(_ name: StaticString = #function) -> ToolbarItem<(), EmptyView> { stub(name) }

/// The gate replaces `#Preview` by a call of this function, so that the compiler checks the content of each preview.
@available(iOS 17.0, macOS 14.0, tvOS 17.0, visionOS 1.0, watchOS 10.0, *)
@MainActor
public func previewed<Content: View>(_ name: String? = nil, @ViewBuilder _ content: @MainActor () -> Content) { stub() }
