#if os(Linux)
import Dispatch
import Foundation
import FoundationNetworking
import Glibc
import TestSupport
import Testing

@testable import AuthFoundation

/// Two processes, like an app and its extension, that share a session through one Keychain and refresh it at the same time. The test is the
/// server of both, tells them when to refresh, and kills them at chosen points.
@Suite("Processes that share a session in the Keychain")
struct KeychainProcessTests {
    /// The point of a refresh at which a process is killed.
    enum Death: String, CaseIterable {
        /// The server has used the refresh token and has not answered.
        case request
        /// The process has the answer and has not stored it.
        case store
        /// The new token is stored, and the process still has the lease.
        case release
    }

    @Test(
        "Two processes that refresh one session at the same time send each refresh token once and lose no session, even if one is killed",
        .timeLimit(.minutes(1)))
    func sharesSession() async throws {
        if TestProcess.isChild { return try await SharingProcess().run() }
        let script = try SharingScript()
        defer { script.finish() }
        try script.storeSession()
        for child in SharingScript.children { script.start(child) }
        try await script.bothReady()
        for _ in 0..<15 { try await script.refreshBoth() }
        for death in Death.allCases {
            try await script.refreshBoth(killing: "app", at: death)
            for _ in 0..<5 { try await script.refreshBoth() }
        }
        // A lost answer is the only reason to send a refresh token again.
        #expect(script.uses.filter { $0.value > 1 }.keys.sorted() == script.lost.sorted())
        #expect(script.lost.count == 2 && script.uses.values.allSatisfy { $0 <= 2 })
        #expect(script.keychain.records(of: KeychainTokenStorageTests.tokens).count == 1)
        #expect(script.keychain.records(of: KeychainRefreshLease.service).isEmpty)
        #expect(try script.storedToken().refreshToken == script.current)
    }
}

// MARK: - The test's side

/// The server of the processes, which also tells them when to refresh. Only the test uses it. The server's threads forward requests and
/// wait.
private final class SharingScript {
    static let children = ["app", "extension"]

    private let folder = TemporaryFolder()
    private let requests: AsyncStream<Held>
    private let arrivals: AsyncStream<Held>.Continuation
    private let server: RespondingServer
    private var processes: [String: Task<(Int32, String), any Error>] = [:]
    /// The requests for the next round, by process.
    private var waiting: [String: Held] = [:]
    /// The number of starts of each process.
    private var starts: [String: Int] = [:]
    private var clockOffset: TimeInterval = 0
    private var count = 0

    /// The refresh token that the server accepts.
    private(set) var current = "refresh-0"
    /// The number of requests with each refresh token.
    private(set) var uses: [String: Int] = [:]
    /// The refresh tokens whose answer was lost.
    private(set) var lost: Set<String> = []

    struct Unexpected: Error, CustomStringConvertible { let description: String }

    init() throws {
        let (requests, arrivals) = AsyncStream.makeStream(of: Held.self)
        (self.requests, self.arrivals) = (requests, arrivals)
        server = try RespondingServer { request in
            let held = Held(request)
            arrivals.yield(held)
            return held.wait()
        }
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try setClock()
    }

    private var base: String { "http://127.0.0.1:\(server.port)" }
    private var clock: SharedClock { SharedClock(file: folder.file(SharingProcess.clockFile)) }
    var keychain: KeychainDouble { KeychainDouble(clock: clock, file: KeychainFile(url: folder.file(SharingProcess.keychainFile))) }
    private var storage: KeychainTokenStorage { KeychainTokenStorage(KeychainDouble.App(device: keychain), clock: clock) }

    private func setClock() throws { try Data("\(clockOffset)".utf8).write(to: folder.file(SharingProcess.clockFile), options: .atomic) }

    func storeSession() throws {
        let configuration = OAuth2Client.Configuration(issuerURL: try url(base), clientId: "app", scope: "offline_access")
        let token = try Token(
            id: "session-1", issuedAt: clock.now, context: Token.Context(configuration: configuration),
            response: .object([
                "token_type": .string("Bearer"), "access_token": .string("access-0"), "refresh_token": .string(current),
                "expires_in": .integer(3600),
            ]))
        let storage = storage
        try CredentialActor.synchronously { try storage.add(token: token, metadata: nil, security: []) }
    }

    func storedToken() throws -> Token {
        let storage = storage
        return try CredentialActor.synchronously { try storage.storedToken(id: "session-1") }
    }

    func start(_ child: String) {
        let process = TestProcess(
            "KeychainProcessTests/sharesSession",
            variables: [SharingProcess.name: child, SharingProcess.folder: folder.url.path, SharingProcess.issuer: base])
        let number = starts[child, default: 0] + 1
        starts[child] = number
        processes[child] = Task { [arrivals] in
            let (status, output) = try await process.run()
            arrivals.yield(Held(path: "/ended", query: ["start": "\(number)", "output": output], child: child))
            return (status, output)
        }
    }

