internal import HTTPTypes
public import Hummingbird
internal import JOSE
internal import Logging

/// A request context that stores the verified access token.
public protocol AccessTokenRequestContext: RequestContext {
    /// The verified token; `nil` until ``BearerAuthentication`` has run.
    var accessToken: AccessToken? { get set }
}

extension HTTPField.Name {
    static let dpop = literal("DPoP")
    static let dpopNonce = literal("DPoP-Nonce")

    /// Returns a header name; traps if the name is invalid. It is used only for the constants above, so that any test would find an invalid
    /// name.
    private static func literal(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name(name.description) else { preconditionFailure("\(name) is no header name") }
        return field
    }
}

/// A minimal ``AccessTokenRequestContext``.
public struct ResourceRequestContext: AccessTokenRequestContext {
    /// Hummingbird's own storage.
    public var coreContext: CoreRequestContextStorage
    /// The verified token; `nil` until ``BearerAuthentication`` has run.
    public var accessToken: AccessToken?

    /// Creates the context of one request.
    public init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}

/// Middleware that passes only requests with a valid access token. It rejects other requests as RFC 6750 §3, RFC 9449 §7 and RFC 9470 §3
/// specify.
///
/// ```swift
/// let verifier = AccessTokenVerifier(issuer: "https://id.example.com/oauth2/default", clientID: "0oa…")
/// let router = Router(context: ResourceRequestContext.self)
/// router.group("api").add(middleware: BearerAuthentication(verifier: verifier, scopes: ["messages.read"]))
/// ```
/// | Request | Response |
/// |---|---|
/// | Without a token | 401 and a plain challenge |
/// | Invalid token, or a key-bound token as a bearer token | 401 `invalid_token` |
/// | Missing scope | 403 `insufficient_scope` |
/// | Sign-in too weak or too old | 401 `insufficient_user_authentication`, with `acr_values` and `max_age` |
/// | Token in the query, or an unreadable header | 400 `invalid_request` |
/// | Invalid proof | 401 `invalid_dpop_proof` |
/// | Proof without a valid nonce | 401 `use_dpop_nonce`, with a nonce |
/// | Issuer unavailable, or too many proofs | 503 |
///
/// A key-bound token requires the scheme `DPoP` and a proof for this request. To accept proofs, set the API's origin in
/// ``AccessTokenVerifier/Configuration/proofs``. If the middleware has the metadata of the resource, each challenge names the URL of the
/// metadata (RFC 9728 §5.1). `Sendable`; one value serves all requests.
public struct BearerAuthentication<Context: AccessTokenRequestContext>: RouterMiddleware {
    private let verifier: AccessTokenVerifier
    private let scopes: [String]
    private let authentication: AuthenticationRequirement?
    private let realm: String
    private let metadata: @Sendable (Request) -> ProtectedResourceMetadata?

    /// Creates the middleware.
    /// - Parameters:
    ///   - scopes: Scopes that a token must have in addition to the verifier's required scopes.
    ///   - authentication: The required sign-in of the user (RFC 9470); `nil` accepts every sign-in, and tokens without a user.
    ///   - realm: The realm in the challenge; the verifier's audience by default.
    ///   - metadata: The metadata whose URL the challenges name; `nil` for none. The middleware does not serve the metadata; see
    ///     ``ProtectedResourceMetadata/addRoute(to:)``.
    public init(
        verifier: AccessTokenVerifier, scopes: [String] = [], authentication: AuthenticationRequirement? = nil, realm: String? = nil,
        metadata: ProtectedResourceMetadata? = nil
    ) {
        self.init(verifier: verifier, scopes: scopes, authentication: authentication, realm: realm) { _ in metadata }
    }

    /// Creates the middleware with metadata that depends on the request.
    init(
        verifier: AccessTokenVerifier, scopes: [String] = [], authentication: AuthenticationRequirement? = nil, realm: String? = nil,
        metadata: @escaping @Sendable (Request) -> ProtectedResourceMetadata?
    ) {
        self.verifier = verifier
        self.scopes = scopes
        self.authentication = authentication
        self.realm = realm ?? verifier.configuration.audience
        self.metadata = metadata
    }

    /// Verifies the token, stores it in the context and calls `next`, or rejects the request.
    /// - Throws: Errors of `next`, except an ``AccessTokenError``, which becomes a rejection.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var isByProof = false
        do {
            var context = context
            switch try PresentedToken(request) {
            case .bearer(let token):
                context.accessToken = try await verifier.verify(token, scopes: scopes, authentication: authentication)
            case .dpop(let token):
                isByProof = true
                context.accessToken = try await verifier.verify(
                    token, proof: try proof(of: request), scopes: scopes, authentication: authentication)
            }
            return try await next(request, context)
        } catch let error as AccessTokenError {
            context.logger.info("Access refused", metadata: ["reason": .string(error.description)])
            return refusal(error, byProof: isByProof, of: request)
        }
    }

    /// Returns the proof of a request.
    /// The proof must match the API's configured URL, not the request's `Host`. Otherwise an attacker could reuse a request that was meant
    /// for another server.
    private func proof(of request: Request) throws(AccessTokenError) -> RequestProof {
        let path = String(request.head.path?.prefix { $0 != "?" } ?? "/")
        guard let origin = verifier.configuration.proofs.origin ?? request.loopbackOrigin else {
            throw AccessTokenError(.badProof, "Proofs are accepted once the API is told its origin: set it in its ProofRules.")
        }
        return RequestProof(values: request.headers[values: .dpop], method: request.method.rawValue, url: origin + path)
    }

    private func refusal(_ error: AccessTokenError, byProof: Bool, of request: Request) -> Response {
        let refusal = AccessTokenRefusal(error, byProof: byProof)
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if refusal.status == 503 {
            headers[.retryAfter] = "5"
        } else {
            headers[.wwwAuthenticate] = refusal.challenge(
                realm: realm, acceptsProofs: verifier.configuration.proofs.origin != nil, metadataURL: metadata(request)?.url)
        }
        if let nonce = error.nonce { headers[.dpopNonce] = nonce }
        var body: [String: JSONValue] = ["error_description": .string(error.message)]
        body["error"] = .string(refusal.error ?? (refusal.status == 503 ? "temporarily_unavailable" : "token_required"))
        return Response(
            status: HTTPResponse.Status(code: refusal.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONValue.object(body).serialized())))
    }
}

