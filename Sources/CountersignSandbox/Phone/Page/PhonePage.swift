internal import AuthFoundation
internal import AuthorizationServer
internal import Crypto
internal import DeviceAuthenticator
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import JOSE
internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore

/// The page with the virtual phones, for a browser on this machine. It shows the phones' state and forwards commands to them. All resources
/// are local. Untrusted text, such as app names and messages, is sent only as JSON; the script inserts it as text.
struct PhonePage: Sendable {
    /// The maximum size of a command's body, in bytes.
    private static let maximumBody = 16 << 10
    /// The interval at which the phones fetch pending requests while a page is open, in seconds of real time.
    private static let foregroundInterval = 2

    private let commands: PhoneCommands
    private let foreground: PhoneForeground
    private let people: @Sendable () -> [SandboxUser]
    private let clock: SandboxClock
    private let rules: PhonePageRules
    private let document: [UInt8]

    /// Creates a page that is not served yet. Throws if the system provides no random bytes for the token.
    init(phones: VirtualPhones, people: @escaping @Sendable () -> [SandboxUser], clock: SandboxClock) throws {
        commands = PhoneCommands(phones: phones)
        foreground = PhoneForeground(
            pause: { try await Task.sleep(for: .seconds(Self.foregroundInterval), clock: .continuous) },
            look: {
                for phone in phones.all where !phone.waiting.isEmpty && !phone.isOffline {
                    // A failed fetch is repeated later; the page reports errors only for the user's own commands.
                    _ = try? await phone.pending()
                }
            })
        self.people = people
        self.clock = clock
        rules = PhonePageRules(token: Base64URL.encode(try SystemRandomSource().bytes(32)))
        let html = String(decoding: PackageResources.phone_html, as: UTF8.self)
        document = Array(html.replacing("{{token}}", with: rules.token).utf8)
    }

    /// Creates the application that serves the page on the loopback interface. Port 0 selects a free port. `onServerRunning` is called when
    /// the application listens.
    func application(
        port: Int, logger: Logger, onServerRunning: @escaping @Sendable (any Channel) async -> Void
    ) -> some ApplicationProtocol {
        Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in await respond(to: request) },
            server: AcceptedConnections.server(),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port), serverName: "countersign-phones"),
            onServerRunning: { channel in
                rules.listens(on: channel.localAddress?.port ?? port)
                await onServerRunning(channel)
            }, logger: logger)
    }

    private func respond(to request: Request) async -> Response {
        // Prevents DNS rebinding: for the browser, a page whose host name resolves to this machine has the same origin.
        guard rules.isAddressed(request) else { return refusal(.forbidden, "The phones answer at their own host and port only.") }
        switch (request.method, request.uri.path) {
        case (.get, "/"): return answer(document, type: "text/html; charset=utf-8")
        case (.get, "/phone.css"): return answer(PackageResources.phone_css, type: "text/css; charset=utf-8")
        case (.get, "/phone.js"): return answer(PackageResources.phone_js, type: "text/javascript; charset=utf-8")
        case (.get, "/icon.svg"): return answer(PackageResources.icon_svg, type: "image/svg+xml")
        case (.get, "/events") where rules.isOfOwnPage(request): return events()
        case (.post, _):
            guard rules.mayAct(request) else { return refusal(.forbidden, "Only the phones' own page can use them. Load it again.") }
            return await act(request)
        default: return refusal(.notFound, "There is no such page.")
        }
    }

    private func answer(_ body: [UInt8], type: String, status: HTTPResponse.Status = .ok) -> Response {
        var headers = PhonePageRules.headers
        headers[.contentType] = type
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    private func refusal(_ status: HTTPResponse.Status, _ message: String) -> Response {
        answer((["error": .string(message)] as JSONValue).serialized(), type: "application/json", status: status)
    }

    /// Performs the command of a request: `/phones` enrolls a phone; `/phones/{login}/{action}` performs an action on a phone.
    private func act(_ request: Request) async -> Response {
        do {
            let body = try ControlBody(Array(try await request.body.collect(upTo: Self.maximumBody).readableBytesView))
            let parts = request.uri.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
                .map { $0.removingPercentEncoding ?? String($0) }
            guard parts.first == "phones" else { return refusal(.notFound, "There is no such command.") }
            if parts.count == 1 {
                _ = try await commands.add(body)
            } else {
                guard parts.count == 3, let phone = commands.phones.known(parts[1]),
                    try await commands.perform(parts[2], on: phone, body) != nil
                else { return refusal(.notFound, "There is no such phone or command.") }
            }
            return answer(state.serialized(), type: "application/json")
        } catch let error as ControlBody.Invalid {
            return refusal(.badRequest, error.message)
        } catch let error as PhoneError {
            return refusal(.conflict, error.message)
        } catch let error as DeviceAuthenticatorError {
            return refusal(.conflict, VirtualPhone.text(of: error))
        } catch let error as HTTPError {
            return refusal(error.status, "The body has more than \(Self.maximumBody) bytes.")
        } catch {
            return refusal(.internalServerError, technicalText(of: error))
        }
    }

    private var state: JSONValue {
        [
            "now": .double(clock.now.timeIntervalSince1970), "phones": .array(commands.phones.all.map(\.json)),
            "people": .array(
                people().map { ["login": .string($0.login), "name": $0.profile["name"]?.stringValue.map(JSONValue.string) ?? .null] }),
        ]
    }

    /// Returns server-sent events (HTML standard, 9.2) with the whole state: at once, and after each change.
    private func events() -> Response {
        var headers = PhonePageRules.headers
        headers[.contentType] = "text/event-stream"
        let changes = commands.phones.changes
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
                let following = Task {
                    for await _ in changes { signal.yield() }
                    signal.finish()
                }
                defer { following.cancel() }
                try await foreground.withViewer(signal) {
                    for await _ in signals {
                        // The state is sent even without a change, so that the page follows a changed clock and a closed page is detected.
                        let event = "event: state\ndata: \(state.serializedString)\n\n"
                        try await writer.write(ByteBuffer(string: event))
                    }
                }
                try await writer.finish(nil)
            })
    }
}

