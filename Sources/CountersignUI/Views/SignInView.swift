#if canImport(SwiftUI) && canImport(Darwin)
internal import AuthFoundation
internal import Foundation
public import SwiftUI

/// The sign-in screen: user name and password, passkey, browser, second factors, and problems. It shows the steps of a ``SignInSession``.
///
/// ```swift
/// SignInView(session: session)
///     .signInStyle(.standard(logo: Image("Logo"), tint: .orange))
/// ```
///
/// Use the modifier `signInRequired(_:)` to show it in place of other content until the user is signed in. If the view disappears, a
/// sign-in in progress is cancelled, except in the browser.
public struct SignInView: View {
    private let session: SignInSession
    @State private var anchor = SignInAnchor()
    @Environment(\.signInTexts) private var texts
    @Environment(\.signInStyle) private var style

    /// Creates the screen of a session.
    public init(session: SignInSession) {
        self.session = session
    }

    /// The content of the screen in the current state.
    public var body: some View {
        style.erasedBody(
            SignInStyleConfiguration(
                title: texts.title(of: session.state), message: texts.message(of: session.state), step: session.step,
                content: AnyView(SignInContent(session: session)))
        )
        .background { SignInAnchorView(anchor: anchor) }
        .onAppear { anchor.serve(session) }
        .onDisappear { if session.step.kind != .browser { session.cancel() } }
        .onChange(of: session.problem?.code) { announce(session.problem.map(texts.message(for:))) }
        .onChange(of: session.step) { announce(texts.title(of: session.state), texts.message(of: session.state), session.step.number) }
        .task(id: session.state) { [session, anchor] in await anchor.offerPasskeys(in: session) }
    }
}

/// The form or the buttons of the current step, without a title.
private struct SignInContent: View {
    let session: SignInSession
    @Environment(\.signInTexts) private var texts

    var body: some View {
        VStack(spacing: 16) {
            if let problem = session.problem { ProblemLabel(text: texts.message(for: problem)) }
            if session.state == .locked {
                MainButton(texts.unlock, isBusy: session.isBusy) { Task { await session.unlock() } }
                    .disabled(session.isBusy)
                if session.credential != nil {
                    Button(texts.signOut, role: .destructive) { Task { await session.signOut() } }
                        .disabled(session.isBusy)
                }
            } else {
                step
            }
        }
    }

    @ViewBuilder private var step: some View {
        switch session.step.kind {
        case .factors: FactorList(session: session)
        case .push: PushStep(session: session)
        case .code: CodeForm(session: session)
        case .passkey, .browser: WaitingStep(session: session)
        default: CredentialsForm(session: session)
        }
    }
}

/// The message of a problem.
struct ProblemLabel: View {
    let text: String

    var body: some View {
        Label(text, systemImage: "exclamationmark.triangle.fill")
            .font(.callout)
            .foregroundStyle(.red)
            .frame(maxWidth: .infinity, alignment: .leading)
    }
}

/// The main button of a step, which Return presses.
struct MainButton: View {
    private let title: String
    private let isBusy: Bool
    private let action: @MainActor () -> Void

    init(_ title: String, isBusy: Bool = false, action: @escaping @MainActor () -> Void) {
        self.title = title
        self.isBusy = isBusy
        self.action = action
    }

    var body: some View {
        Button(action: action) {
            Group {
                if isBusy { ProgressView() } else { Text(verbatim: title) }
            }
            .frame(maxWidth: .infinity)
        }
        .buttonStyle(.borderedProminent)
        .controlSize(.large)
        .accessibilityLabel(Text(verbatim: title))
        #if !os(tvOS) && !os(watchOS)
        .keyboardShortcut(.defaultAction)
        #endif
    }
}

/// The button that ends the sign-in, which Escape presses.
struct CancelButton: View {
    let session: SignInSession
    @Environment(\.signInTexts) private var texts

    var body: some View {
        Button(texts.cancel, role: .cancel) { session.cancel() }
            #if !os(tvOS) && !os(watchOS)
        .keyboardShortcut(.cancelAction)
            #endif
    }
}
#endif
