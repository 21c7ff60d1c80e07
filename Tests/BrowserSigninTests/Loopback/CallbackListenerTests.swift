#if os(Linux) || os(macOS)
import AuthFoundation
import Foundation
import OAuth2Auth
import TestSupport
import Testing

@testable import BrowserSignin

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Loopback listener", .timeLimit(.minutes(2)))
struct CallbackListenerTests {
    private func listener(_ redirectUri: String = "http://127.0.0.1/callback") throws -> CallbackListener {
        try CallbackListener(LoopbackRedirect(url(redirectUri))) { query($0)["state"] == "s1" }
    }

    private func request(_ target: String, port: Int, host: String = "127.0.0.1") -> String {
        "GET \(target) HTTP/1.1\r\nHost: \(host):\(port)\r\n\r\n"
    }

    @Test("The loopback listener returns the first valid request as the redirect, and then closes its port")
    func answer() async throws {
        let listener = try listener()
        let port = try #require(listener.redirectUri.port)
        #expect(listener.redirectUri.absoluteString == "http://127.0.0.1:\(port)/callback")
        let page = try await RawConnection.answer(to: request("/callback?code=c&state=s1", port: port), port: port)
        #expect(page.hasPrefix("HTTP/1.1 200 ") && page.contains("You can close this window.") && page.hasSuffix("</html>\n"))
        #expect(try await listener.answer().absoluteString == "http://127.0.0.1:\(port)/callback?code=c&state=s1")
        await listener.end()
        await #expect(throws: RawConnection.Refused.self) { try await RawConnection(port: port) }
        listener.close()
    }

    @Test("After invalid requests, the loopback listener still accepts the valid redirect")
    func others() async throws {
        let listener = try listener()
        let port = try #require(listener.redirectUri.port)
        for (target, host, status) in [
            ("/favicon.ico", "127.0.0.1", 404), ("/callback?state=other", "127.0.0.1", 400),
            ("/callback?state=s1", "evil.example.com", 421),
        ] {
            let page = try await RawConnection.answer(to: request(target, port: port, host: host), port: port)
            #expect(page.hasPrefix("HTTP/1.1 \(status) "))
        }
        let garbage = try await RawConnection.answer(to: "\u{16}\u{3}\u{1}\r\n\r\n", port: port)
        #expect(garbage.hasPrefix("HTTP/1.1 400 "))
        _ = try await RawConnection.answer(to: request("/callback?state=s1", port: port), port: port)
        #expect(query(try await listener.answer())["state"] == "s1")
    }

    @Test("The loopback listener answers an endless request with 431, and still accepts the valid redirect")
    func endless() async throws {
        let listener = try listener()
        let port = try #require(listener.redirectUri.port)
        let connection = try await RawConnection(port: port)
        defer { connection.end() }
        for _ in 0..<40 { try await connection.send(String(repeating: "x", count: 4096)) }
        #expect(try await connection.rest().hasPrefix("HTTP/1.1 431 "))
        _ = try await RawConnection.answer(to: request("/callback?state=s1", port: port), port: port)
        _ = try await listener.answer()
    }

    @Test("The loopback listener assembles a request from fragments, and idle connections do not block the request")
    func slow() async throws {
        let listener = try listener()
        let port = try #require(listener.redirectUri.port)
        var silent: [RawConnection] = []
        for _ in 0..<40 { silent.append(try await RawConnection(port: port)) }
        defer { for connection in silent { connection.end() } }
        // After this response, the listener has accepted all connections and closed the oldest one.
        _ = try await RawConnection.answer(to: request("/favicon.ico", port: port), port: port)
        try await silent[0].send(request("/callback?state=s1", port: port))
        #expect(try await silent[0].rest().isEmpty)
        let connection = try await RawConnection(port: port)
        defer { connection.end() }
        for piece in ["GET /callback?sta", "te=s1 HTTP/1.1\r", "\nHost: 127.0.0.1:", "\(port)\r\n\r", "\n"] {
            try await connection.send(piece)
        }
        #expect(try await connection.rest().hasPrefix("HTTP/1.1 200 "))
        _ = try await listener.answer()
    }

