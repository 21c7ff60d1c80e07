import AuthFoundation
import BrowserSignin
import CountersignSandbox
import Foundation
import OAuth2Auth

@testable import BrowserApp

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The app with a sandbox, a browser without a window, and a simulated user.
@MainActor
struct BrowserVisit {
    let sandbox: Sandbox
    let model: AuthViewModel

    /// Opens the app. By default, Jane completes the pages in the browser.
    init(
        _ sandbox: Sandbox, visitor: SandboxBrowser.Visitor? = nil, messagesURL: URL? = nil,
        messagesSession: any URLSessionProtocol = URLSession.shared, refreshesByItself: Bool = false,
        choose: @escaping @Sendable ([Message]) -> Message? = \.first
    ) async throws {
        self.sandbox = sandbox
        let browser = if let visitor { sandbox.browser(visitor: visitor) } else { try await sandbox.browser(of: .jane) }
        let signin = try sandbox.browserSignin(in: browser)
        model = AuthViewModel(
            authService: AuthService(
                browser: .success(signin), messagesURL: messagesURL ?? sandbox.messagesURL?.appending(path: "api/messages"),
                session: messagesSession, refreshesByItself: refreshesByItself, choose: choose))
    }
}

/// A selector that selects no message and records the available messages. Thread-safe: every access is under the lock.
final class Seen: @unchecked Sendable {
    private let lock = NSLock()
    private var noted: [Message] = []

    var messages: [Message] { lock.withLock { noted } }

    func note(_ messages: [Message]) -> Message? {
        lock.withLock { noted = messages }
        return nil
    }
}

/// A session that sends nothing and records the addresses of requests. Thread-safe: every access is under the lock.
final class RefusingSession: URLSessionProtocol, @unchecked Sendable {
    private let lock = NSLock()
    private var asked: [String] = []

    var configuration: URLSessionConfiguration { URLSession.shared.configuration }
    var urls: [String] { lock.withLock { asked } }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        lock.withLock { asked.append(request.url?.absoluteString ?? "") }
        throw URLError(.cannotConnectToHost)
    }
}

/// A session that invalidates the access token of each request before it sends the request.
struct SpoilingSession: URLSessionProtocol {
    var configuration: URLSessionConfiguration { URLSession.shared.configuration }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        var request = request
        request.setValue((request.value(forHTTPHeaderField: "Authorization") ?? "") + "x", forHTTPHeaderField: "Authorization")
        let session: any URLSessionProtocol = URLSession.shared
        return try await session.data(for: request)
    }
}
