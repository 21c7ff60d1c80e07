import AuthFoundation
import AuthorizationServer
import CountersignSandbox
import Foundation
import OktaDirectAuth
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A clock for a client. Each of its waits lasts until the test ends it.
final class SteppedClock: OAuth2Clock {
    /// A wait of the client.
    struct Wait: Sendable {
        /// The requested time in seconds.
        let interval: TimeInterval
        let end: AsyncStream<Never>.Continuation
    }

    private enum Event: Sendable {
        case wait(Wait)
        /// The end of a call, by the hash value of its task.
        case ended(Int)
    }

    private let clock: SandboxClock
    private let events: AsyncStream<Event>
    private let entrance: AsyncStream<Event>.Continuation

    init(_ clock: SandboxClock) {
        self.clock = clock
        (events, entrance) = AsyncStream.makeStream(of: Event.self)
    }

    var now: Date { clock.now }

    func sleep(for interval: TimeInterval) async throws {
        let (over, end) = AsyncStream.makeStream(of: Never.self)
        entrance.yield(.wait(Wait(interval: interval, end: end)))
        for await _ in over {}
        try Task.checkCancellation()
    }

    /// Returns the client's next wait. It lasts until ``pass(_:)`` is called with it.
    func nextWait() async throws -> Wait {
        for await event in events {
            if case .wait(let wait) = event { return wait }
        }
        throw CancellationError()
    }

    /// Ends the next wait. Returns without a wait if the call ends first.
    func passNextWait(of call: Task<some Sendable, any Error>) async throws {
        Task { [entrance] in
            _ = await call.result
            entrance.yield(.ended(call.hashValue))
        }
        for await event in events {
            switch event {
            case .wait(let wait): return pass(wait)
            case .ended(let id): if id == call.hashValue { return }
            }
        }
        throw CancellationError()
    }

    /// Advances the sandbox's clock by the time of a wait, and ends the wait.
    func pass(_ wait: Wait) {
        clock.advance(by: wait.interval)
        wait.end.finish()
    }
}

extension Duration {
    /// The maximum real time of a step. It is longer than any step needs, even on a busy machine.
    static let patience: Duration = .seconds(300)
}

/// A session that reports the endpoint of each request after its response.
final class WatchedSession: URLSessionProtocol {
    private let session: any URLSessionProtocol
    private let answered: AsyncStream<String>
    private let entrance: AsyncStream<String>.Continuation

    init(_ session: any URLSessionProtocol) {
        self.session = session
        (answered, entrance) = AsyncStream.makeStream(of: String.self)
    }

    var configuration: URLSessionConfiguration { session.configuration }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        defer { entrance.yield(request.url?.lastPathComponent ?? "") }
        return try await session.data(for: request)
    }

    /// Waits for the next response of an endpoint. Only one caller can wait at a time.
    func answer(of endpoint: String) async throws {
        for await name in answered where name == endpoint { return }
        throw CancellationError()
    }
}

/// A sign-in with password and push, in an app with its own clock.
struct PushSignIn: Sendable {
    let clock: SteppedClock
    let flow: DirectAuthenticationFlow

    init(_ sandbox: Sandbox, session: (any URLSessionProtocol)? = nil, application: SandboxApplication = .directAuth) {
        clock = SteppedClock(sandbox.clock)
        flow = DirectAuthenticationFlow(
            client: OAuth2Client(sandbox.configuration(application), session: session ?? sandbox.transport, clock: clock))
    }

    /// Sends the password and requests the push. Returns the call that waits for the phone.
    func begin(_ user: SandboxUser = .jane) async throws -> Task<DirectAuthenticationFlow.Status, any Error> {
        let status = try await flow.start(user.login, with: .password(user.password ?? ""))
        guard case .mfaRequired = status else { throw UnexpectedStatus(status: status) }
        return Task { try await flow.resume(with: .oob(channel: .push)) }
    }

    /// Returns the number that the app shows.
    func number(_ waiting: Task<DirectAuthenticationFlow.Status, any Error>) async throws -> String {
        let status = try await waiting.value
        guard case .continuation(.transfer(_, let code)) = status else { throw UnexpectedStatus(status: status) }
        return code
    }

    /// Returns the tokens of an approved push. If the approval precedes the first poll, there is no wait to pass.
    func tokens(_ waiting: Task<DirectAuthenticationFlow.Status, any Error>) async throws -> Token {
        try await clock.passNextWait(of: waiting)
        let status = try await waiting.value
        guard case .success(let token) = status else { throw UnexpectedStatus(status: status) }
        return token
    }
}

extension Sandbox.Configuration {
    /// Returns the configuration of a sandbox without a port, with a fixed clock.
    static func standing(folder: URL? = nil, organization: String? = nil) -> Sandbox.Configuration {
        Sandbox.Configuration(
            listening: .inProcess, folder: folder, organization: organization,
            clock: SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 1_750_000_000)))
    }

    /// A configuration without a port, with a fixed clock and a number challenge at each sign-in.
    static var withNumbers: Sandbox.Configuration {
        standing(organization: OrgFile.sandboxDefault.replacing("number_challenge: never", with: "number_challenge: always"))
    }
}

extension VirtualPhone {
    /// Waits until the phone shows the expected requests.
    func shows(_ isRight: ([Request]) -> Bool) async throws -> [Request] {
        for await requests in requests where isRight(requests) { return requests }
        throw CancellationError()
    }

    /// Waits until the phone's history contains at least this number of requests.
    func hasHistory(_ count: Int) async throws {
        for await history in historyUpdates where history.count >= count { return }
        throw CancellationError()
    }

    var outcomes: [HistoryEntry.Outcome] { history.map(\.outcome) }
}

extension Token {
    /// The `amr` values of the ID token; empty without an ID token.
    var methods: [String] { idToken?[.authMethodsReference] ?? [] }
}
