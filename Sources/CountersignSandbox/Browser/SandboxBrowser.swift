public import AuthFoundation
public import BrowserSignin
public import Foundation
internal import HTTPTypes
internal import NIOConcurrencyHelpers

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A browser without a window: it loads the server's pages over HTTP, and a closure acts as the user.
///
/// ```swift
/// let sandbox = try await Sandbox.start()
/// let browser = try await sandbox.browser(of: .jane)
/// let signin = try await sandbox.browserSignin(in: browser)
/// let token = try await signin.signIn()
/// ```
///
/// The browser is a provider for `BrowserSignin`, so that tests of an app, including UI tests, show no system sheet. It keeps its cookies
/// for its lifetime, so that a second sign-in in the same browser uses single sign-on. It runs no scripts and stays on the server's origin.
/// Safe from any task.
public final class SandboxBrowser: BrowserSignin.Provider, BrowserSignin.ForgettingProvider {
    /// The simulated user: receives a page and returns the next step.
    public typealias Visitor = @Sendable (HostedPage) async throws -> HostedPage.Step

    /// The maximum number of pages before the redirect.
    private static let maximumPages = 200

    private struct State {
        var cookies = CookieJar()
        var walk: Task<Ending, any Error>?
        var visited: [HostedPage] = []
    }

    /// Whether the browser is a private window, which is used for one call only.
    package let isEphemeral: Bool
    private let session: any URLSessionProtocol
    private let clock: any OAuth2Clock
    private let visitor: Visitor
    private let state = NIOLockedValueBox(State())

    /// Creates a browser without cookies.
    /// - Parameters:
    ///   - session: The session that sends the requests and does not follow redirects; `nil` for a suitable session.
    ///   - clock: The clock for the reload intervals of pages.
    ///   - visitor: The simulated user; see ``person(_:phone:app:factor:)``.
    public convenience init(
        session: (any URLSessionProtocol)? = nil, clock: any OAuth2Clock = DeviceClock(), visitor: @escaping Visitor
    ) {
        self.init(session ?? Self.ownSession(), clock, isEphemeral: false, visitor)
    }

    private init(_ session: any URLSessionProtocol, _ clock: any OAuth2Clock, isEphemeral: Bool, _ visitor: @escaping Visitor) {
        self.session = session
        self.clock = clock
        self.isEphemeral = isEphemeral
        self.visitor = visitor
    }

    /// Returns a browser with the same simulated user. It shares no cookies with this browser.
    public func privateWindow() -> SandboxBrowser {
        SandboxBrowser(session is EphemeralSession ? Self.ownSession() : session, clock, isEphemeral: true, visitor)
    }

    /// Returns a session without cookies, because the browser manages its cookies itself.
    private static func ownSession() -> EphemeralSession { EphemeralSession(isBrowserless: true, keepsCookies: false) }

    /// The pages that were shown, in order.
    public var visited: [HostedPage] { state.withLockedValue { $0.visited } }

    /// Loads pages until the server redirects to `redirectUri`.
    /// - Parameters:
    ///   - authorizeUrl: The first page.
    ///   - redirectUri: The redirect URI that ends the call. A loopback address without a port matches any port.
    /// - Returns: The URL that the server redirected to.
    /// - Throws: ``SandboxBrowserError``; `BrowserSigninError.userCancelledLogin` if the visitor closed the browser or ``cancel()`` was
    ///   called; `URLError`; errors of the visitor.
    public func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL {
        switch try await cancellable({ try await self.walk(from: authorizeUrl, to: redirectUri) }) {
        case .redirect(let url): return url
        case .page(let page):
            throw SandboxBrowserError(
                .unexpectedPage, "The walk ended on a page instead of \(redirectUri.absoluteString): \(page.text)", page: page)
        }
    }

    /// Loads pages that do not return to an app, such as the page that connects a device.
    /// - Parameter page: The first page.
    /// - Returns: The last page, which has no form.
    /// - Throws: The errors of ``open(authorizeUrl:redirectUri:)``.
    public func visit(_ page: URL) async throws -> HostedPage {
        switch try await cancellable({ try await self.walk(from: page, to: nil) }) {
        case .page(let page): return page
        // This cannot happen: without a redirect URI, no redirect ends the walk.
        case .redirect(let url): throw SandboxBrowserError(.elsewhere, "The server leads to \(url.absoluteString).")
        }
    }

    /// Cancels the current call.
    public func cancel() {
        state.withLockedValue { $0.walk }?.cancel()
    }

    /// The result of loading pages.
    private enum Ending: Sendable {
        case redirect(URL)
        case page(HostedPage)
    }

    /// Runs a walk that ``cancel()`` can end.
    private func cancellable(_ walk: @escaping @Sendable () async throws -> Ending) async throws -> Ending {
        let walk = Task { try await walk() }
        state.withLockedValue { $0.walk = walk }
        return try await withTaskCancellationHandler {
            do {
                return try await walk.value
            } catch is CancellationError {
                try Task.checkCancellation()
                throw BrowserSigninError.userCancelledLogin()
            }
        } onCancel: {
            walk.cancel()
        }
    }

