#if os(Linux) || os(macOS)
public import AuthFoundation
public import Foundation

/// The person's own browser, and a port at the loopback address to which it returns (RFC 8252, 7.3 and 8.3).
///
/// The redirect URI must be `http://127.0.0.1` or `http://[::1]` with a path; for `localhost` both addresses are listened at. Without a port any
/// free one is taken, which servers must allow for loopback addresses; with a port, that one. Nothing listens at other addresses.
/// The port is open from the start of the sign-in until the redirect has come, the time is over or the task is cancelled; when
/// ``open(authorizeUrl:redirectUri:)`` returns it is closed.
///
/// What the person does in the browser is not seen: closing the window shows by the time being over.
public final class SystemBrowserProvider: BrowserSignin.ListeningProvider {
    /// How long a person may take for a sign-in, in seconds, unless the app says otherwise: ten minutes.
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
    /// Whether the opener is given an address that leads on to the page, instead of the page's.
    private let isHopping: Bool
    private let opener: @Sendable (URL) async throws -> Void
    private let state = Locked(State())

    /// Makes the browser session of one sign-in or sign-out.
    ///
    /// - Parameters:
    ///   - clock: The clock that the time is taken by; usually the client's.
    ///   - timeout: How many seconds the browser may take to return.
    ///   - opener: Opens the browser; by default the command in the variable `BROWSER`, else the system's. An app that can't open one shows
    ///     the URL to the person. Every user of the machine can read the arguments of commands: the default one is given an address at the
    ///     loopback address that leads on to the page once.
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

    /// Begins to listen for the redirect.
    ///
    /// - Parameters:
    ///   - redirectUri: The redirect URI of the settings.
    ///   - isAnswer: Whether a URL is the answer that is waited for.
    /// - Returns: The redirect URI with the port.
    /// - Throws: ``BrowserSigninError/invalidRedirectScheme(_:)`` for a redirect to elsewhere; ``SystemBrowserError`` if no port can be had;
    ///   ``BrowserSigninError/userCancelledLogin(_:)`` after ``cancel()``.
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
    ///
    /// - Parameters:
    ///   - authorizeUrl: The server's page.
    ///   - redirectUri: Where the browser is sent at the end: what ``listen(for:isAnswer:)`` returned.
    /// - Returns: The URL that the browser was sent to.
    /// - Throws: ``SystemBrowserError``; ``BrowserSigninError/cannotStartBrowserSession`` if nobody listens there;
    ///   ``BrowserSigninError/userCancelledLogin(_:)`` after ``cancel()``; `CancellationError`.
    public func open(authorizeUrl: URL, redirectUri: URL) async throws -> URL {
        let (listener, isCancelled) = state.withLock { ($0.listener, $0.isCancelled) }
        // Who has given up sees no browser open after that.
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
                // One that goes on for as long as the browser is open, whatever it is told, keeps nobody waiting.
                let opened = Decision<Void>()
                let opening = Task {
                    do { opened.decide(.success(try await opener(page))) } catch { opened.decide(.failure(error)) }
                }
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

    /// Closes the port.
    public func cancel() {
        let listener = state.withLock { state in
            state.isCancelled = true
            return state.listener
        }
        listener?.close()
    }
}
#endif