    /// Ends the processes and the requests that still wait.
    func finish() {
        for process in processes.values { process.cancel() }
        for held in waiting.values { held.answer("") }
    }

    private func endOf(_ child: String) async throws -> (Int32, String) {
        guard let process = processes.removeValue(forKey: child) else { throw Unexpected(description: "\(child) does not run") }
        return try await process.value
    }

    // MARK: Rounds

    /// Waits until both processes ask for the next round, and checks that both then find the newest token.
    func bothReady() async throws {
        try await bothWait()
        for child in Self.children { try answer(child, "read") }
        try await bothWait()
        for (child, held) in waiting {
            #expect(held.query["token"] == current && held.query["state"] == "active", "\(child): \(held.query)")
        }
    }

    private func bothWait() async throws {
        while waiting.count < Self.children.count { try await handle(nextRequest()) }
    }

    /// Lets both processes refresh at the same time. If one begins after the other has ended, there are two requests.
    func refreshBoth() async throws {
        let before = current
        for child in Self.children { try answer(child, "go") }
        try await bothReady()
        #expect(current != before && uses[before] == 1)
    }

    /// Lets one process begin its refresh first, and kills it. The other process waits for it, and then refreshes or takes over the token.
    func refreshBoth(killing victim: String, at death: KeychainProcessTests.Death) async throws {
        guard let other = Self.children.first(where: { $0 != victim }) else { return }
        try answer(victim, death == .request ? "go" : death.rawValue)
        var request = try await nextRequest()
        while request.path != "/v1/token" {
            try await handle(request)
            request = try await nextRequest()
        }
        try answer(other, "go")
        let (used, response) = (current, try tokens(for: request))
        if death == .request {
            processes[victim]?.cancel()
            let status = try await endOf(victim).0
            #expect(status == -SIGKILL)
            request.answer("")
        } else {
            request.answer(response)
            let status = try await endOf(victim).0
            #expect(status == -SIGKILL)
        }
        if death != .release { lost.insert(used) }
        // The killed process still has the lease, until it expires.
        clockOffset += KeychainRefreshLease.lifetime
        try setClock()
        start(victim)
        try await bothReady()
        #expect(uses[used] == (death == .release ? 1 : 2))
    }

