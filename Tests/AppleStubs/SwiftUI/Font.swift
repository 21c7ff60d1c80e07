public import Foundation

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct Font: Hashable, Sendable {
    public static var largeTitle: Font { stub() }
    public static var title: Font { stub() }
    @available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
    public static var title2: Font { stub() }
    @available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
    public static var title3: Font { stub() }
    public static var headline: Font { stub() }
    public static var subheadline: Font { stub() }
    public static var body: Font { stub() }
    public static var callout: Font { stub() }
    public static var footnote: Font { stub() }
    public static var caption: Font { stub() }
    @available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
    public static var caption2: Font { stub() }
}

@available(iOS 16.0, macOS 13.0, tvOS 16.0, visionOS 1.0, watchOS 9.0, *)
extension Font {
    public static func system(size: CGFloat, weight: Font.Weight? = nil, design: Font.Design? = nil) -> Font { stub() }
    public static func system(_ style: Font.TextStyle, design: Font.Design? = nil, weight: Font.Weight? = nil) -> Font { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension Font {
    public enum TextStyle: CaseIterable, Hashable, Sendable {
        case largeTitle, title
        @available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
        case title2, title3
        case headline, subheadline, body, callout, footnote, caption
        @available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
        case caption2

        public static var allCases: [Font.TextStyle] { stub() }
    }

    public enum Design: Hashable, Sendable {
        case `default`
        @available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 7.0, *)
        case serif
        case rounded
        @available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 7.0, *)
        case monospaced
    }

    public struct Weight: Hashable, Sendable {
        public static var regular: Font.Weight { stub() }
        public static var medium: Font.Weight { stub() }
        public static var semibold: Font.Weight { stub() }
        public static var bold: Font.Weight { stub() }
    }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension View {
    nonisolated public func font(_ font: Font?) -> some View { stubView() }
}

@available(iOS 16.0, macOS 13.0, tvOS 16.0, visionOS 1.0, watchOS 9.0, *)
extension View {
    nonisolated public func fontWeight(_ weight: Font.Weight?) -> some View { stubView() }
    nonisolated public func bold(_ isActive: Bool = true) -> some View { stubView() }
    nonisolated public func monospaced(_ isActive: Bool = true) -> some View { stubView() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
extension View {
    nonisolated public func dynamicTypeSize(_ size: DynamicTypeSize) -> some View { stubView() }
    nonisolated public func dynamicTypeSize<T: RangeExpression>(_ range: T) -> some View where T.Bound == DynamicTypeSize { stubView() }
}
