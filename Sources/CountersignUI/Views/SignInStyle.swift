#if canImport(SwiftUI) && canImport(Darwin)
public import SwiftUI

/// The appearance of ``SignInView``: the logo, the colors, and the arrangement of title, message and form.
///
/// ```swift
/// struct AcmeStyle: SignInStyle {
///     func makeBody(configuration: Configuration) -> some View {
///         VStack(spacing: 24) {
///             Image("Acme")
///             Text(configuration.title).font(.title)
///             if let message = configuration.message { Text(message) }
///             configuration.content
///         }
///         .padding()
///         .tint(.orange)
///     }
/// }
/// ```
public protocol SignInStyle: Sendable {
    /// The type of the screen.
    associatedtype Body: View
    /// The parts of the screen.
    typealias Configuration = SignInStyleConfiguration

    /// Returns the screen.
    @ViewBuilder @MainActor func makeBody(configuration: Configuration) -> Body
}

/// The parts of a sign-in screen, which a ``SignInStyle`` arranges.
@MainActor
public struct SignInStyleConfiguration {
    /// The title of the step.
    public let title: String
    /// The instruction of the step; `nil` for none.
    public let message: String?
    /// The step, for a style that shows some steps differently.
    public let step: SignInStep
    /// The problem, the fields and the buttons of the step.
    public let content: AnyView
}

extension SignInStyle {
    @MainActor func erasedBody(_ configuration: Configuration) -> AnyView { AnyView(makeBody(configuration: configuration)) }
}

/// The default appearance: a column in the middle of the screen, which scrolls if the text is large.
public struct StandardSignInStyle: SignInStyle {
    private let logo: Image?
    private let tint: Color?

    /// Creates the appearance.
    /// - Parameters:
    ///   - logo: The picture above the title; `nil` for none.
    ///   - tint: The color of buttons and links; `nil` for that of the app.
    public init(logo: Image? = nil, tint: Color? = nil) {
        self.logo = logo
        self.tint = tint
    }

    /// Returns the screen.
    public func makeBody(configuration: Configuration) -> some View {
        ScrollView {
            VStack(spacing: 20) {
                if let logo { logo.accessibilityHidden(true) }
                Text(verbatim: configuration.title)
                    .font(.title)
                    .bold()
                    .multilineTextAlignment(.center)
                    .accessibilityAddTraits(.isHeader)
                if let message = configuration.message {
                    Text(verbatim: message)
                        .foregroundStyle(.secondary)
                        .multilineTextAlignment(.center)
                }
                configuration.content
            }
            .frame(maxWidth: 400)
            .padding()
            .frame(maxWidth: .infinity)
        }
        .tint(tint)
    }
}

extension SignInStyle where Self == StandardSignInStyle {
    /// The default appearance, without a logo and in the color of the app.
    public static var standard: StandardSignInStyle { StandardSignInStyle() }

    /// The default appearance with a logo and a color.
    public static func standard(logo: Image? = nil, tint: Color? = nil) -> StandardSignInStyle {
        StandardSignInStyle(logo: logo, tint: tint)
    }
}
#endif
