@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
@MainActor
@preconcurrency
public protocol PrimitiveButtonStyle {}

@available(iOS 15.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 7.0, *)
public struct BorderedButtonStyle {
    public init() { stub() }
}

@available(iOS 15.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 7.0, *)
extension BorderedButtonStyle: PrimitiveButtonStyle {}

@available(iOS 15.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 7.0, *)
extension PrimitiveButtonStyle where Self == BorderedButtonStyle {
    nonisolated public static var bordered: BorderedButtonStyle { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
public struct BorderedProminentButtonStyle {
    public init() { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
extension BorderedProminentButtonStyle: PrimitiveButtonStyle {}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
extension PrimitiveButtonStyle where Self == BorderedProminentButtonStyle {
    nonisolated public static var borderedProminent: BorderedProminentButtonStyle { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct PlainButtonStyle {
    public init() { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension PlainButtonStyle: PrimitiveButtonStyle {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension PrimitiveButtonStyle where Self == PlainButtonStyle {
    nonisolated public static var plain: PlainButtonStyle { stub() }
}

@available(iOS 15.0, macOS 10.15, tvOS 15.0, visionOS 1.0, watchOS 9.0, *)
public enum ControlSize: CaseIterable, Hashable, Sendable {
    case mini, small, regular
    @available(iOS 15.0, macOS 11.0, tvOS 15.0, visionOS 1.0, watchOS 9.0, *)
    case large
    @available(iOS 17.0, macOS 14.0, tvOS 17.0, visionOS 1.0, watchOS 10.0, *)
    case extraLarge

    public static var allCases: [ControlSize] { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public protocol TextFieldStyle {}

@available(iOS 13.0, macOS 10.15, visionOS 1.0, *)
public struct RoundedBorderTextFieldStyle: TextFieldStyle {
    public init() { stub() }
}

@available(iOS 13.0, macOS 10.15, visionOS 1.0, *)
extension TextFieldStyle where Self == RoundedBorderTextFieldStyle {
    public static var roundedBorder: RoundedBorderTextFieldStyle { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct PlainTextFieldStyle: TextFieldStyle {
    public init() { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension TextFieldStyle where Self == PlainTextFieldStyle {
    public static var plain: PlainTextFieldStyle { stub() }
}

@available(iOS 15.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
public struct TextInputAutocapitalization: Sendable {
    public static var never: TextInputAutocapitalization { stub() }
    public static var words: TextInputAutocapitalization { stub() }
    public static var sentences: TextInputAutocapitalization { stub() }
    public static var characters: TextInputAutocapitalization { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
public struct SubmitLabel: Sendable {
    public static var done: SubmitLabel { stub() }
    public static var go: SubmitLabel { stub() }
    public static var next: SubmitLabel { stub() }
    public static var `continue`: SubmitLabel { stub() }
    public static var `return`: SubmitLabel { stub() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
public struct SubmitTriggers: OptionSet, Sendable {
    public var rawValue: Int { stub() }
    public init(rawValue: Int) { stub() }
    public static var text: SubmitTriggers { stub() }
    public static var search: SubmitTriggers { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension View {
    nonisolated public func disabled(_ disabled: Bool) -> some View { stubView() }
    nonisolated public func id<ID: Hashable>(_ id: ID) -> some View { stubView() }
    nonisolated public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { stubView() }
    nonisolated public func textFieldStyle<S: TextFieldStyle>(_ style: S) -> some View { stubView() }
    @available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 8.0, *)
    nonisolated public func autocorrectionDisabled(_ disable: Bool = true) -> some View { stubView() }
    @available(iOS 15.0, macOS 10.15, tvOS 15.0, visionOS 1.0, watchOS 9.0, *)
    nonisolated public func controlSize(_ controlSize: ControlSize) -> some View { stubView() }
    @available(iOS 15.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
    nonisolated public func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> some View { stubView() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
extension View {
    nonisolated public func submitLabel(_ submitLabel: SubmitLabel) -> some View { stubView() }
    nonisolated public func onSubmit(of triggers: SubmitTriggers = .text, _ action: @escaping () -> Void) -> some View { stubView() }
}