    private func answer(_ child: String, _ order: String) throws {
        guard let held = waiting.removeValue(forKey: child) else { throw Unexpected(description: "\(child) is not ready") }
        held.answer(PlainListener.answer(200, #"{"order":"\#(order)"}"#))
    }

    /// Returns the next request. Throws if a process ended instead, or after the time limit of the test.
    private func nextRequest() async throws -> Held {
        for await request in requests { return request }
        throw CancellationError()
    }

    private func handle(_ request: Held) async throws {
        switch request.path {
        case "/.well-known/openid-configuration":
            request.answer(
                PlainListener.answer(
                    200,
                    """
                    {"issuer":"\(base)","authorization_endpoint":"\(base)/v1/authorize","token_endpoint":"\(base)/v1/token",\
                    "jwks_uri":"\(base)/v1/keys","response_types_supported":["code"],"subject_types_supported":["public"],\
                    "id_token_signing_alg_values_supported":["ES256"]}
                    """))
        case "/v1/token": request.answer(try tokens(for: request))
        case "/round": waiting[request.child] = request
        case "/ended":
            // The end of a process that the test has killed and started again is expected.
            guard request.query["start"] == starts[request.child].map({ "\($0)" }) else { return }
            throw Unexpected(description: "\(request.child) has ended: \(request.query["output"] ?? "")")
        default: throw Unexpected(description: request.path)
        }
    }

    /// Uses a refresh token, and returns the response with the next one.
    private func tokens(for request: Held) throws -> String {
        let token = Form.values(request.body)["refresh_token"] ?? ""
        uses[token, default: 0] += 1
        guard token == current || lost.contains(token) else { throw Unexpected(description: "\(request.child) sends \(token) again") }
        count += 1
        current = "refresh-\(count)"
        return PlainListener.answer(
            200, #"{"token_type":"Bearer","access_token":"access-\#(count)","refresh_token":"\#(current)","expires_in":3600}"#)
    }
}

/// A request whose thread waits for the response, or the end of a process.
private final class Held: Sendable {
    let path: String
    let query: [String: String]
    let body: String
    /// The process that sent the request.
    let child: String
    private let response = Locked("")
    private let isAnswered = DispatchSemaphore(value: 0)

    init(_ request: PlainListener.Request) {
        let target = request.head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        path = parts.first ?? ""
        query = Form.values(parts.count > 1 ? parts[1] : "")
        body = request.body
        let field = request.head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("x-process:") }
        child = field?.dropFirst("x-process:".count).trimmingCharacters(in: .whitespaces) ?? ""
    }

    init(path: String, query: [String: String], child: String) {
        (self.path, self.query, self.child) = (path, query, child)
        body = ""
    }

    func answer(_ text: String) {
        response.exchange(text)
        isAnswered.signal()
    }

    func wait() -> String {
        isAnswered.wait()
        return response.withLock { $0 }
    }
}

// MARK: - The processes

/// One of the processes: it refreshes the session as often as the test tells it.
private struct SharingProcess {
    static let name = "COUNTERSIGN_TEST_PROCESS"
    static let folder = "COUNTERSIGN_TEST_FOLDER"
    static let issuer = "COUNTERSIGN_TEST_ISSUER"
    static let keychainFile = "keychain.json"
    static let clockFile = "clock"

    private let name: String
    private let issuer: String
    private let folder: URL

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        name = try #require(environment[Self.name])
        issuer = try #require(environment[Self.issuer])
        folder = URL(filePath: try #require(environment[Self.folder]))
    }

    func run() async throws {
        let clock = SharedClock(file: folder.appending(path: Self.clockFile))
        let device = KeychainDouble(clock: clock, file: KeychainFile(url: folder.appending(path: Self.keychainFile)))
        let keychain = MortalKeychain(app: KeychainDouble.App(device: device))
        try await Credential.withStorage(KeychainTokenStorage(keychain, clock: clock), session: PlainSession(), clock: clock) {
            let credential = try #require(try Credential.loadDefault())
            credential.oauth2.additionalHttpHeaders = ["X-Process": name]
            while true {
                let order = try await order(after: credential)
                if order == "read" {
                    _ = try Credential.loadDefault()
                    continue
                }
                keychain.death.exchange(KeychainProcessTests.Death(rawValue: order))
                try await credential.refresh()
            }
        }
    }

    /// Reports the state of the credential, and returns what to do.
    private func order(after credential: Credential) async throws -> String {
        let state = if case .active = credential.sessionState { "active" } else { "\(credential.sessionState)" }
        let data = try await send("/round", ["token": credential.token.refreshToken ?? "", "state": state])
        return try JSONDecoder().decode([String: String].self, from: data)["order"] ?? ""
    }

    private func send(_ path: String, _ query: [String: String]) async throws -> Data {
        var components = try #require(URLComponents(string: issuer + path))
        components.queryItems = query.map { URLQueryItem(name: $0, value: $1) }
        var request = URLRequest(url: try #require(components.url))
        request.setValue(name, forHTTPHeaderField: "X-Process")
        return try await PlainHTTP.data(for: request).0
    }
}

private struct PlainSession: URLSessionProtocol {
    var configuration: URLSessionConfiguration { .ephemeral }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let (data, response) = try await PlainHTTP.data(for: request)
        return (data, response)
    }
}

/// The clock of all processes: the device's clock and an offset in seconds, which the test changes.
private struct SharedClock: OAuth2Clock {
    let file: URL

    var now: Date {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return DeviceClock().now.addingTimeInterval(TimeInterval(text) ?? 0)
    }

    func sleep(for interval: TimeInterval) async throws { try await DeviceClock().sleep(for: interval) }
}

/// A Keychain whose process is killed right before an operation.
private final class MortalKeychain: KeychainAccess {
    let death = Locked<KeychainProcessTests.Death?>(nil)
    private let app: KeychainDouble.App

    init(app: KeychainDouble.App) { self.app = app }

    private func die(_ point: KeychainProcessTests.Death) {
        guard death.withLock({ $0 }) == point else { return }
        kill(getpid(), SIGKILL)
    }

    func add(_ item: KeychainRecord, context: (any TokenAuthenticationContext)?) -> OSStatus { app.add(item, context: context) }

    func list(_ query: KeychainQuery) -> Result<[KeychainRecord], KeychainStatus> { app.list(query) }

    func read(
        _ query: KeychainQuery, prompt: String?, context: (any TokenAuthenticationContext)?
    ) -> Result<KeychainRecord, KeychainStatus> { app.read(query, prompt: prompt, context: context) }

    func update(_ query: KeychainQuery, _ changes: KeychainChanges, context: (any TokenAuthenticationContext)?) -> OSStatus {
        if query.service == KeychainTokenStorageTests.tokens { die(.store) }
        return app.update(query, changes, context: context)
    }

    func delete(_ query: KeychainQuery) -> OSStatus {
        if query.service == KeychainRefreshLease.service { die(.release) }
        return app.delete(query)
    }
}
#endif
