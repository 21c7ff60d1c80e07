import PasswordApp
import TerminalKit
import Wording

/// The screens of the app in a terminal, with the same view model as the SwiftUI views.
@MainActor
struct PasswordFace {
    let model: LoginViewModel

    private var wording: Wording { model.wording }

    var screen: Screen {
        if model.showsProfile { return profile }
        if model.showsTokenDetails { return tokenDetails }
        return Screen(wording("Countersign DirectAuth")) {
            switch model.authState {
            case .notAuthenticated, .error: form
            case .authenticating: Element.progress(wording("Signing in..."))
            case .authenticated: success
            }
        }
    }

    private var form: [Element] {
        let login: @MainActor () -> Void = { Task { await model.login() } }
        return [
            .text(wording("Welcome Back"), .heading),
            .text(wording("Sign in with your Countersign credentials"), .dim),
            .space,
            .field(wording("Email or Username"), id: "username", text: model.username, set: { model.username = $0 }),
            .secureField(wording("Password"), id: "password", text: model.password, set: { model.password = $0 }, submit: login),
            .space,
            .buttons { Button(wording("Sign In"), role: .prominent, isEnabled: model.canSubmit, action: login) },
        ] + banner
    }

    private var banner: [Element] { model.message.map { [.space, .text($0, .error)] } ?? [] }

    private var success: [Element] {
        [
            .text("✔ " + wording("Successfully Authenticated"), .success),
            .text(wording("You're now signed in to your account"), .dim),
            .space,
            .scroll("access token", title: wording("Access Token"), text: model.token, height: 6),
            .space,
            .buttons {
                Button(wording("View Profile"), key: "p") {
                    model.showsProfile = true
                    Task { await model.loadProfile() }
                }
                Button(wording("Token Details"), key: "t") { model.showsTokenDetails = true }
                Button(wording("Refresh Token"), key: "r", isEnabled: !model.isLoading) { Task { await model.refreshToken() } }
                Button(wording("Sign Out"), key: "o", role: .destructive, isEnabled: !model.isLoading) { Task { await model.logout() } }
            },
        ] + (model.isLoading ? [.space, .progress(wording("One moment, please."))] : []) + banner
    }

    private var profile: Screen {
        let done: @MainActor () -> Void = { model.showsProfile = false }
        return Screen(wording("Profile"), back: Screen.Back(wording("Done"), action: done)) {
            switch model.profile {
            case .loading: Element.progress(wording("Loading..."))
            case .loaded(let user):
                for section in user.sections(wording) {
                    Element.text(section.title, .heading)
                    Element.pairs(section.rows.map { ($0.label, $0.value) })
                    Element.space
                }
            case .failed:
                Element.text(wording("Unable to load profile"), .warning)
                Element.text(wording("Please try again later"), .dim)
                if let message = model.message { Element.text(message, .error) }
            }
            Element.space
            Element.buttons { Button(wording("Done"), key: "d", action: done) }
        }
    }

    private var tokenDetails: Screen {
        let done: @MainActor () -> Void = { model.showsTokenDetails = false }
        return Screen(wording("Token Details"), back: Screen.Back(wording("Done"), action: done), redrawInterval: .seconds(1)) {
            if model.tokenDetails.isEmpty {
                Element.text(wording("No Token Available"), .heading)
                Element.text(wording("Please sign in to view token details"), .dim)
            } else {
                Element.scroll(
                    "details", text: model.tokenDetails.map { "\($0.title): \($0.meaning)\n\($0.value)" }.joined(separator: "\n\n"))
            }
            Element.buttons { Button(wording("Done"), key: "d", action: done) }
        }
    }
}
