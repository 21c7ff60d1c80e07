#if canImport(SwiftUI) && canImport(Darwin)
internal import AuthFoundation
public import SwiftUI

extension View {
    /// Shows this view while a user is signed in, and ``SignInView`` otherwise. Below this view, `@Environment(SignInSession.self)` is the
    /// session.
    public func signInRequired(_ session: SignInSession) -> some View {
        signInRequired(session) { SignInView(session: session) }
    }

    /// Shows this view while a user is signed in, and another screen otherwise. Below both, `@Environment(SignInSession.self)` is the
    /// session. When the app becomes active, the modifier reads the session again, and refreshes it if it expires soon.
    /// - Parameter signIn: The screen, such as a ``SignInView`` with something above it.
    public func signInRequired<SignIn: View>(
        _ session: SignInSession, @ViewBuilder signIn: @escaping () -> SignIn
    ) -> some View {
        modifier(SignInRequired(session: session, signIn: signIn))
    }

    /// Sets the texts of the sign-in screens in this view.
    public func signInTexts(_ texts: SignInTexts) -> some View { environment(\.signInTexts, texts) }

    /// Sets the appearance of the sign-in screens in this view.
    public func signInStyle(_ style: some SignInStyle) -> some View { environment(\.signInStyle, style) }
}

private struct SignInRequired<SignIn: View>: ViewModifier {
    let session: SignInSession
    let signIn: () -> SignIn
    @Environment(\.scenePhase) private var scenePhase

    func body(content: Content) -> some View {
        Group {
            if session.isSignedIn { content } else { signIn() }
        }
        .environment(session)
        .onChange(of: scenePhase) {
            if scenePhase == .active { Task { await session.activate() } }
        }
    }
}

private struct SignInTextsKey: EnvironmentKey {
    static let defaultValue = SignInTexts()
}

private struct SignInStyleKey: EnvironmentKey {
    static var defaultValue: any SignInStyle { StandardSignInStyle() }
}

extension EnvironmentValues {
    /// The texts of the sign-in screens; by default in the language of the app.
    public var signInTexts: SignInTexts {
        get { self[SignInTextsKey.self] }
        set { self[SignInTextsKey.self] = newValue }
    }

    /// The appearance of the sign-in screens; by default ``StandardSignInStyle``.
    public var signInStyle: any SignInStyle {
        get { self[SignInStyleKey.self] }
        set { self[SignInStyleKey.self] = newValue }
    }
}
#endif
