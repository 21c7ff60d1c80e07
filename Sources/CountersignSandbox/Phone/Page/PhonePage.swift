internal import AuthorizationServer
internal import DeviceAuthenticator
internal import Foundation
internal import Hummingbird
internal import JOSE
internal import Logging
internal import NIOCore

/// The page with the virtual phones, for a browser on this machine. It shows the phones' state and forwards commands to them. All resources
/// are local. Untrusted text, such as app names and messages, is sent only as JSON; the script inserts it as text.
struct PhonePage: Sendable {
    /// The largest body of a command, in bytes.
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

    /// Creates the application that serves the page on the loopback interface. Port 0 selects a free one. `onServerRunning` is called when
    /// it listens.
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

    /// `/phones` enrolls a phone; `/phones/{login}/{action}` performs an action.
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
            return refusal(.internalServerError, error.localizedDescription)
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
                        // Sent even without a change, so that the page follows a changed clock and a closed page is detected.
                        let event = "event: state\ndata: \(state.serializedString)\n\n"
                        try await writer.write(ByteBuffer(string: event))
                    }
                }
                try await writer.finish(nil)
            })
    }
}
