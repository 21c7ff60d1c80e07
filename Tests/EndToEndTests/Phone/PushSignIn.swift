import AuthFoundation
import AuthorizationServer
import CountersignSandbox
import Foundation
import OktaDirectAuth
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A clock of a client whose waits end when the test says so, and which tells the test of each.
final class SteppedClock: OAuth2Clock {
    /// A client that waits.
    struct Wait: Sendable {
        /// For how many seconds it meant to.
        let interval: TimeInterval
        let end: AsyncStream<Never>.Continuation
    }

    private let clock: SandboxClock
    private let waits: AsyncStream<Wait>
    private let entrance: AsyncStream<Wait>.Continuation

    init(_ clock: SandboxClock) {
        self.clock = clock
        (waits, entrance) = AsyncStream.makeStream(of: Wait.self)
    }

    var now: Date { clock.now }

    func sleep(for interval: TimeInterval) async throws {
        let (over, end) = AsyncStream.makeStream(of: Never.self)
        entrance.yield(Wait(interval: interval, end: end))
        for await _ in over {}
        try Task.checkCancellation()
    }

    /// The next wait, which goes on until it is ended.
    func nextWait() async throws -> Wait {
        for await wait in waits { return wait }
        throw CancellationError()
    }

    /// Lets the time pass that a client waits for, on both sides.
    func pass(_ wait: Wait) {
        clock.advance(by: wait.interval)
        wait.end.finish()
    }
}

extension Duration {
    /// Longer than anything takes, on a machine that has much to do.
    static let patience: Duration = .seconds(300)
}

/// A session that tells when a request has its answer.
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

    /// Waits for the answer of an endpoint. For one who waits at a time.
    func answer(of endpoint: String) async throws {
        for await name in answered where name == endpoint { return }
        throw CancellationError()
    }
}

/// A sign-in of Jane's with a password and a push, by an app that waits on a clock of its own.
struct PushSignIn: Sendable {
    let clock: SteppedClock
    let flow: DirectAuthenticationFlow

    init(_ sandbox: Sandbox, session: (any URLSessionProtocol)? = nil, application: SandboxApplication = .directAuth) {
        clock = SteppedClock(sandbox.clock)
        flow = DirectAuthenticationFlow(
            client: OAuth2Client(sandbox.configuration(application), session: session ?? sandbox.transport, clock: clock))
    }

    /// Gives the password, and asks for the push.
    ///
    /// - Returns: What waits for the phone.
    func begin(_ user: SandboxUser = .jane) async throws -> Task<DirectAuthenticationFlow.Status, any Error> {
        let status = try await flow.start(user.login, with: .password(user.password ?? ""))
        guard case .mfaRequired = status else { throw UnexpectedStatus(status: status) }
        return Task { try await flow.resume(with: .oob(channel: .push)) }
    }

    /// The number that the app shows.
    func number(_ waiting: Task<DirectAuthenticationFlow.Status, any Error>) async throws -> String {
        let status = try await waiting.value
        guard case .continuation(.transfer(_, let code)) = status else { throw UnexpectedStatus(status: status) }
        return code
    }

    /// What the app gets at its next poll.
    func tokens(_ waiting: Task<DirectAuthenticationFlow.Status, any Error>) async throws -> Token {
        clock.pass(try await clock.nextWait())
        let status = try await waiting.value
        guard case .success(let token) = status else { throw UnexpectedStatus(status: status) }
        return token
    }
}

extension Sandbox.Configuration {
    /// Without a port, with a clock that stands.
    static func standing(folder: URL? = nil, organization: String? = nil) -> Sandbox.Configuration {
        Sandbox.Configuration(
            listening: .inProcess, folder: folder, organization: organization,
            clock: SandboxClock(.standing, startingAt: Date(timeIntervalSince1970: 1_750_000_000)))
    }

    /// The same, with a number to pick at each sign-in.
    static var withNumbers: Sandbox.Configuration {
        standing(organization: OrgFile.sandboxDefault.replacing("number_challenge: never", with: "number_challenge: always"))
    }
}

extension VirtualPhone {
    /// Waits until what the phone shows is as it should be.
    func shows(_ isRight: ([Request]) -> Bool) async throws -> [Request] {
        for await requests in requests where isRight(requests) { return requests }
        throw CancellationError()
    }

    /// Waits until so many requests are over.
    func hasHistory(_ count: Int) async throws {
        for await history in historyUpdates where history.count >= count { return }
        throw CancellationError()
    }

    var outcomes: [HistoryEntry.Outcome] { history.map(\.outcome) }
}

extension Token {
    /// The `amr` of the id token.
    var methods: [String] { idToken?[.authMethodsReference] ?? [] }
}
