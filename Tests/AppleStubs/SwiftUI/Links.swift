public import Foundation

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
@MainActor
@preconcurrency
public struct Link<Label: View> {
    @MainActor @preconcurrency public init(destination: URL, @ViewBuilder label: () -> Label) { stub() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
extension Link: View {
    public typealias Body = Never
    public var body: Never { stub() }
}

@available(iOS 14.0, macOS 11.0, visionOS 1.0, *)
public struct KeyboardShortcut: Sendable {
    public static var defaultAction: KeyboardShortcut { stub() }
    public static var cancelAction: KeyboardShortcut { stub() }
}

@available(iOS 14.0, macOS 11.0, visionOS 1.0, *)
extension View {
    nonisolated public func keyboardShortcut(_ shortcut: KeyboardShortcut) -> some View { stubView() }
}
