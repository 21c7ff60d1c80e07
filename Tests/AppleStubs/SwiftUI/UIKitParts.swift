// SwiftUI exports UIKit on the systems of this file.
@_exported public import UIKit

@available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
extension View {
    nonisolated public func keyboardType(_ type: UIKeyboardType) -> some View { stubView() }
    nonisolated public func textContentType(_ textContentType: UITextContentType?) -> some View { stubView() }
}

@available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
extension Color {
    @_disfavoredOverload
    public init(_ color: UIColor) { stub() }
    @available(iOS 15.0, tvOS 15.0, visionOS 1.0, *)
    public init(uiColor: UIColor) { stub() }
}

@available(iOS 14.0, tvOS 14.0, visionOS 1.0, *)
@MainActor
@preconcurrency
@propertyWrapper
public struct UIApplicationDelegateAdaptor<DelegateType: NSObject & UIApplicationDelegate>: DynamicProperty {
    @MainActor @preconcurrency public init(_ delegateType: DelegateType.Type = DelegateType.self) { stub() }
    @MainActor @preconcurrency public var wrappedValue: DelegateType { stub() }
}

@available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
@MainActor
@preconcurrency
public protocol UIViewRepresentable: View where Body == Never {
    associatedtype UIViewType: UIView
    typealias Context = UIViewRepresentableContext<Self>
    @MainActor @preconcurrency func makeUIView(context: Context) -> UIViewType
    @MainActor @preconcurrency func updateUIView(_ uiView: UIViewType, context: Context)
}

@available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
extension UIViewRepresentable {
    public var body: Never { stub() }
}

@available(iOS 13.0, tvOS 13.0, visionOS 1.0, *)
@MainActor
@preconcurrency
public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {}
