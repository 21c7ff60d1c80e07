@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct AccessibilityAttachmentModifier {}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension AccessibilityAttachmentModifier: ViewModifier {
    public typealias Body = Never
    public func body(content: Content) -> Never { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct AccessibilityChildBehavior: Hashable, Sendable {
    public static var ignore: AccessibilityChildBehavior { stub() }
    public static var contain: AccessibilityChildBehavior { stub() }
    public static var combine: AccessibilityChildBehavior { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct AccessibilityTraits: SetAlgebra, Sendable {
    public typealias Element = AccessibilityTraits
    public typealias ArrayLiteralElement = AccessibilityTraits

    public static var isImage: AccessibilityTraits { stub() }
    public static var isSelected: AccessibilityTraits { stub() }
    public static var isHeader: AccessibilityTraits { stub() }
    public init() { stub() }
    public func contains(_ member: AccessibilityTraits) -> Bool { stub() }
    public func union(_ other: AccessibilityTraits) -> AccessibilityTraits { stub() }
    public func intersection(_ other: AccessibilityTraits) -> AccessibilityTraits { stub() }
    public func symmetricDifference(_ other: AccessibilityTraits) -> AccessibilityTraits { stub() }
    public mutating func insert(
        _ newMember: AccessibilityTraits
    ) -> (inserted: Bool, memberAfterInsert: AccessibilityTraits) { stub() }
    public mutating func remove(_ member: AccessibilityTraits) -> AccessibilityTraits? { stub() }
    public mutating func update(with newMember: AccessibilityTraits) -> AccessibilityTraits? { stub() }
    public mutating func formUnion(_ other: AccessibilityTraits) { stub() }
    public mutating func formIntersection(_ other: AccessibilityTraits) { stub() }
    public mutating func formSymmetricDifference(_ other: AccessibilityTraits) { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension View {
    nonisolated public func accessibilityElement(children: AccessibilityChildBehavior = .ignore) -> some View { stubView() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
extension View {
    nonisolated public func accessibilityLabel(
        _ label: Text
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
    nonisolated public func accessibilityLabel(
        _ labelKey: LocalizedStringKey
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
    @_disfavoredOverload
    nonisolated public func accessibilityLabel<S: StringProtocol>(
        _ label: S
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
    nonisolated public func accessibilityHint(
        _ hint: Text
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
    nonisolated public func accessibilityHint(
        _ hintKey: LocalizedStringKey
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
    @_disfavoredOverload
    nonisolated public func accessibilityHint<S: StringProtocol>(
        _ hint: S
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
    nonisolated public func accessibilityIdentifier(
        _ identifier: String
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
    nonisolated public func accessibilityHidden(
        _ hidden: Bool
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
    nonisolated public func accessibilityAddTraits(
        _ traits: AccessibilityTraits
    ) -> ModifiedContent<Self, AccessibilityAttachmentModifier> { stub() }
}