    private func walk(from start: URL, to target: URL?) async throws -> Ending {
        var request = URLRequest(url: start)
        for _ in 0..<Self.maximumPages {
            let (html, answer) = try await send(request)
            let here = request.url ?? start
            if (300..<400).contains(answer.statusCode), let location = answer.value(forHTTPHeaderField: "Location") {
                guard let url = URL(string: location, relativeTo: here)?.absoluteURL else {
                    throw SandboxBrowserError(.elsewhere, "The server redirects to “\(location)”, which is no URL.")
                }
                if let target, url.leads(to: target) { return .redirect(url) }
                request = URLRequest(url: try inside(url, of: start))
                continue
            }
            let page = HostedPage(html: html, url: here, status: answer.statusCode)
            state.withLockedValue { $0.visited.append(page) }
            if target == nil, page.status < 400, page.forms.isEmpty, page.refresh == nil { return .page(page) }
            switch try await visitor(page) {
            case .submit(let form, let values, let button):
                _ = try inside(form.action, of: start)
                request = try form.request(values, button: button ?? form.buttons.first)
            case .reload(let seconds):
                try await clock.sleep(for: seconds)
                request = URLRequest(url: here)
            case .close: throw BrowserSigninError.userCancelledLogin()
            }
        }
        throw SandboxBrowserError(
            .tooManyPages, "The server showed \(Self.maximumPages) pages, and there was no end.")
    }

    private func send(_ request: URLRequest) async throws -> (String, HTTPURLResponse) {
        try Task.checkCancellation()
        guard let url = request.url else { throw URLError(.badURL) }
        var request = request
        request.setValue("text/html", forHTTPHeaderField: "Accept")
        if let cookies = state.withLockedValue({ $0.cookies.header }) { request.setValue(cookies, forHTTPHeaderField: "Cookie") }
        let (body, answer) = try await session.data(for: request)
        guard let answer = answer as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        if let cookies = answer.value(forHTTPHeaderField: "Set-Cookie") { state.withLockedValue { $0.cookies.take(cookies) } }
        if answer.url != nil, answer.url != url, answer.url?.path() != url.path() {
            throw SandboxBrowserError(.elsewhere, "The session follows redirects automatically. Use a session that does not.")
        }
        return (String(decoding: body, as: UTF8.self), answer)
    }

    private func inside(_ url: URL, of start: URL) throws -> URL {
        guard url.scheme == start.scheme, url.host() == start.host(), url.port == start.port else {
            throw SandboxBrowserError(
                .elsewhere, "The server leads to \(url.absoluteString), which is neither its own nor the redirect URI.")
        }
        return url
    }
}

extension URL {
    /// Whether this is the redirect URI, with any query. A loopback address without a port matches any port.
    fileprivate func leads(to target: URL) -> Bool {
        let isAnyPort = target.port == nil && target.scheme?.lowercased() == "http" && LoopbackRule.isLoopback(target.host() ?? "")
        return scheme?.lowercased() == target.scheme?.lowercased() && host()?.lowercased() == target.host()?.lowercased()
            && (port == target.port || isAnyPort) && path() == target.path()
    }
}

extension HostedPage.Form {
    /// Returns the request that a browser sends for the form.
    fileprivate func request(_ values: [String: String], button: Button?) throws -> URLRequest {
        var pairs = fields.map { ($0.name, values[$0.name] ?? $0.value) }
        if let button, let name = button.name { pairs.append((name, button.value)) }
        let form = FormEncoding.body(pairs)
        var request = URLRequest(url: action)
        guard isPost else {
            var components = URLComponents(url: action, resolvingAgainstBaseURL: true)
            components?.percentEncodedQuery = form
            guard let url = components?.url else { throw URLError(.badURL) }
            return URLRequest(url: url)
        }
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(form.utf8)
        return request
    }
}

/// The cookies of one origin, as names and values only; the pages of one server need no attributes.
private struct CookieJar: Sendable {
    private var values: [String: String] = [:]

    var header: String? {
        values.isEmpty ? nil : values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    }

    /// Stores the cookies of a `Set-Cookie` value; several are separated by commas.
    mutating func take(_ field: String) {
        var cookies: [String] = []
        for piece in field.split(separator: ",", omittingEmptySubsequences: false) {
            // A comma in a date does not separate cookies: the text after it has no name before its first `=`.
            let name = piece.prefix { $0 != "=" && $0 != ";" }.trimmingCharacters(in: .whitespaces)
            let isCookie = piece.contains("=") && !name.isEmpty && !name.contains(" ")
            if isCookie || cookies.isEmpty { cookies.append(String(piece)) } else { cookies[cookies.count - 1] += "," + piece }
        }
        for cookie in cookies {
            let parts = cookie.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { continue }
            let isOver = parts.dropFirst().contains { $0.lowercased() == "max-age=0" }
            let value = String(pair[pair.index(after: equals)...])
            values[String(pair[..<equals])] = isOver || value.isEmpty ? nil : value
        }
    }
}

/// A page or redirect that a ``SandboxBrowser`` cannot handle.
public struct SandboxBrowserError: Error, LocalizedError, Sendable {
    /// A kind of failure. Later versions may add kinds.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The visitor cannot complete the page in ``SandboxBrowserError/page``.
        public static let unexpectedPage = Code(rawValue: "unexpectedPage")
        /// The server leads to another origin.
        public static let elsewhere = Code(rawValue: "elsewhere")
        /// The server showed the maximum number of pages without a redirect to the app.
        public static let tooManyPages = Code(rawValue: "tooManyPages")
    }

    /// The kind of failure.
    public let code: Code
    /// The problem.
    public let message: String
    /// The page on which the browser failed; `nil` if it failed at a redirect.
    public let page: HostedPage?

    init(_ code: Code, _ message: String, page: HostedPage? = nil) {
        self.code = code
        self.message = message
        self.page = page
    }

    /// The message.
    public var errorDescription: String? { message }
}
