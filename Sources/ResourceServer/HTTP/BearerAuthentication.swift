internal import HTTPTypes
public import Hummingbird
internal import JOSE
internal import Logging

/// A request context that carries the access token that a request proved.
public protocol AccessTokenRequestContext: RequestContext {
    /// The verified token; set by ``BearerAuthentication``.
    var accessToken: AccessToken? { get set }
}

/// The plainest ``AccessTokenRequestContext``.
public struct ResourceRequestContext: AccessTokenRequestContext {
    /// What Hummingbird keeps.
    public var coreContext: CoreRequestContextStorage
    /// The verified token; nil before ``BearerAuthentication`` ran.
    public var accessToken: AccessToken?

    /// Makes the context of one request.
    ///
    /// - Parameter source: Where the request came from.
    public init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}

/// Middleware that lets requests with a good access token pass and answers all others as
/// [RFC 6750](https://www.rfc-editor.org/rfc/rfc6750#section-3) says.
///
/// ```swift
/// let verifier = AccessTokenVerifier(issuer: "https://id.example.com/oauth2/default", clientID: "0oa…")
/// let router = Router(context: ResourceRequestContext.self)
/// router.group("api").add(middleware: BearerAuthentication(verifier: verifier, scopes: ["messages.read"]))
/// ```
///
/// No token: 401 and a plain challenge. A bad one: 401 `invalid_token`. One that lacks a scope: 403 `insufficient_scope`. A token in
/// the query, or an unreadable header: 400 `invalid_request`. The issuer can't be asked: 503. `Sendable`; one value serves all requests.
public struct BearerAuthentication<Context: AccessTokenRequestContext>: RouterMiddleware {
    private let verifier: AccessTokenVerifier
    private let scopes: [String]
    private let realm: String

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - verifier: Checks the tokens.
    ///   - scopes: What a token must have beside the verifier's own required scopes; all of them.
    ///   - realm: The name of what is protected, shown in the challenge; the verifier's audience by default.
    public init(verifier: AccessTokenVerifier, scopes: [String] = [], realm: String? = nil) {
        self.verifier = verifier
        self.scopes = scopes
        self.realm = realm ?? verifier.configuration.audience
    }

    /// Checks the token, then goes on or refuses.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: Its context, which gets the token.
    ///   - next: What comes after.
    /// - Returns: The answer of what comes after, or the refusal.
    /// - Throws: What `next` throws.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            var context = context
            context.accessToken = try await verifier.verify(try BearerToken.token(in: request), scopes: scopes)
            return try await next(request, context)
        } catch let error as AccessTokenError {
            context.logger.info("Access refused", metadata: ["reason": .string(error.description)])
            return refusal(error)
        }
    }

    private func refusal(_ error: AccessTokenError) -> Response {
        let challenge = BearerChallenge(error)
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if challenge.status == 503 {
            headers[.retryAfter] = "5"
        } else {
            headers[.wwwAuthenticate] = challenge.headerValue(realm: realm)
        }
        var body: [String: JSONValue] = ["error_description": .string(error.message)]
        body["error"] = .string(challenge.error ?? (challenge.status == 503 ? "temporarily_unavailable" : "token_required"))
        return Response(
            status: HTTPResponse.Status(code: challenge.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONValue.object(body).serialized())))
    }
}
