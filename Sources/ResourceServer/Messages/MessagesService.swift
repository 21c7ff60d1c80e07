public import Foundation
internal import HTTPTypes
public import Hummingbird
internal import JOSE
public import Logging
public import NIOCore

/// A sample resource server: an API that returns two messages to clients with an access token.
/// - `GET /` describes the service and needs no token.
/// - `GET /secure` returns the claims of the token.
/// - `GET /api/messages` returns `{"messages": [{"date": …, "text": …}, …]}`.
/// - `GET /api/messages/private` returns private messages in the same form. It needs a sign-in with two factors or a passkey that is at most
///   five minutes old, and answers other tokens with a step-up challenge (RFC 9470).
/// - `GET /.well-known/oauth-protected-resource/api/messages` returns the metadata (RFC 9728), if the service publishes it.
///
/// ```swift
/// let service = MessagesService(issuer: "http://localhost:8080/oauth2/default", clientID: "password-app")
/// try await service.application().runService()
/// ```
/// `Sendable`; one value serves all requests.
public struct MessagesService: Sendable {
    /// The verifier of the access tokens.
    public let verifier: AccessTokenVerifier
    private let publishesMetadata: Bool
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Creates the service.
    /// - Parameters:
    ///   - verifier: The verifier of the access tokens.
    ///   - publishesMetadata: Whether the service publishes its metadata and names it in challenges. The URLs in it begin with
    ///     ``ProofRules/origin``. If that is `nil`, they begin with the loopback address of the request, and requests for other hosts get no
    ///     metadata.
    ///   - now: The wall clock that dates the messages.
    ///   - logger: The logger of the server.
    public init(
        verifier: AccessTokenVerifier, publishesMetadata: Bool = false, now: @escaping @Sendable () -> Date = { Date() },
        logger: Logger = Logger(label: "countersign.messages")
    ) {
        self.verifier = verifier
        self.publishesMetadata = publishesMetadata
        self.now = now
        self.logger = logger
    }

    /// Creates the service with a verifier for one issuer and one client.
    /// - Parameter clientID: The required client (`cid`); `nil` accepts every client.
    public init(issuer: String, clientID: String?) {
        self.init(verifier: AccessTokenVerifier(issuer: issuer, clientID: clientID))
    }

    /// Returns a router with all routes of the service, for applications that have routes of their own.
    public func router() -> Router<ResourceRequestContext> {
        let router = Router(context: ResourceRequestContext.self)
        // The CORS middleware runs before authentication, because a browser's preflight request has no token.
        router.add(
            middleware: CORSMiddleware(
                allowOrigin: .all, allowHeaders: [.accept, .authorization, .contentType, .dpop], allowMethods: [.get, .head, .options],
                maxAge: .hours(1)))
        router.add(middleware: ExposedHeaders())
        router.get("/") { _, _ in
            Self.answer(["service": "Countersign's sample resource server", "try": "GET /api/messages with an access token"])
        }
        if publishesMetadata {
            router.get(RouterPath(ProtectedResourceMetadata.wellKnownPath + Self.messagesPath)) { request, _ in
                metadata(for: request)?.response ?? Response(status: .notFound)
            }
        }
        let authenticated = router.group().add(middleware: BearerAuthentication(verifier: verifier) { metadata(for: $0) })
        authenticated.get("secure") { _, context in
            Self.answer(.object(context.accessToken?.claims ?? [:]))
        }
        authenticated.get(RouterPath(Self.messagesPath)) { _, _ in
            Self.answer(["messages": .array(Message.samples(now: now()).map(\.json))])
        }
        let steppedUp = router.group().add(
            middleware: BearerAuthentication(verifier: verifier, authentication: Self.privateAuthentication) { metadata(for: $0) })
        steppedUp.get(RouterPath(Self.messagesPath + "/private")) { _, _ in
            Self.answer(["messages": .array(Message.privateSamples(now: now()).map(\.json))])
        }
        return router
    }

    private static let messagesPath = "/api/messages"

    /// The sign-in that the private messages need: two factors or a passkey, at most five minutes ago.
    private static let privateAuthentication = AuthenticationRequirement(
        acrValues: ["urn:okta:loa:2fa:any", "phr", "phrh"], maxAge: 300)

    private func metadata(for request: Request) -> ProtectedResourceMetadata? {
        guard publishesMetadata, let origin = verifier.configuration.proofs.origin ?? request.loopbackOrigin else { return nil }
        return try? ProtectedResourceMetadata(
            resource: origin + Self.messagesPath, authorizationServers: [verifier.configuration.issuer],
            scopes: verifier.configuration.requiredScopes, name: "Countersign's sample messages")
    }

    /// Returns an application that listens on an address. `runService()` runs it until it is stopped.
    /// - Parameters:
    ///   - hostname: The address to listen on.
    ///   - port: The port to listen on, 0 to 65535. 0 selects a free port, which `onServerRunning` can read from its channel.
    ///   - onServerRunning: Called with the channel when the application listens.
    public func application(
        hostname: String = "127.0.0.1", port: Int = 8000,
        onServerRunning: @escaping @Sendable (any Channel) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        Application(
            router: router(),
            configuration: ApplicationConfiguration(address: .hostname(hostname, port: port), serverName: "countersign-messages"),
            onServerRunning: onServerRunning, logger: logger)
    }

    private static func answer(_ value: JSONValue) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.serialized())))
    }
}

/// The middleware that lets scripts of other origins read the challenge and the nonce.
/// Browsers require this permission in the actual response (Fetch standard, "CORS protocol"). `CORSMiddleware` sends it only with preflight
/// responses.
struct ExposedHeaders<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if request.headers[.origin] != nil, request.method != .options {
            response.headers[.accessControlExposeHeaders] =
                [HTTPField.Name.wwwAuthenticate, .dpopNonce].map(\.rawName).joined(separator: ", ")
        }
        return response
    }
}

struct Message: Equatable {
    let date: Date
    let text: String

    static func samples(now: Date) -> [Message] {
        [
            Message(date: now, text: "I am a robot."),
            Message(date: now.addingTimeInterval(-3600), text: "Hello, world!"),
        ]
    }

    static func privateSamples(now: Date) -> [Message] {
        [Message(date: now, text: "Only you can read this: the robot is afraid of thunderstorms.")]
    }

    var json: JSONValue {
        ["date": .string(date.formatted(Self.format)), "text": .string(text)]
    }

    /// ISO 8601 with milliseconds in UTC: `2025-07-03T19:06:59.799Z`.
    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
