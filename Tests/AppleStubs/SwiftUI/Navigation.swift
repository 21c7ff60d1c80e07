@available(iOS 16.0, macOS 13.0, tvOS 16.0, visionOS 1.0, watchOS 9.0, *)
public struct NavigationPath {
    public init() { stub() }
}

@available(iOS 16.0, macOS 13.0, tvOS 16.0, visionOS 1.0, watchOS 9.0, *)
public struct NavigationStack<Data, Root: View> {
    public init(@ViewBuilder root: () -> Root) where Data == NavigationPath { stub() }
    public init(path: Binding<NavigationPath>, @ViewBuilder root: () -> Root) where Data == NavigationPath { stub() }
}

@available(iOS 16.0, macOS 13.0, tvOS 16.0, visionOS 1.0, watchOS 9.0, *)
extension NavigationStack: View {
    public typealias Body = Never
    public var body: Never { stub() }
}

@available(iOS 13.0, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct NavigationBarItem: Sendable {
    public enum TitleDisplayMode: Hashable, Sendable {
        case automatic, inline
        @available(iOS 13.0, visionOS 1.0, *)
        case large
    }
}

@available(iOS 14.0, visionOS 1.0, watchOS 8.0, *)
extension View {
    nonisolated public func navigationBarTitleDisplayMode(_ displayMode: NavigationBarItem.TitleDisplayMode) -> some View { stubView() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
extension View {
    nonisolated public func navigationTitle(_ title: Text) -> some View { stubView() }
    nonisolated public func navigationTitle(_ titleKey: LocalizedStringKey) -> some View { stubView() }
    @_disfavoredOverload
    nonisolated public func navigationTitle<S: StringProtocol>(_ title: S) -> some View { stubView() }
    nonisolated public func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View { stubView() }
    nonisolated public func toolbar<Content: ToolbarContent>(@ToolbarContentBuilder content: () -> Content) -> some View { stubView() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
@MainActor
@preconcurrency
public protocol ToolbarContent {
    associatedtype Body: ToolbarContent
    @ToolbarContentBuilder @MainActor @preconcurrency var body: Body { get }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
extension Never: ToolbarContent {}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
@resultBuilder
public struct ToolbarContentBuilder {
    public static func buildExpression<Content: ToolbarContent>(_ content: Content) -> Content { stub() }
    public static func buildBlock<Content: ToolbarContent>(_ content: Content) -> some ToolbarContent { stubToolbarItem() }
    public static func buildBlock<C0: ToolbarContent, C1: ToolbarContent>(_ c0: C0, _ c1: C1) -> some ToolbarContent { stubToolbarItem() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
public struct ToolbarItem<ID, Content: View> {}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
extension ToolbarItem: ToolbarContent {
    public typealias Body = Never
    public var body: Never { return stub() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
extension ToolbarItem where ID == () {
    nonisolated public init(placement: ToolbarItemPlacement = .automatic, @ViewBuilder content: () -> Content) { stub() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
public struct ToolbarItemPlacement {
    public static var automatic: ToolbarItemPlacement { stub() }
    public static var cancellationAction: ToolbarItemPlacement { stub() }
    public static var confirmationAction: ToolbarItemPlacement { stub() }
    @available(iOS 14.0, tvOS 14.0, visionOS 1.0, *)
    public static var navigationBarTrailing: ToolbarItemPlacement { stub() }
}