    @Test("Cancelling the task that waits for a redirect closes the port of the loopback listener")
    func cancelled() async throws {
        let listener = try listener()
        let port = try #require(listener.redirectUri.port)
        let call = Task { try await listener.answer() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await listener.end()
        await #expect(throws: RawConnection.Refused.self) { try await RawConnection(port: port) }
    }

    #if os(Linux)
    // Other systems have one loopback address by default.
    @Test("The loopback listener for 127.0.0.1 accepts no connection on 127.0.0.2")
    func otherAddress() async throws {
        let listener = try listener()
        let port = try #require(listener.redirectUri.port)
        await #expect(throws: RawConnection.Refused.self) { try await RawConnection(port: port, address: 0x7F00_0002) }
        listener.close()
        await listener.end()
    }
    #endif

    @Test(
        "The loopback listener uses the port of the redirect URI, and the technical description of the error for an occupied port names the port"
    )
    func port() async throws {
        let second = try await withUndisturbedPort {
            let first = try listener()
            let port = try #require(first.redirectUri.port)
            let error = #expect(throws: SystemBrowserError.self) { try listener("http://127.0.0.1:\(port)/callback") }
            #expect(error?.debugDescription.contains("\(port)") == true)
            first.close()
            await first.end()
            let second = try listener("http://localhost:\(port)/callback")
            #expect(second.redirectUri.absoluteString == "http://localhost:\(port)/callback")
            return second
        }
        let port = try #require(second.redirectUri.port)
        let page = try await RawConnection.answer(to: request("/callback?state=s1", port: port, host: "localhost"), port: port)
        #expect(page.hasPrefix("HTTP/1.1 200 "))
        #expect(try await second.answer().host() == "localhost")
        await second.end()
    }

    @Test("For localhost, the loopback listener binds to IPv4 and IPv6, and fails if another program has the IPv6 port")
    func bothAddresses() async throws {
        // A system without IPv6 has no second loopback address.
        guard let probe = try? LoopbackSocket(isIPv6: true, port: nil) else { return }
        close(probe.descriptor)
        try await withUndisturbedPort {
            let other = try LoopbackSocket(isIPv6: true, port: nil)
            let error = #expect(throws: SystemBrowserError.self) { try listener("http://localhost:\(other.port)/callback") }
            defer { close(other.descriptor) }
            #expect(error?.debugDescription.contains("\(other.port)") == true)
            // The failed attempt leaves no socket open.
            close(try LoopbackSocket(isIPv6: false, port: other.port).descriptor)
        }
        try await withUndisturbedPort {
            let both = try listener("http://localhost/callback")
            let port = UInt16(try #require(both.redirectUri.port))
            for isIPv6 in [true, false] {
                #expect(throws: SystemBrowserError.self) { try LoopbackSocket(isIPv6: isIPv6, port: port) }
            }
            both.close()
            await both.end()
            for isIPv6 in [true, false] { close(try LoopbackSocket(isIPv6: isIPv6, port: port).descriptor) }
        }
    }

    /// Runs a check, and repeats it with another port if the check cannot listen: another program can take a port in the meantime. If the
    /// listener leaves a socket open, every attempt fails.
    private func withUndisturbedPort<Value>(_ check: () async throws -> Value) async throws -> Value {
        for _ in 1..<10 {
            do { return try await check() } catch is SystemBrowserError {}
        }
        return try await check()
    }
}

@Suite("The user's own browser", .timeLimit(.minutes(2)))
@MainActor
struct SystemBrowserTests {
    /// Returns a browser that opens the listener's page and follows the redirect of the issuer.
    nonisolated private static func browser(at issuer: BrowserIssuer) -> @Sendable (URL) async throws -> Void {
        { page in
            let redirect = page.path().hasSuffix("/logout") ? try issuer.visitLogout(page) : try issuer.visit(page)
            let port = redirect.port ?? 0
            let target = redirect.path() + "?" + (redirect.query(percentEncoded: true) ?? "")
            _ = try await RawConnection.answer(to: "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port)
        }
    }

    private func signin(
        _ issuer: BrowserIssuer, opener: @escaping @Sendable (URL) async throws -> Void
    ) throws -> BrowserSignin {
        try custom(issuer) { SystemBrowserProvider(clock: issuer.clock, timeout: 300, opener: opener) }
    }

    private func custom(
        _ issuer: BrowserIssuer, provider: @escaping @Sendable () -> SystemBrowserProvider
    ) throws -> BrowserSignin {
        let client = try issuer.client(redirectUri: "http://127.0.0.1/callback", logoutRedirectUri: "http://127.0.0.1/bye")
        return BrowserSignin(loginFlow: try AuthorizationCodeFlow(client: client), logoutFlow: SessionLogoutFlow(client: client)) {
            _, _, _ in provider()
        }
    }

    @Test("A sign-in and a sign-out in the user's own browser use redirects to the loopback address")
    func success() async throws {
        let issuer = BrowserIssuer()
        let pages = Locked<[URL]>([])
        let browser = Self.browser(at: issuer)
        let signin = try signin(issuer) { page in
            pages.withLock { $0.append(page) }
            try await browser(page)
        }
        let token = try await signin.signIn()
        #expect(token.accessToken == "access-1")
        let told = query(pages.withLock { $0.first })["redirect_uri"] ?? ""
        #expect(told.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/callback/) != nil)
        #expect(issuer.forms("/token").first?["redirect_uri"] == told)
        let redirect = try await signin.signOut(token: token)
        #expect(redirect.path() == "/bye" && query(pages.withLock { $0.last })["post_logout_redirect_uri"]?.hasSuffix("/bye") == true)
    }

    @Test("A browser sign-in times out after 300 seconds of the client's clock, and closes the listener's port")
    func timeout() async throws {
        let clock = ManualClock()
        let issuer = BrowserIssuer(clock: clock)
        let page = Decision<URL>()
        let signin = try signin(issuer) { page.decide(.success($0)) }
        let call = Task { try await signin.signIn() }
        let port = try #require(URL(string: query(try await page.value())["redirect_uri"] ?? "")?.port)
        await clock.sleepers(1)
        clock.advance(by: 299)
        try await RawConnection(port: port).end()
        clock.advance(by: 1)
        await #expect(throws: BrowserSigninError.authenticationProvider(error: SystemBrowserError.timedOut(seconds: 300))) {
            try await call.value
        }
        await #expect(throws: RawConnection.Refused.self) { try await RawConnection(port: port) }
        #expect(!signin.signInFlow.isAuthenticating && clock.waits.isEmpty)
    }

    @Test(
        "If the task or the app cancels a browser sign-in, the listener's port is closed before the call returns", arguments: [true, false])
    func cancelled(byTask: Bool) async throws {
        let issuer = BrowserIssuer()
        let page = Decision<URL>()
        let signin = try signin(issuer) { page.decide(.success($0)) }
        let call = Task { try await signin.signIn() }
        let port = try #require(URL(string: query(try await page.value())["redirect_uri"] ?? "")?.port)
        if byTask { call.cancel() } else { await signin.cancel() }
        let error = await #expect(throws: (any Error).self) { try await call.value }
        #expect(byTask ? error is CancellationError : error as? BrowserSigninError == .userCancelledLogin())
        await #expect(throws: RawConnection.Refused.self) { try await RawConnection(port: port) }
    }

    @Test("The browser provider opens no browser for a redirect URI without a listener, or after a cancellation")
    func otherRedirect() async throws {
        let provider = SystemBrowserProvider(clock: ManualClock()) { _ in Issue.record("A browser was opened.") }
        let page = try url("https://id.example.com/authorize")
        let listening = try await provider.listen(for: url("http://127.0.0.1/callback")) { _ in true }
        await #expect(throws: BrowserSigninError.cannotStartBrowserSession) {
            try await provider.open(authorizeUrl: page, redirectUri: url("http://127.0.0.1:1/callback"))
        }
        provider.cancel()
        await #expect(throws: BrowserSigninError.userCancelledLogin()) {
            try await provider.listen(for: url("http://127.0.0.1/callback")) { _ in true }
        }
        await #expect(throws: BrowserSigninError.userCancelledLogin()) {
            try await provider.open(authorizeUrl: page, redirectUri: listening)
        }
    }

    @Test("If no browser can be opened, the error lists the commands that failed")
    func noBrowser() async throws {
        let issuer = BrowserIssuer()
        let launcher = BrowserLauncher(environment: ["BROWSER": "/bin/false:no-such-browser-4711", "PATH": "/usr/bin:/bin"])
        let signin = try signin(issuer) { try await launcher.open($0) }
        let expected = SystemBrowserError.cannotOpen(commands: ["/bin/false", "no-such-browser-4711"])
        await #expect(throws: BrowserSigninError.authenticationProvider(error: expected)) { try await signin.signIn() }
    }

    @Test("BrowserLauncher builds the browser's commands from the environment variable BROWSER without a shell")
    func commands() throws {
        let page = try url("https://id.example.com/authorize?a=b&c=%24(d)")
        func commands(_ value: String?) -> [[String]] {
            BrowserLauncher(environment: value.map { ["BROWSER": $0] } ?? [:]).commands(for: page)
        }
        let text = page.absoluteString
        #expect(commands("firefox") == [["firefox", text]])
        #expect(
            commands("firefox --new-window:chromium --app=%s -x") == [
                ["firefox", "--new-window", text], ["chromium", "--app=\(text)", "-x"],
            ])
        for none in [nil, "", " : "] {
            #expect(commands(none).count == 1 && commands(none)[0].count == 2 && commands(none)[0][1] == text)
        }
    }

    @Test("BrowserLauncher opens a URL with the first command that succeeds, and rejects a file URL")
    func launch() async throws {
        let launcher = BrowserLauncher(environment: ["BROWSER": "/bin/false:/bin/true:/bin/false", "PATH": "/usr/bin:/bin"])
        try await launcher.open(url("https://id.example.com"))
        await #expect(throws: SystemBrowserError.cannotOpen(commands: [])) { try await launcher.open(url("file:///etc/passwd")) }
    }

    @Test("A browser command that stays in the foreground does not block the sign-in")
    func foreground() async throws {
        let issuer = BrowserIssuer()
        let browser = Self.browser(at: issuer)
        let never = Decision<Void>()
        let signin = try signin(issuer) { page in
            try await browser(page)
            try await withTaskCancellationHandler {
                try await never.value()
            } onCancel: {
                never.decide(.failure(CancellationError()))
            }
        }
        #expect(try await signin.signIn().accessToken == "access-1")
    }

    @Test("The browser's command line contains a random one-time address, and no data of the sign-in or the sign-out")
    func hop() async throws {
        let issuer = BrowserIssuer()
        let browser = Self.browser(at: issuer)
        let told = Locked<[URL]>([])
        let signin = try custom(
            issuer,
            provider: {
                SystemBrowserProvider(clock: issuer.clock, isHopping: true) { hop in
                    told.withLock { $0.append(hop) }
                    let port = hop.port ?? 0
                    func get() async throws -> String {
                        try await RawConnection.answer(to: "GET \(hop.path()) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port)
                    }
                    let answer = try await get()
                    #expect(answer.hasPrefix("HTTP/1.1 302 ") && answer.contains("Cache-Control: no-store"))
                    #expect(try await get().hasPrefix("HTTP/1.1 404 "))
                    let location = answer.components(separatedBy: "\r\n").first { $0.hasPrefix("Location: ") }?.dropFirst(10)
                    try await browser(url(String(try #require(location))))
                }
            })
        let token = try await signin.signIn()
        try await signin.signOut(token: token)
        let addresses = told.withLock { $0 }
        #expect(addresses.count == 2 && Set(addresses.map { $0.path() }).count == 2)
        for address in addresses {
            #expect(address.absoluteString.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/[A-Za-z0-9_-]{22}/) != nil)
        }
    }

    @Test("The one-time address of the loopback listener cannot redirect to a file URL")
    func hopElsewhere() throws {
        let listener = try CallbackListener(LoopbackRedirect(url("http://127.0.0.1/callback"))) { _ in false }
        defer { listener.close() }
        #expect(throws: SystemBrowserError.cannotOpen(commands: [])) { try listener.hop(to: url("file:///etc/passwd"), name: "a") }
    }

    @Test("A browser sign-in completes even if the call that opens the browser never returns")
    func stubbornOpener() async throws {
        let issuer = BrowserIssuer()
        let browser = Self.browser(at: issuer)
        let never = Decision<Void>()
        let signin = try signin(issuer) { page in
            try await browser(page)
            try await never.value()
        }
        #expect(try await signin.signIn().accessToken == "access-1")
        never.decide(.success(()))
    }
}
#endif
