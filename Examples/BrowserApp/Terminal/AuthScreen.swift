import BrowserApp
import Foundation
import TerminalKit
import Wording

/// The screens of the app in a terminal, with the same states, labels and buttons as `Views/`.
@MainActor
struct AuthScreen {
    let model: AuthViewModel
    /// The address that the user must open in a browser.
    let page: BrowserPage

    /// The current screen.
    var screen: Screen {
        if let info = model.tokenInfo {
            return text(words("Token Info"), info.toString()) { model.tokenInfo = nil }
        }
        if let info = model.userInfo {
            return text(words("User Info"), info.text) { model.userInfo = nil }
        }
        if model.isInBrowser, let address = page.address, alert == nil {
            // The screen shows only the address, because the address of a sign-out contains a whole ID token.
            return Screen(words("Open this address in a browser on this machine:"), back: back) { Element.text(address) }
        }
        return Screen(words("Browser sign-in"), back: back, alert: alert) {
            Element.text(AuthText.status(model.status).text, .heading)
            if let token = model.idToken {
                Element.scroll("token", title: words("ID Token"), text: token, height: 6)
            }
            Element.space
            Element.buttons {
                Button(AuthText.mainButton(model), key: "s", role: .prominent, isEnabled: !model.isLoading) {
                    Task { await model.handleAuthAction() }
                }
            }
            if model.isAuthenticated {
                Element.buttons {
                    Button(AuthText.refresh.text, key: "r", isEnabled: !model.isLoading) { Task { await model.refreshToken() } }
                    Button(AuthText.tokenInfo.text, key: "t", isEnabled: !model.isLoading) { model.fetchTokenInfo() }
                    Button(AuthText.userInfo.text, key: "u", isEnabled: !model.isLoading) { Task { await model.fetchUserInfo() } }
                    Button(AuthText.message.text, key: "g", isEnabled: !model.isLoading) { Task { await model.fetchMessage() } }
                    Button(AuthText.privateMessage.text, key: "p", isEnabled: !model.isLoading) {
                        Task { await model.fetchPrivateMessage() }
                    }
                }
            }
            if model.isLoading { Element.space }
            if model.isInBrowser {
                Element.progress(words("Continue in the browser…"))
            } else if model.isLoading {
                Element.progress(words("One moment…"))
            }
        }
    }

    private var back: Screen.Back? {
        model.isInBrowser ? Screen.Back(words("Cancel")) { Task { await model.cancel() } } : nil
    }

    private var alert: Screen.Alert? {
        if let message = model.errorMessage {
            return Screen.Alert(words("Error"), message: message) { Button(words("OK")) { model.errorMessage = nil } }
        }
        if let message = model.serverMessage {
            return Screen.Alert(words("Message Response"), message: message) { Button(words("OK")) { model.serverMessage = nil } }
        }
        return nil
    }

    private func text(_ title: String, _ text: String, close: @escaping @MainActor () -> Void) -> Screen {
        Screen(title, back: Screen.Back(words("Close"), action: close), alert: alert) {
            Element.scroll("text", text: text)
            Element.buttons { Button(words("Close"), key: "c", action: close) }
        }
    }
}
