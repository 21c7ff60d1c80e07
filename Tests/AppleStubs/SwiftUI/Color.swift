@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public protocol ShapeStyle: Sendable {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct Color: Hashable, Sendable {
    public func opacity(_ opacity: Double) -> Color { stub() }
    public static var red: Color { stub() }
    public static var orange: Color { stub() }
    public static var yellow: Color { stub() }
    public static var green: Color { stub() }
    public static var blue: Color { stub() }
    @available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
    public static var indigo: Color { stub() }
    public static var white: Color { stub() }
    public static var gray: Color { stub() }
    public static var black: Color { stub() }
    public static var clear: Color { stub() }
    public static var primary: Color { stub() }
    public static var secondary: Color { stub() }
    public static var accentColor: Color { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension Color: View {
    public typealias Body = Never
    public var body: Never { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension Color: ShapeStyle {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension ShapeStyle where Self == Color {
    public static var red: Color { stub() }
    public static var orange: Color { stub() }
    public static var yellow: Color { stub() }
    public static var green: Color { stub() }
    public static var blue: Color { stub() }
    @available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
    public static var indigo: Color { stub() }
    public static var white: Color { stub() }
    public static var gray: Color { stub() }
    public static var black: Color { stub() }
    public static var clear: Color { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
public struct HierarchicalShapeStyle: ShapeStyle {
    public static var primary: HierarchicalShapeStyle { stub() }
    public static var secondary: HierarchicalShapeStyle { stub() }
    public static var tertiary: HierarchicalShapeStyle { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var primary: HierarchicalShapeStyle { stub() }
    public static var secondary: HierarchicalShapeStyle { stub() }
    public static var tertiary: HierarchicalShapeStyle { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
public struct TintShapeStyle: ShapeStyle {
    public init() { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
extension ShapeStyle where Self == TintShapeStyle {
    public static var tint: TintShapeStyle { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 10.0, *)
public struct Material: Sendable {
    public static var thin: Material { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 10.0, *)
extension Material: ShapeStyle {}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 10.0, *)
extension ShapeStyle where Self == Material {
    public static var thinMaterial: Material { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
extension View {
    nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { stubView() }
    nonisolated public func background<S: ShapeStyle>(_ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all) -> some View { stubView() }
    nonisolated public func background<V: View>(alignment: Alignment = .center, @ViewBuilder content: () -> V) -> some View { stubView() }
    nonisolated public func tint(_ tint: Color?) -> some View { stubView() }
    @available(iOS 16.0, macOS 13.0, tvOS 16.0, visionOS 1.0, watchOS 9.0, *)
    nonisolated public func tint<S: ShapeStyle>(_ tint: S?) -> some View { stubView() }
}

@available(iOS 13.0, macOS 11.0, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension View {
    nonisolated public func preferredColorScheme(_ colorScheme: ColorScheme?) -> some View { stubView() }
}
