// AppKit and WatchKit declare these types. They stand here, because SwiftUI exports both frameworks, and nothing else here needs them.

@available(macOS 11.0, *)
public struct NSTextContentType: RawRepresentable, Hashable, Sendable {
    public init(rawValue: String) { stub() }
    public var rawValue: String { stub() }
    public static var username: NSTextContentType { stub() }
    public static var password: NSTextContentType { stub() }
    public static var oneTimeCode: NSTextContentType { stub() }
    @available(macOS 14.0, *)
    public static var newPassword: NSTextContentType { stub() }
    @available(macOS 14.0, *)
    public static var emailAddress: NSTextContentType { stub() }
    @available(macOS 14.0, *)
    public static var telephoneNumber: NSTextContentType { stub() }
}

@available(macOS 11.0, *)
extension View {
    nonisolated public func textContentType(_ textContentType: NSTextContentType?) -> some View { stubView() }
}

@available(watchOS 6.0, *)
public struct WKTextContentType: RawRepresentable, Hashable, Sendable {
    public init(rawValue: String) { stub() }
    public var rawValue: String { stub() }
    public static var username: WKTextContentType { stub() }
    public static var password: WKTextContentType { stub() }
    public static var newPassword: WKTextContentType { stub() }
    public static var oneTimeCode: WKTextContentType { stub() }
    public static var emailAddress: WKTextContentType { stub() }
    public static var telephoneNumber: WKTextContentType { stub() }
}

@available(watchOS 6.0, *)
extension View {
    nonisolated public func textContentType(_ textContentType: WKTextContentType?) -> some View { stubView() }
}
