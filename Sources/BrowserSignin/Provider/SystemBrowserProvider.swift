#if os(Linux) || os(macOS)
public import AuthFoundation
public import Foundation

/// A browser session in the user's own browser, with a redirect to a loopback port (RFC 8252 §7.3 and §8.3).
///
/// The redirect URI must be `http` with the host `127.0.0.1`, `[::1]` or `localhost`. For `localhost`, the provider listens on both
/// addresses; it never listens on other addresses. If the URI has no port, the provider uses any free port, which servers must allow for
/// loopback addresses.
///
/// The port is open from the start of the sign-in until the redirect, the timeout or a cancellation. It is closed when
/// ``open(authorizeUrl:redirectUri:)`` returns. The provider cannot observe the browser: if the user closes the window, the sign-in ends
/// with the timeout.
public final class SystemBrowserProvider: BrowserSignin.ListeningProvider {
    /// The default time limit of a sign-in, in seconds: ten minutes.
    public static let defaultTimeout: TimeInterval = 600

    private struct State {
        var listener: CallbackListener?
        var isCancelled = false
    }

    private enum Event: Sendable {
        case opened
        case redirected(URL)
    }

    private let clock: any OAuth2Clock
    private let timeout: TimeInterval
    /// Whether the opener receives a one-time loopback address that redirects to the page, instead of the page's URL.
    private let isHopping: Bool
    private let opener: @Sendable (URL) async throws -> Void
    private let state = Locked(State())

    /// Creates the browser session for one sign-in or sign-out.
    /// - Parameters:
    ///   - clock: The clock for the timeout; usually the client's.
    ///   - timeout: The time limit in seconds.
    ///   - opener: Opens the URL, or shows it to the user if the app cannot open a browser. The default runs the command in the environment
    ///     variable `BROWSER`, or the system's default. Other users of the machine can read command arguments, so the default command
    ///     receives a one-time loopback address that redirects to the page.
    public convenience init(
        clock: any OAuth2Clock = DeviceClock(), timeout: TimeInterval = SystemBrowserProvider.defaultTimeout,
        opener: (@Sendable (URL) async throws -> Void)? = nil
    ) {
        self.init(clock: clock, timeout: timeout, isHopping: opener == nil) { url in
            if let opener { return try await opener(url) }
            try await BrowserLauncher(environment: ProcessInfo.processInfo.environment).open(url)
        }
    }

    init(
        clock: any OAuth2Clock, timeout: TimeInterval = SystemBrowserProvider.defaultTimeout, isHopping: Bool,
        opener: @escaping @Sendable (URL) async throws -> Void
    ) {
        self.clock = clock
        self.timeout = timeout
        self.isHopping = isHopping
        self.opener = opener
    }

    deinit {
        state.withLock { $0.listener }?.close()
    }

    /// Starts to listen for the redirect.
    /// - Parameters:
    ///   - redirectUri: The configured redirect URI.
    ///   - isAnswer: Returns whether a URL is the expected redirect.
    /// - Returns: The redirect URI with the actual port.
    /// - Throws: ``BrowserSigninError/invalidRedirectScheme(_:)`` if the URI is not `http` with a loopback host; ``SystemBrowserError`` if
    ///   no port is available; ``BrowserSigninError/userCancelledLogin(_:)`` after ``cancel()``.
    public func listen(for redirectUri: URL, isAnswer: @escaping @Sendable (URL) -> Bool) async throws -> URL {
        let listener = try CallbackListener(LoopbackRedirect(redirectUri), isAnswer: isAnswer)
        let (isCancelled, previous) = state.withLock { state in
            defer { if !state.isCancelled { state.listener = listener } }
            return (state.isCancelled, state.listener)
        }
        previous?.close()
        guard !isCancelled else {
            listener.close()
            throw BrowserSigninError.userCancelledLogin()
        }
        return listener.redirectUri
    }

    /// Opens the browser and waits for the redirect.
    /// - Parameters:
    ///   - authorizeUrl: The server's page.
    ///   - redirectUri: The URI that ``listen(for:isAnswer:)`` returned.
    /// - Returns: The complete redirect URL.
    /// - Throws: ``SystemBrowserError``; ``BrowserSigninError/cannotStartBrowserSession`` if the provider does not listen at `redirectUri`;
    ///   ``BrowserSigninError/userCancelledLogin(_:)`` after ``cancel()``; `CancellationError`.
    public func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL {
        let (listener, isCancelled) = state.withLock { ($0.listener, $0.isCancelled) }
        // Do not open a browser after a cancellation.
        guard !isCancelled else { throw BrowserSigninError.userCancelledLogin() }
        guard let listener, listener.redirectUri == redirectUri else { throw BrowserSigninError.cannotStartBrowserSession }
        let result: Result<URL, any Error>
        do { result = .success(try await redirect(to: listener, from: authorizeUrl)) } catch { result = .failure(error) }
        listener.close()
        await listener.end()
        if case .failure = result, state.withLock({ $0.isCancelled }) { throw BrowserSigninError.userCancelledLogin() }
        return try result.get()
    }

    private func redirect(to listener: CallbackListener, from page: URL) async throws -> URL {
        let page = try isHopping ? listener.hop(to: page, name: Randomness.system.identifier) : page
        return try await withThrowingTaskGroup(of: Event.self) { [clock, timeout, opener] group in
            defer { group.cancelAll() }
            group.addTask { .redirected(try await listener.answer()) }
            group.addTask {
                // Run the opener in its own task, so that an opener that ignores cancellation does not delay the result.
                let opened = Decision<Void>()
                let opening = Task { opened.decide(await Result(of: { try await opener(page) })) }
                try await withTaskCancellationHandler {
                    try await opened.value()
                } onCancel: {
                    opening.cancel()
                    opened.decide(.failure(CancellationError()))
                }
                return .opened
            }
            group.addTask {
                try await clock.sleep(for: timeout)
                throw SystemBrowserError.timedOut(seconds: timeout)
            }
            while let event = try await group.next() {
                if case .redirected(let url) = event { return url }
            }
            throw BrowserSigninError.noAuthenticatorProviderResponse
        }
    }

    /// Closes the port and ends the session.
    public func cancel() {
        let listener = state.withLock { state in
            state.isCancelled = true
            return state.listener
        }
        listener?.close()
    }
}
#endif
