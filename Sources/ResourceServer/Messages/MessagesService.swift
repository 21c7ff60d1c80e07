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