extension Request {
    /// The origin of a request that was sent to a loopback host name; `nil` for other hosts.
    var loopbackOrigin: String? {
        guard let authority = head.authority else { return nil }
        let isLoopback = ["localhost", "127.0.0.1", "[::1]"].contains { authority == $0 || authority.hasPrefix($0 + ":") }
        return isLoopback ? "http://" + authority : nil
    }
}

/// The status and the challenge (`WWW-Authenticate`) of a rejected request (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3).
struct AccessTokenRefusal {
    let status: Int
    /// The error code of the RFC; `nil` for a request without a token (RFC 6750 §3.1) and for a 503.
    let error: String?
    let description: String?
    let scope: String?
    let authentication: AuthenticationRequirement?
    /// Whether the challenge uses the scheme `DPoP`.
    let isForProof: Bool

    /// Creates the refusal for an error. `byProof` says whether the token was sent with the scheme `DPoP`.
    init(_ error: AccessTokenError, byProof: Bool) {
        switch error.code {
        case .missing:
            self.init(401, nil, nil, byProof)
        case .badRequest:
            self.init(400, "invalid_request", error.message, byProof)
        case .insufficientScope:
            self.init(403, "insufficient_scope", error.message, byProof, scope: error.requiredScopes.joined(separator: " "))
        case .insufficientAuthentication:
            self.init(
                401, "insufficient_user_authentication", error.message, byProof,
                scope: error.requiredScopes.isEmpty ? nil : error.requiredScopes.joined(separator: " "),
                authentication: error.requiredAuthentication)
        case .issuerUnavailable, .busy: self.init(503, nil, error.message, byProof)
        case .badProof: self.init(401, "invalid_dpop_proof", error.message, true)
        case .nonceNeeded: self.init(401, "use_dpop_nonce", error.message, true)
        case .keyNotProved: self.init(401, "invalid_token", error.message, true)
        default: self.init(401, "invalid_token", error.message, byProof)
        }
    }

    private init(
        _ status: Int, _ error: String?, _ description: String?, _ isForProof: Bool, scope: String? = nil,
        authentication: AuthenticationRequirement? = nil
    ) {
        self.status = status
        self.error = error
        self.description = description
        self.scope = scope
        self.authentication = authentication
        self.isForProof = isForProof
    }

    /// Returns the value of `WWW-Authenticate`. It always contains a realm, because a challenge needs at least one parameter.
    /// If the request had no token and `acceptsProofs` is true, the value contains a challenge for each scheme.
    func challenge(realm: String, acceptsProofs: Bool, metadataURL: String? = nil) -> String {
        let value = AccessTokenChallenge.value(
            isForProof ? .dpop : .bearer, realm: realm, error: error, description: description, scope: scope,
            contextClasses: authentication?.acrValues ?? [], maxAge: authentication?.maxAge, resourceMetadata: metadataURL)
        guard error == nil, acceptsProofs, !isForProof else { return value }
        return value + ", " + AccessTokenChallenge.value(.dpop, realm: realm, resourceMetadata: metadataURL)
    }
}

extension PresentedToken {
    /// The maximum size of a token, in bytes.
    static let maximumLength = 16_384

    /// Reads the token of a request, which must be in the `Authorization` header.
    init(_ request: Request) throws(AccessTokenError) {
        guard request.uri.queryParameters["access_token"] == nil else {
            throw AccessTokenError(
                .badRequest, "The access token must not be in the URL, which is logged: send it in the Authorization header.")
        }
        let values = request.headers[values: .authorization]
        guard let value = values.first else { throw Self.none }
        guard values.count == 1 else {
            throw AccessTokenError(.badRequest, "The request has more than one Authorization header.")
        }
        let header = AuthorizationHeader(value)
        guard let token = PresentedToken(header) else { throw Self.none }
        guard Self.isToken(header.remainder) else {
            throw AccessTokenError(
                .badRequest,
                "The Authorization header must be: \(header.scheme == "dpop" ? "DPoP" : "Bearer"), one space, the access token.")
        }
        self = token
    }

    private static var none: AccessTokenError {
        AccessTokenError(.missing, "The request needs an access token: Authorization: Bearer and the token.")
    }

    /// Whether the text is a `b64token` (RFC 6750 §2.1).
    private static func isToken(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumLength
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"),
                    UInt8(ascii: "="):
                    true
                default: false
                }
            }
    }
}
