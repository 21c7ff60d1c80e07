public import AuthFoundation
public import BrowserSignin
public import Foundation
internal import HTTPTypes
internal import NIOConcurrencyHelpers

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A browser without a window: it walks the server's pages by HTTP, and a function of yours is the person in front of it.
///
/// ```swift
/// let sandbox = try await Sandbox.start()
/// let browser = try await sandbox.browser(of: .jane)
/// let signin = try await sandbox.browserSignin(in: browser)
/// let token = try await signin.signIn()
/// ```
///
/// It is a provider for `BrowserSignin`, so that a test of an app, also one of its user interface, meets no sheet of the system. It keeps its
/// cookies as long as it lives: two sign-ins in one browser are single sign-on. It shows nothing, runs no script and keeps to the server's
/// origin. `Sendable`; safe from any task.
public final class SandboxBrowser: BrowserSignin.Provider, BrowserSignin.ForgettingProvider {
    /// The person: looks at a page and says what to do.
    public typealias Visitor = @Sendable (HostedPage) async throws -> HostedPage.Step

    /// How many pages there are at most between the first and the redirect.
    private static let maximumPages = 200

    private struct State {
        var cookies = CookieJar()
        var walk: Task<Ending, any Error>?
        var visited: [HostedPage] = []
    }

    /// Whether it is a private window: made for one call, and gone after it.
    package let isEphemeral: Bool
    private let session: any URLSessionProtocol
    private let clock: any OAuth2Clock
    private let visitor: Visitor
    private let state = NIOLockedValueBox(State())

    /// Opens a browser, with nothing in it.
    ///
    /// - Parameters:
    ///   - session: What requests go through. It must not follow redirects; nil for one that does not.
    ///   - clock: The clock on which pages wait until they are loaded again.
    ///   - visitor: The person; see ``person(_:phone:app:factor:)``.
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

    /// A window of the same person that shares nothing with this one.
    public func privateWindow() -> SandboxBrowser {
        SandboxBrowser(session is EphemeralSession ? Self.ownSession() : session, clock, isEphemeral: true, visitor)
    }

    /// Without cookies: the browser has its own, also those that come with the answer to a form.
    private static func ownSession() -> EphemeralSession { EphemeralSession(isBrowserless: true, keepsCookies: false) }

    /// The pages that were shown, in order.
    public var visited: [HostedPage] { state.withLockedValue { $0.visited } }

    /// Walks the pages.
    ///
    /// - Parameters:
    ///   - authorizeUrl: The first page.
    ///   - redirectUri: Where the walk ends. A loopback address without a port stands for it with any port.
    /// - Returns: The URL that the server redirected to.
    /// - Throws: ``SandboxBrowserError``; `BrowserSigninError.userCancelledLogin` if the person closed the browser, or ``cancel()`` did;
    ///   `URLError`; what the visitor throws.
    public func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL {
        switch try await cancellable({ try await self.walk(from: authorizeUrl, to: redirectUri) }) {
        case .redirect(let url): return url
        case .page(let page):
            throw SandboxBrowserError(
                .unexpectedPage, "The walk ended on a page instead of \(redirectUri.absoluteString): \(page.text)", page: page)
        }
    }

    /// Walks pages that lead to no app, such as the one on which a device is connected.
    ///
    /// - Parameter page: The first page.
    /// - Returns: The last one: it asks nothing of anybody.
    /// - Throws: What ``open(authorizeUrl:redirectUri:)`` throws.
    public func visit(_ page: URL) async throws -> HostedPage {
        switch try await cancellable({ try await self.walk(from: page, to: nil) }) {
        case .page(let page): return page
        // Without a redirect to wait for, none ends the walk.
        case .redirect(let url): throw SandboxBrowserError(.elsewhere, "The server leads to \(url.absoluteString).")
        }
    }

    /// Ends the walk.
    public func cancel() {
        state.withLockedValue { $0.walk }?.cancel()
    }

    /// Where a walk ended.
    private enum Ending: Sendable {
        case redirect(URL)
        case page(HostedPage)
    }

    /// Walks so that ``cancel()`` ends it.
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
            throw SandboxBrowserError(.elsewhere, "The session follows redirects by itself. Give the browser one that does not.")
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
    /// Whether it is that redirect URI, with whatever query; for a loopback address without a port, at whatever port.
    fileprivate func leads(to target: URL) -> Bool {
        let isAnyPort = target.port == nil && target.scheme?.lowercased() == "http" && LoopbackRule.isLoopback(target.host() ?? "")
        return scheme?.lowercased() == target.scheme?.lowercased() && host()?.lowercased() == target.host()?.lowercased()
            && (port == target.port || isAnyPort) && path() == target.path()
    }
}

extension HostedPage.Form {
    /// What a browser sends.
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

/// The cookies of one origin: names and values, which is all that the pages of one server need.
private struct CookieJar: Sendable {
    private var values: [String: String] = [:]

    var header: String? {
        values.isEmpty ? nil : values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    }

    /// - Parameter field: The fields `Set-Cookie` of an answer, with commas between them.
    mutating func take(_ field: String) {
        var cookies: [String] = []
        for piece in field.split(separator: ",", omittingEmptySubsequences: false) {
            // A comma in a date is not between cookies: what follows it has no name before its first `=`.
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

/// A ``SandboxBrowser`` does not know how to go on.
public struct SandboxBrowserError: Error, LocalizedError, Sendable {
    /// What kind of trouble it is. More may come.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String

        /// Makes a code.
        ///
        /// - Parameter rawValue: The name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The person does not know what to do on a page; ``SandboxBrowserError/page`` is that page.
        public static let unexpectedPage = Code(rawValue: "unexpectedPage")
        /// The server leads away from itself.
        public static let elsewhere = Code(rawValue: "elsewhere")
        /// There was no end to the pages.
        public static let tooManyPages = Code(rawValue: "tooManyPages")
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What happened.
    public let message: String
    /// The page.
    public let page: HostedPage?

    init(_ code: Code, _ message: String, page: HostedPage? = nil) {
        self.code = code
        self.message = message
        self.page = page
    }

    /// What happened.
    public var errorDescription: String? { message }
}
