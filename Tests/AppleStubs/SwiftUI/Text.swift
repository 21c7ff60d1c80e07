public import Foundation

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    public struct StringInterpolation: StringInterpolationProtocol {
        public init(literalCapacity: Int, interpolationCount: Int) { stub() }
        public mutating func appendLiteral(_ literal: String) { stub() }
        public mutating func appendInterpolation(_ string: String) { stub() }
        public mutating func appendInterpolation<T: _FormatSpecifiable>(_ value: T) { stub() }
        @available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
        public mutating func appendInterpolation(_ text: Text) { stub() }
    }

    public init(_ value: String) { stub() }
    public init(stringLiteral value: String) { stub() }
    public init(stringInterpolation: StringInterpolation) { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public protocol _FormatSpecifiable: Equatable {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension Int: _FormatSpecifiable {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension Double: _FormatSpecifiable {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct Text: Equatable, Sendable {
    public init(verbatim content: String) { stub() }
    @_disfavoredOverload
    public init<S: StringProtocol>(_ content: S) { stub() }
    public init(_ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil) { stub() }

    public static func + (lhs: Text, rhs: Text) -> Text { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension Text: View {
    public typealias Body = Never
    public var body: Never { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension Text {
    nonisolated public func font(_ font: Font?) -> Text { stub() }
    nonisolated public func fontWeight(_ weight: Font.Weight?) -> Text { stub() }
    nonisolated public func bold() -> Text { stub() }
    @available(iOS 16.0, macOS 13.0, tvOS 16.0, visionOS 1.0, watchOS 9.0, *)
    nonisolated public func bold(_ isActive: Bool) -> Text { stub() }
    @available(iOS 16.4, macOS 13.3, tvOS 16.4, visionOS 1.0, watchOS 9.4, *)
    nonisolated public func monospaced(_ isActive: Bool = true) -> Text { stub() }
    @available(iOS 17.0, macOS 14.0, tvOS 17.0, visionOS 1.0, watchOS 10.0, *)
    nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> Text { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public enum TextAlignment: CaseIterable, Hashable, Sendable {
    case leading, center, trailing
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension View {
    nonisolated public func multilineTextAlignment(_ alignment: TextAlignment) -> some View { stubView() }
}

@available(iOS 15.0, macOS 12.0, visionOS 1.0, *)
public protocol TextSelectability {
    static var allowsSelection: Bool { get }
}

@available(iOS 15.0, macOS 12.0, visionOS 1.0, *)
public struct EnabledTextSelectability: TextSelectability {
    public static var allowsSelection: Bool { stub() }
}

@available(iOS 15.0, macOS 12.0, visionOS 1.0, *)
extension TextSelectability where Self == EnabledTextSelectability {
    public static var enabled: EnabledTextSelectability { stub() }
}

@available(iOS 15.0, macOS 12.0, visionOS 1.0, *)
extension View {
    nonisolated public func textSelection<S: TextSelectability>(_ selectability: S) -> some View { stubView() }
}
