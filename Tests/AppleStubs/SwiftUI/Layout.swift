public import Foundation

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct HorizontalAlignment: Equatable, Sendable {
    public static var leading: HorizontalAlignment { stub() }
    public static var center: HorizontalAlignment { stub() }
    public static var trailing: HorizontalAlignment { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct VerticalAlignment: Equatable, Sendable {
    public static var top: VerticalAlignment { stub() }
    public static var center: VerticalAlignment { stub() }
    public static var bottom: VerticalAlignment { stub() }
    public static var firstTextBaseline: VerticalAlignment { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct Alignment: Equatable, Sendable {
    public static var center: Alignment { stub() }
    public static var leading: Alignment { stub() }
    public static var trailing: Alignment { stub() }
    public static var top: Alignment { stub() }
    public static var bottom: Alignment { stub() }
    public static var topLeading: Alignment { stub() }
    public static var topTrailing: Alignment { stub() }
    public static var bottomLeading: Alignment { stub() }
    public static var bottomTrailing: Alignment { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public enum Axis: Int8, CaseIterable, Sendable {
    case horizontal, vertical

    public struct Set: OptionSet, Sendable {
        public var rawValue: Int8 { stub() }
        public init(rawValue: Int8) { stub() }
        public static var horizontal: Axis.Set { stub() }
        public static var vertical: Axis.Set { stub() }
    }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public enum Edge: Int8, CaseIterable, Sendable {
    case top, leading, bottom, trailing

    public struct Set: OptionSet, Sendable {
        public var rawValue: Int8 { stub() }
        public init(rawValue: Int8) { stub() }
        public static var top: Edge.Set { stub() }
        public static var leading: Edge.Set { stub() }
        public static var bottom: Edge.Set { stub() }
        public static var trailing: Edge.Set { stub() }
        public static var all: Edge.Set { stub() }
        public static var horizontal: Edge.Set { stub() }
        public static var vertical: Edge.Set { stub() }
    }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct EdgeInsets: Equatable, Sendable {
    public init(top: CGFloat, leading: CGFloat, bottom: CGFloat, trailing: CGFloat) { stub() }
    public init() { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct UnitPoint: Hashable, Sendable {
    public static var center: UnitPoint { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension View {
    nonisolated public func padding(_ insets: EdgeInsets) -> some View { stubView() }
    nonisolated public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { stubView() }
    nonisolated public func padding(_ length: CGFloat) -> some View { stubView() }
    nonisolated public func frame(width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center) -> some View { stubView() }
    nonisolated public func frame(
        minWidth: CGFloat? = nil, idealWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, minHeight: CGFloat? = nil,
        idealHeight: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { stubView() }
    nonisolated public func scaleEffect(_ s: CGFloat, anchor: UnitPoint = .center) -> some View { stubView() }
    nonisolated public func cornerRadius(_ radius: CGFloat, antialiased: Bool = true) -> some View { stubView() }
    nonisolated public func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View { stubView() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct Animation: Equatable, Sendable {
    public static var `default`: Animation { stub() }
    public static var linear: Animation { stub() }
    public static var easeIn: Animation { stub() }
    public static var easeOut: Animation { stub() }
    public static var easeInOut: Animation { stub() }
    public static func easeInOut(duration: TimeInterval) -> Animation { stub() }
}
