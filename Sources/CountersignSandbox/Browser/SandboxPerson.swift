public import AuthFoundation
public import BrowserSignin
internal import Foundation
internal import OAuth2Auth

extension SandboxBrowser {
    /// Returns a visitor that completes the pages like a user. The visitor enters name and password, then enters an authenticator code or
    /// approves on the phone. It also gives consent, connects devices and signs out.
    ///
    /// - Parameters:
    ///   - phone: The phone that approves with the number that the page shows. Without a phone, or with a phone that approves
    ///     automatically, the visitor reloads the page until the sign-in continues.
    ///   - app: The authenticator app, which is preferred to the phone; `nil` for none.
    ///   - factor: The second factor to choose, by the value of its button.
    /// - Returns: The visitor. It throws ``SandboxBrowserError`` for a page that it cannot complete, such as a page that reports a wrong
    ///   password.
    public static func person(_ user: SandboxUser, phone: VirtualPhone? = nil, app: AuthenticatorApp? = nil, factor: String = "push")
        -> Visitor
    {
        { page -> HostedPage.Step in
            guard page.status < 400 else {
                throw SandboxBrowserError(.unexpectedPage, "The server answered \(page.status): \(page.text)", page: page)
            }
            if let seconds = page.refresh {
                guard let phone, !phone.autoApprove else { return .reload(after: seconds) }
                try await phone.approveNext(number: page.number)
                return .reload()
            }
            if let form = page.forms.first(where: { $0.field(ofType: "password") != nil }), page.notice == nil {
                var values = ["username": user.login]
                if let name = form.field(ofType: "password")?.name { values[name] = user.password ?? "" }
                return .submit(form, values: values)
            }
            if let app, page.notice == nil, let form = page.forms.first(where: { $0.fields.contains { $0.name == "code" } }) {
                return .submit(form, values: ["code": app.code])
            }
            if page.notice == nil,
                let form = page.forms.first(where: { $0.fields.contains { $0.name == "user_code" && !$0.value.isEmpty } })
            {
                // The field already contains the device's code, from the page's address.
                return .submit(form)
            }
            for form in page.forms {
                if let button = form.buttons.first(where: { $0.value == factor || $0.value == "allow" }) {
                    return .submit(form, button: button)
                }
                if form.action.path().hasSuffix("/logout") { return .submit(form) }
            }
            throw SandboxBrowserError(.unexpectedPage, "\(user.login) cannot continue: \(page.text)", page: page)
        }
    }
}

extension Sandbox {
    /// Returns a browser for the sandbox's pages with a simulated user. The user's phone is enrolled if necessary, and approves requests.
    /// - Parameter session: The session that sends the requests; `nil` for ``transport``, which needs no port.
    /// - Throws: The errors of ``phone(for:userVerification:session:)``.
    public func browser(of user: SandboxUser, session: (any URLSessionProtocol)? = nil) async throws -> SandboxBrowser {
        let phone = try await phone(for: user.login)
        return browser(session: session, visitor: SandboxBrowser.person(user, phone: phone))
    }

    /// Returns a browser for the sandbox's pages.
    /// - Parameters:
    ///   - session: The session that sends the requests; `nil` for ``transport``, which needs no port.
    ///   - visitor: The simulated user.
    public func browser(session: (any URLSessionProtocol)? = nil, visitor: @escaping SandboxBrowser.Visitor) -> SandboxBrowser {
        SandboxBrowser(session: session ?? transport, clock: clock, visitor: visitor)
    }

    /// Returns a `BrowserSignin` for an application of the sandbox, with a browser that has no window. With
    /// `BrowserSignin.Option.ephemeralSession`, each call uses a ``SandboxBrowser/privateWindow()``.
    /// - Returns: A new instance, which also becomes `BrowserSignin.shared`.
    /// - Throws: Nothing at present.
    @MainActor public func browserSignin(
        in browser: SandboxBrowser, _ application: SandboxApplication = .browser,
        scope: [String] = ["openid", "profile", "email", "offline_access"]
    ) throws -> BrowserSignin {
        var settings = configuration(application, scope: scope)
        settings.redirectUri = Self.redirectURI("callback")
        settings.logoutRedirectUri = Self.redirectURI("")
        let client = OAuth2Client(settings, session: transport, clock: clock)
        return BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: SessionLogoutFlow(client: client)) {
            _, _, options in options.contains(.ephemeralSession) ? browser.privateWindow() : browser
        }
    }

    private static func redirectURI(_ path: String) -> URL? { URL(string: "com.example.app:/\(path)") }
}
