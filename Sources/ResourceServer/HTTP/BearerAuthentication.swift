internal import HTTPTypes
public import Hummingbird
internal import JOSE
internal import Logging

/// A request context that carries the access token that a request proved.
public protocol AccessTokenRequestContext: RequestContext {
    /// The verified token; set by ``BearerAuthentication``.
    var accessToken: AccessToken? { get set }
}

extension HTTPField.Name {
    static let dpop = literal("DPoP")
    static let dpopNonce = literal("DPoP-Nonce")

    /// Only for the literals above: one that is no name stops the first request of any test.
    private static func literal(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name(name.description) else { preconditionFailure("\(name) is no header name") }
        return field
    }
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
/// [RFC 6750](https://www.rfc-editor.org/rfc/rfc6750#section-3) and [RFC 9449](https://www.rfc-editor.org/rfc/rfc9449#section-7) say.
///
/// ```swift
/// let verifier = AccessTokenVerifier(issuer: "https://id.example.com/oauth2/default", clientID: "0oa…")
/// let router = Router(context: ResourceRequestContext.self)
/// router.group("api").add(middleware: BearerAuthentication(verifier: verifier, scopes: ["messages.read"]))
/// ```
///
/// No token: 401 and a plain challenge. A bad one: 401 `invalid_token`. One that lacks a scope: 403 `insufficient_scope`. A token in
/// the query, or an unreadable header: 400 `invalid_request`. The issuer can't be asked: 503.
///
/// A token that is bound to a key comes by the scheme `DPoP`, with a proof for this request; set the API's origin in
/// ``AccessTokenVerifier/Configuration/proofs``. As a bearer token it is refused: 401 `invalid_token`. A proof that is not good: 401
/// `invalid_dpop_proof`, or `use_dpop_nonce` with a nonce. `Sendable`; one value serves all requests.
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
        var isByProof = false
        do {
            var context = context
            switch try PresentedToken(request) {
            case .bearer(let token): context.accessToken = try await verifier.verify(token, scopes: scopes)
            case .dpop(let token):
                isByProof = true
                context.accessToken = try await verifier.verify(token, proof: try proof(of: request), scopes: scopes)
            }
            return try await next(request, context)
        } catch let error as AccessTokenError {
            context.logger.info("Access refused", metadata: ["reason": .string(error.description)])
            return refusal(error, byProof: isByProof)
        }
    }

    /// What a request carries beside a token that is bound to a key. It is for the URL that the API has, not for the one that the request
    /// says it was sent to: who can read a request that was meant for somebody else must not use it here.
    private func proof(of request: Request) throws(AccessTokenError) -> RequestProof {
        let path = String(request.head.path?.prefix { $0 != "?" } ?? "/")
        guard let origin = verifier.configuration.proofs.origin ?? Self.loopbackOrigin(request.head.authority) else {
            throw AccessTokenError(.badProof, "Proofs are accepted once the API is told its origin: set it in its ProofRules.")
        }
        return RequestProof(values: request.headers[values: .dpop], method: request.method.rawValue, url: origin + path)
    }

    /// The origin of a request that was sent to this machine by its own names for itself; nil for any other.
    private static func loopbackOrigin(_ authority: String?) -> String? {
        guard let authority else { return nil }
        let isLoopback = ["localhost", "127.0.0.1", "[::1]"].contains { authority == $0 || authority.hasPrefix($0 + ":") }
        return isLoopback ? "http://" + authority : nil
    }

    private func refusal(_ error: AccessTokenError, byProof: Bool) -> Response {
        let challenge = AccessTokenChallenge(error, byProof: byProof)
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if challenge.status == 503 {
            headers[.retryAfter] = "5"
        } else {
            headers[.wwwAuthenticate] = challenge.headerValue(realm: realm, acceptsProofs: verifier.configuration.proofs.origin != nil)
        }
        if let nonce = error.nonce { headers[.dpopNonce] = nonce }
        var body: [String: JSONValue] = ["error_description": .string(error.message)]
        body["error"] = .string(challenge.error ?? (challenge.status == 503 ? "temporarily_unavailable" : "token_required"))
        return Response(
            status: HTTPResponse.Status(code: challenge.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONValue.object(body).serialized())))
    }
}
