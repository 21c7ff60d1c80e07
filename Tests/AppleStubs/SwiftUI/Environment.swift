public import Foundation
public import Observation

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public struct EnvironmentValues {
    public init() { stub() }
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { stub() }
        set {}
    }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension EnvironmentValues {
    public var colorScheme: ColorScheme {
        get { stub() }
        set {}
    }
    public var isEnabled: Bool {
        get { stub() }
        set {}
    }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
extension EnvironmentValues {
    @MainActor @preconcurrency public var openURL: OpenURLAction {
        get { stub() }
        set {}
    }
    public var scenePhase: ScenePhase {
        get { stub() }
        set {}
    }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
extension EnvironmentValues {
    public var dismiss: DismissAction { stub() }
    public var dynamicTypeSize: DynamicTypeSize {
        get { stub() }
        set {}
    }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
@propertyWrapper
public struct Environment<Value>: DynamicProperty {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { stub() }
    public var wrappedValue: Value { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension Environment: Sendable where Value: Sendable {}

@available(iOS 17.0, macOS 14.0, tvOS 17.0, visionOS 1.0, watchOS 10.0, *)
extension Environment {
    public init(_ objectType: Value.Type) where Value: AnyObject, Value: Observable { stub() }
    public init<T: AnyObject & Observable>(_ objectType: T.Type) where Value == T? { stub() }
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
extension View {
    nonisolated public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View { stubView() }
}

@available(iOS 17.0, macOS 14.0, tvOS 17.0, visionOS 1.0, watchOS 10.0, *)
extension View {
    nonisolated public func environment<T: AnyObject & Observable>(_ object: T?) -> some View { stubView() }
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
@MainActor
@preconcurrency
public struct DismissAction {
    @MainActor @preconcurrency public func callAsFunction() { stub() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
@MainActor
@preconcurrency
public struct OpenURLAction: Sendable {
    @MainActor @preconcurrency public func callAsFunction(_ url: URL) { stub() }
    @available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, *)
    @MainActor @preconcurrency
    public func callAsFunction(_ url: URL, completion: @escaping (_ accepted: Bool) -> Void) { stub() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, visionOS 1.0, watchOS 7.0, *)
public enum ScenePhase: Comparable, Hashable, Sendable {
    case background, inactive, active
}

@available(iOS 13.0, macOS 10.15, tvOS 13.0, visionOS 1.0, watchOS 6.0, *)
public enum ColorScheme: CaseIterable, Hashable, Sendable {
    case light, dark
}

@available(iOS 15.0, macOS 12.0, tvOS 15.0, visionOS 1.0, watchOS 8.0, *)
public enum DynamicTypeSize: Hashable, Comparable, CaseIterable, Sendable {
    case xSmall, small, medium, large, xLarge, xxLarge, xxxLarge
    case accessibility1, accessibility2, accessibility3, accessibility4, accessibility5

    public var isAccessibilitySize: Bool { stub() }
}
