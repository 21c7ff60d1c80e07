#if canImport(SwiftUI) && canImport(Darwin)
#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#elseif canImport(AppKit)
internal import AppKit
#endif
internal import AuthFoundation
internal import BrowserSignin
internal import Foundation
internal import OktaDirectAuth
internal import SwiftUI

/// The window of a ``SignInView``, in which the system shows its passkey sheet and the browser.
@MainActor
final class SignInAnchor {
    #if canImport(UIKit) && !os(watchOS)
    weak var view: UIView?
    #elseif canImport(AppKit)
    weak var view: NSView?
    #endif

    /// Lets a session show its sheets in this window.
    func serve(_ session: SignInSession) {
        #if os(iOS) || os(macOS) || os(tvOS) || os(visionOS)
        session.windowSource = { [weak self] in self?.view?.window }
        session.sheet = { [weak self] options in
            guard let window = self?.view?.window else { throw PasskeyError.failed("The sign-in screen is in no window.") }
            return try await PasskeyAuthenticator(anchor: window).assertion(for: options)
        }
        #endif
    }

    /// Offers passkeys above the keyboard while the form with a known user name is visible. Only iOS and visionOS show passkeys there.
    func offerPasskeys(in session: SignInSession) async {
        #if os(iOS) || os(visionOS)
        // A user name that is being typed would cause a request for each letter.
        guard session.state == .expired || session.state == .signedOut, !session.form.userName.isEmpty, session.passkeySigner == nil else {
            return
        }
        await session.offerPasskeys { [weak self] options in
            guard let window = self?.view?.window else { throw PasskeyError.failed("The sign-in screen is in no window.") }
            return try await PasskeyAuthenticator(anchor: window).autoFillAssertion(for: options)
        }
        #endif
    }
}

#if canImport(UIKit) && !os(watchOS)
/// An empty view that knows its window.
struct SignInAnchorView: UIViewRepresentable {
    let anchor: SignInAnchor

    func makeUIView(context: Context) -> UIView {
        let view = UIView()
        anchor.view = view
        return view
    }

    func updateUIView(_ view: UIView, context: Context) { anchor.view = view }
}
#elseif canImport(AppKit)
/// An empty view that knows its window.
struct SignInAnchorView: NSViewRepresentable {
    let anchor: SignInAnchor

    func makeNSView(context: Context) -> NSView {
        let view = NSView()
        anchor.view = view
        return view
    }

    func updateNSView(_ view: NSView, context: Context) { anchor.view = view }
}
#else
/// An empty view, because this system shows no sheet in a window.
struct SignInAnchorView: View {
    let anchor: SignInAnchor

    var body: some View { EmptyView() }
}
#endif
#endif