/// The access rules of the phones' page: only a browser on this machine, and no requests from other pages.
final class PhonePageRules: Sendable {
    /// A secret that the page contains; other origins cannot read it.
    let token: String
    private let port = NIOLockedValueBox(0)

    init(token: String) {
        self.token = token
    }

    /// Sets the port. Before that, every request is refused.
    func listens(on port: Int) {
        self.port.withLockedValue { $0 = port }
    }

    private static let names: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    private var origins: Set<String> {
        let port = port.withLockedValue { $0 }
        guard port != 0 else { return [] }
        return Set(Self.names.flatMap { port == 80 ? ["http://\($0)", "http://\($0):80"] : ["http://\($0):\(port)"] })
    }

    /// Whether a request's `Host` is a loopback name with the page's own port.
    func isAddressed(_ request: Request) -> Bool {
        guard let authority = request.head.authority else { return false }
        return origins.contains("http://" + authority.lowercased())
    }

    /// Whether a request comes from the page itself or from no page; `false` for pages of other sites.
    func isOfOwnPage(_ request: Request) -> Bool {
        if let site = Self.fetchSite.flatMap({ request.headers[$0] }), site != "same-origin", site != "none" { return false }
        guard let origin = request.headers[.origin] else { return true }
        return origin.lowercased() == "http://" + (request.head.authority ?? "").lowercased()
    }

    /// Whether a request may change anything: it must come from the page itself, with its token.
    func mayAct(_ request: Request) -> Bool {
        guard isOfOwnPage(request), request.headers[.origin] != nil, let sent = Self.tokenHeader.flatMap({ request.headers[$0] }) else {
            return false
        }
        // Compares digests, so that the time does not reveal how much of the token is correct.
        let isOurs = SHA256.hash(data: Data(sent.utf8)) == SHA256.hash(data: Data(token.utf8))
        return isOurs && request.headers[.contentType] == "application/json"
    }

    private static let tokenHeader = HTTPField.Name("X-Countersign-Token")
    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")

    /// The headers of every response. They forbid foreign resources, inline scripts, framing, caching and content sniffing.
    static let headers: HTTPFields = {
        var headers: HTTPFields = [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]
        let others = [
            "Content-Security-Policy":
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
            "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            "X-Frame-Options": "DENY",
        ]
        for (name, value) in others {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return headers
    }()
}

/// The loop that fetches pending requests regularly while the phones' page is open, as an app in the foreground does. A cancelled sign-in
/// sends no push, so that only a fetch detects it. All viewers share one loop, which stops with the last viewer. Safe from any task.
final class PhoneForeground: Sendable {
    private struct State {
        var viewers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var lastID: UInt64 = 0
        var looking: Task<Void, Never>?
    }

    private let pause: @Sendable () async throws -> Void
    private let look: @Sendable () async -> Void
    private let state = NIOLockedValueBox(State())

    /// Creates the loop. `pause` waits until the next fetch, and throws when its task is cancelled. `look` fetches the pending requests.
    init(pause: @escaping @Sendable () async throws -> Void, look: @escaping @Sendable () async -> Void) {
        self.pause = pause
        self.look = look
    }

    deinit { state.withLockedValue { $0.looking }?.cancel() }

    /// Runs the loop at least while `body` runs, and signals after each fetch.
    func withViewer(_ signal: AsyncStream<Void>.Continuation, _ body: () async throws -> Void) async rethrows {
        let id = enter(signal)
        defer { leave(id) }
        try await body()
    }

    private func enter(_ signal: AsyncStream<Void>.Continuation) -> UInt64 {
        state.withLockedValue { state in
            state.lastID += 1
            state.viewers[state.lastID] = signal
            if state.looking == nil {
                // The last viewer cancels this task.
                state.looking = Task { [weak self, pause] in
                    while (try? await pause()) != nil, !Task.isCancelled { await self?.lookOnce() }
                }
            }
            return state.lastID
        }
    }

    private func lookOnce() async {
        await look()
        for viewer in state.withLockedValue({ Array($0.viewers.values) }) { viewer.yield() }
    }

    private func leave(_ id: UInt64) {
        let over = state.withLockedValue { state -> Task<Void, Never>? in
            state.viewers[id] = nil
            guard state.viewers.isEmpty else { return nil }
            defer { state.looking = nil }
            return state.looking
        }
        over?.cancel()
    }
}
