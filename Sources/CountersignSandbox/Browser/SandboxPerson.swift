public import AuthFoundation
public import BrowserSignin
internal import Foundation
internal import OAuth2Auth

extension SandboxBrowser {
    /// Somebody who does what the pages ask for: gives name and password, and then the code of their app, or confirms on their phone; consents,
    /// connects a device, and signs out.
    ///
    /// - Parameters:
    ///   - user: Who.
    ///   - phone: Their phone, which is told to approve, with the number that the page shows; nil if it answers by itself, or is somewhere
    ///     else. Then the page is looked at until it goes on.
    ///   - app: Their authenticator app, which goes before the phone; nil if they have none.
    ///   - factor: The second factor to choose, by the value of its button.
    /// - Returns: The visitor. It throws ``SandboxBrowserError`` for a page on which it can't go on, such as one that says that the password is
    ///   wrong.
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
                // The code of a device, which the address had.
                return .submit(form)
            }
            for form in page.forms {
                if let button = form.buttons.first(where: { $0.value == factor || $0.value == "allow" }) {
                    return .submit(form, button: button)
                }
                if form.action.path().hasSuffix("/logout") { return .submit(form) }
            }
            throw SandboxBrowserError(.unexpectedPage, "\(user.login) does not know how to go on: \(page.text)", page: page)
        }
    }
}

extension Sandbox {
    /// A browser that walks the sandbox's pages, with a person in front of it.
    ///
    /// - Parameters:
    ///   - user: Who; their phone is set up if they have none, and told to approve.
    ///   - session: What requests go through; nil for ``transport``, which needs no port.
    /// - Returns: The browser.
    /// - Throws: What ``phone(for:userVerification:session:)`` throws.
    public func browser(of user: SandboxUser, session: (any URLSessionProtocol)? = nil) async throws -> SandboxBrowser {
        let phone = try await phone(for: user.login)
        return browser(session: session, visitor: SandboxBrowser.person(user, phone: phone))
    }

    /// A browser that walks the sandbox's pages.
    ///
    /// - Parameters:
    ///   - session: What requests go through; nil for ``transport``, which needs no port.
    ///   - visitor: The person.
    /// - Returns: The browser.
    public func browser(session: (any URLSessionProtocol)? = nil, visitor: @escaping SandboxBrowser.Visitor) -> SandboxBrowser {
        SandboxBrowser(session: session ?? transport, clock: clock, visitor: visitor)
    }

    /// `BrowserSignin` for an application of the sandbox, in a browser without a window.
    ///
    /// With `BrowserSignin.Option.ephemeralSession` each call is in a ``SandboxBrowser/privateWindow()``.
    ///
    /// - Parameters:
    ///   - browser: The browser.
    ///   - application: The application.
    ///   - scope: What it asks for.
    /// - Returns: A new one; `BrowserSignin.shared` is it from now on.
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
