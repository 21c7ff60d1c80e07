import DirectAuthApp
import TerminalKit
import Wording

/// The screens of the app in a terminal, with the same view model as the SwiftUI views.
@MainActor
struct DirectAuthFace {
    let model: AuthViewModel

    private var wording: Wording { model.wording }

    var screen: Screen {
        if model.showsTokenInfo { return tokenInfo }
        if let userInfo = model.userInfo { return profile(userInfo) }
        return Screen(wording("Countersign DirectAuth (Password + Push)"), back: cancel) {
            switch model.state {
            case .idle, .failed: form
            case .authenticating: Element.progress(wording("Signing in..."))
            case .waitingForPush(let number): waiting(number)
            case .authorized: success
            }
        }
    }

    private var cancel: Screen.Back? {
        if case .waitingForPush = model.state { Screen.Back(wording("Cancel")) { model.cancelSignIn() } } else { nil }
    }

    private var form: [Element] {
        let signIn: @MainActor () -> Void = { Task { await model.signIn() } }
        var elements = [
            Element.field(wording("Email"), id: "username", text: model.username, set: { model.username = $0 }),
            Element.secureField(
                wording("Password"), id: "password", text: model.password, set: { model.password = $0 }, submit: signIn),
            Element.space,
            Element.buttons { Button(wording("Sign In"), role: .prominent, isEnabled: model.canSignIn, action: signIn) },
        ]
        if let message = model.message { elements += [.space, .text(message, .error)] }
        return elements
    }

    private func waiting(_ number: String?) -> [Element] {
        var elements = [Element.progress(wording("Approve the push on your device."))]
        if let number { elements += [.space, .text(wording("Pick this number there: %@", number), .heading)] }
        return elements + [.space, .buttons { Button(wording("Cancel")) { model.cancelSignIn() } }]
    }

    private var success: [Element] {
        var elements = [
            Element.text(wording("Signed in 🎉"), .success),
            Element.space,
            Element.scroll("id token", title: wording("ID Token"), text: model.idToken, height: 9),
            Element.space,
            Element.buttons {
                Button(wording("Token Info"), key: "t", isEnabled: !model.isLoading) { model.showsTokenInfo = true }
                Button(wording("User Info"), key: "u", isEnabled: !model.isLoading) { Task { await model.showUserInfo() } }
                Button(wording("Refresh Token"), key: "r", isEnabled: !model.isLoading) { Task { await model.refreshToken() } }
                Button(wording("Sign Out"), key: "o", role: .destructive) { Task { await model.signOut() } }
            },
        ]
        if model.isLoading { elements += [.space, .progress(wording("One moment, please."))] }
        if let message = model.message { elements += [.space, .text(message, .error)] }
        return elements
    }

    private var tokenInfo: Screen {
        let close: @MainActor () -> Void = { model.showsTokenInfo = false }
        return Screen(wording("Token Info"), back: Screen.Back(wording("Close"), action: close), redrawInterval: .seconds(1)) {
            Element.text(wording("Anyone who sees these tokens can use them."), .warning)
            Element.scroll("tokens", text: model.tokenInfo)
            Element.buttons { Button(wording("Close"), key: "c", action: close) }
        }
    }

    private func profile(_ userInfo: UserInfoModel) -> Screen {
        let close: @MainActor () -> Void = { model.userInfo = nil }
        return Screen(wording("User Info"), back: Screen.Back(wording("Close"), action: close)) {
            Element.text(userInfo.user.text(wording))
            Element.space
            Element.buttons { Button(wording("Close"), key: "c", action: close) }
        }
    }
}
