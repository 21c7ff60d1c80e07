public import Foundation
internal import HTTPTypes
public import Hummingbird
internal import JOSE
public import Logging
public import NIOCore

/// The sample resource server: an API that two messages can be read from, with an access token.
///
/// - `GET /` says what this is; no token is needed.
/// - `GET /secure` answers the token's claims.
/// - `GET /api/messages` answers `{"messages": [{"date": …, "text": …}, …]}`.
///
/// ```swift
/// let service = MessagesService(issuer: "http://localhost:8080/oauth2/default", clientID: "password-app")
/// try await service.application().runService()
/// ```
///
/// `Sendable`; one value serves all requests.
public struct MessagesService: Sendable {
    /// Checks the tokens.
    public let verifier: AccessTokenVerifier
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - verifier: Checks the tokens.
    ///   - now: The wall clock that messages are dated by.
    ///   - logger: Where refusals are logged.
    public init(
        verifier: AccessTokenVerifier, now: @escaping @Sendable () -> Date = { Date() },
        logger: Logger = Logger(label: "countersign.messages")
    ) {
        self.verifier = verifier
        self.now = now
        self.logger = logger
    }

    /// Makes the service from what its users know: who issues the tokens, and to which client.
    ///
    /// - Parameters:
    ///   - issuer: The issuer's URL.
    ///   - clientID: The `cid` that tokens must have; nil for any client.
    public init(issuer: String, clientID: String?) {
        self.init(verifier: AccessTokenVerifier(issuer: issuer, clientID: clientID))
    }

    /// The routes, for an application that mounts them beside its own.
    ///
    /// - Returns: A router with every route of the service.
    public func router() -> Router<ResourceRequestContext> {
        let router = Router(context: ResourceRequestContext.self)
        // Ahead of authentication, so that a browser's preflight, which carries no token, is answered.
        router.add(
            middleware: CORSMiddleware(
                allowOrigin: .all, allowHeaders: [.accept, .authorization, .contentType, .dpop], allowMethods: [.get, .head, .options],
                maxAge: .hours(1)))
        router.add(middleware: ExposedHeaders())
        router.get("/") { _, _ in
            Self.answer(["service": "Countersign's sample resource server", "try": "GET /api/messages with an access token"])
        }
        let authenticated = router.group().add(middleware: BearerAuthentication(verifier: verifier))
        authenticated.get("secure") { _, context in
            Self.answer(.object(context.accessToken?.claims ?? [:]))
        }
        authenticated.get("api/messages") { _, _ in
            Self.answer(["messages": .array(Message.samples(now: now()).map(\.json))])
        }
        return router
    }

    /// The service as an application that listens.
    ///
    /// - Parameters:
    ///   - hostname: The address to listen on.
    ///   - port: The port to listen on, 0 to 65535; 0 takes a free one, which `onServerRunning` is told.
    ///   - onServerRunning: Called with the listening channel.
    /// - Returns: An application; `runService()` runs it until it is told to stop.
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

/// Lets pages of other origins read the headers that tell why they were refused, and the nonce to use.
///
/// Browsers look for the permission in the answer itself (Fetch standard, "CORS protocol"); `CORSMiddleware` gives it to preflights only.
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

/// One message of the sample service.
struct Message: Equatable {
    let date: Date
    let text: String

    /// The two messages that the service always has.
    static func samples(now: Date) -> [Message] {
        [
            Message(date: now, text: "I am a robot."),
            Message(date: now.addingTimeInterval(-3600), text: "Hello, world!"),
        ]
    }

    var json: JSONValue {
        ["date": .string(date.formatted(Self.format)), "text": .string(text)]
    }

    /// ISO 8601 with milliseconds and Z: `2025-07-03T19:06:59.799Z`.
    private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
