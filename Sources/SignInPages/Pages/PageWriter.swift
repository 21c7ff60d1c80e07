internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import OAuthWire
package import ServerHTTP

/// Creates the HTTP responses of the pages: HTML with a strict content security policy, redirects, and cookies.
package struct PageWriter: Sendable {
    /// The transport between browsers and the server: with or without TLS.
    package let transport: BrowserTransport
    let assets: PageAssets
    /// The event streams of waiting pages.
    let live: LiveWaiting
    private static let openerPolicy = "same-origin"
    private let library: PageLibrary
    private let branding: Branding

    package init(transport: BrowserTransport, branding: Branding, clock: any WallClock) {
        self.transport = transport
        assets = PageAssets(branding: branding)
        live = LiveWaiting(clock: clock)
        library = PageLibrary()
        self.branding = branding
    }

    /// Returns the cookies of the pages, with the attributes that the origin of the browser requires.
    func cookies(for call: Endpoint.Call) -> BrowserCookies { call.cookies(transport) }

    /// Returns the HTML or redirect of an answer, with its cookies, uncached. `token` names the sign-in of a page.
    func response(_ answer: HostedAnswer, token: String = "", to call: Endpoint.Call) -> ServerResponse {
        let organization = call.snapshot.organization.name
        var response: ServerResponse
        var signIn = token
        switch answer.outcome {
        case .page(let page):
            let texts = texts(for: call.request, asked: page.locales)
            let (view, template) = PageView.signIn(page, token: token, organization: organization, texts: texts)
            response = html(view, template: template, formsTo: page.returnURI, runsScript: view.runsScript)
        case .redirect(let token):
            response = redirect(to: RoutePath.signIn(token))
            signIn = token
        case .recovery(let place):
            response = redirect(to: place.path)
            if case .page(let token) = place { signIn = token }
        case .restart(let client, let uri):
            let query = URLComponents.query(["client_id": client, "request_uri": uri])
            response = redirect(to: "\(call.request.path)?\(query)")
        case .respond(let answer):
            if answer.mode == .formPost {
                let view = PageView.post(answer, organization: organization, texts: texts(for: call.request))
                response = html(view, template: .post, formsTo: answer.redirectURI, runsScript: true)
            } else {
                // 303 makes the browser use GET; with 302 that is only customary.
                response = redirect(to: answer.location, status: call.request.head.method == .post ? .seeOther : .found)
            }
            response.trace.reason = answer.reason
        case .refused(let refusal): response = self.refusal(refusal, to: call)
        }
        cookies(for: call).write(answer.cookies, signIn: signIn, of: call.request, to: &response)
        return response.uncached()
    }

    /// Returns the error page of a sign-in that cannot continue.
    func refusal(_ refusal: HostedRefusal, to call: Endpoint.Call) -> ServerResponse {
        let view = PageView.refusal(
            refusal, organization: call.snapshot.organization.name, texts: texts(for: call.request))
        var response = html(view, template: .message)
        response.status =
            switch refusal.reason {
            case .badRequest, .over, .link: .badRequest
            case .finished: .ok
            case .otherBrowser: .forbidden
            case .tooManyRequests: .tooManyRequests
            }
        response.trace.reason = refusal.detail?.reason ?? "sign-in page: \(refusal.reason)"
        return response.uncached()
    }

    /// Returns an error page with one sentence.
    func message(_ sentence: any KeyPath<PageTexts, String> & Sendable, status: HTTPResponse.Status, to call: Endpoint.Call)
        -> ServerResponse
    {
        let texts = texts(for: call.request)
        let view = PageView(
            texts, organization: call.snapshot.organization.name, title: texts.errorTitle, lead: texts[keyPath: sentence])
        var response = html(view, template: .message)
        response.status = status
        return response.uncached()
    }

    /// Returns a redirect to a URL of this server, or to a registered redirect URI.
    func goOn(to location: String) -> ServerResponse { redirect(to: location) }

    /// Returns a redirect. The browser follows it with a GET request, so that going back or reloading never resubmits a form.
    private func redirect(to location: String, status: HTTPResponse.Status = .seeOther) -> ServerResponse {
        var response = ServerResponse(status: status, headers: [.location: location])
        // The target page has the same policy. Browsers compare the policies along a redirect, and switch processes if they differ.
        if location.hasPrefix("/") { response.headers[.openerPolicy] = Self.openerPolicy }
        return response
    }

    func html(_ view: PageView, template: PageTemplate, formsTo uri: String? = nil, runsScript: Bool = false) -> ServerResponse {
        var view = view
        view.assets = assets.addresses
        if let name = branding.name { view.organization = name }
        var response = ServerResponse(status: .ok, body: library.render(view, template: template))
        response.headers[.contentType] = "text/html; charset=utf-8"
        response.headers[.contentLanguage] = view.language
        // Isolates the page from the window that opened it: the opener can neither read nor navigate it.
        response.headers[.openerPolicy] = Self.openerPolicy
        let forms = uri.map { "'self' \(ContentPolicy.source(of: $0))" } ?? "'none'"
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'self'; img-src 'self'; \(runsScript ? "script-src 'self'; connect-src 'self'; " : "")form-action \(forms); base-uri 'none'; frame-ancestors 'none'"
        return response
    }

    func texts(for request: ServerRequest, asked: [String] = []) -> PageTexts {
        PageTexts.preferred(by: asked + PageTexts.tags(acceptLanguage: request.head.headerFields[.acceptLanguage]))
    }
}

extension URLComponents {
    fileprivate static func query(_ values: KeyValuePairs<String, String>) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return values.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: plain) ?? "")" }.joined(separator: "&")
    }
}

/// Source expressions of a Content-Security-Policy.
enum ContentPolicy {
    /// Returns the source that `form-action` must allow for a form whose response redirects to a registered URI: the URI's origin, or its
    /// scheme if it has no origin. Browsers block a redirect to other sources.
    static func source(of uri: String) -> String {
        let scheme = uri.utf8.prefix { $0 != UInt8(ascii: ":") }
        let isScheme = !scheme.isEmpty && scheme.allSatisfy { isAlphanumeric($0) || "+-.".utf8.contains($0) }
        guard isScheme, scheme.endIndex < uri.utf8.endIndex else { return "'self'" }
        let name = String(decoding: scheme, as: UTF8.self).lowercased()
        guard name == "http" || name == "https" else { return name + ":" }
        let authority = uri.utf8.dropFirst(scheme.count + 3).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let isHost = !authority.isEmpty && authority.allSatisfy { isAlphanumeric($0) || "-.:".utf8.contains($0) }
        return isHost ? name + "://" + String(decoding: authority, as: UTF8.self) : name + ":"
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}
