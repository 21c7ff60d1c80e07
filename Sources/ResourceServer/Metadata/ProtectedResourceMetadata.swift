public import Foundation
internal import HTTPTypes
public import Hummingbird
public import JOSE

/// The metadata of a protected resource (RFC 9728), by which a client finds the authorization servers and the scopes of an API.
///
/// ```swift
/// let metadata = try ProtectedResourceMetadata(
///     resource: "https://api.example.com/orders", authorizationServers: ["https://id.example.com/oauth2/default"])
/// metadata.addRoute(to: router)
/// router.group("orders").add(middleware: BearerAuthentication(verifier: verifier, metadata: metadata))
/// ```
/// The example serves `https://api.example.com/.well-known/oauth-protected-resource/orders`, and each challenge of the middleware names
/// this URL. The value is `Sendable` and contains no secret.
public struct ProtectedResourceMetadata: Sendable, Equatable {
    /// The well-known path, to which the path of the resource is appended (RFC 9728 §3).
    static let wellKnownPath = "/.well-known/oauth-protected-resource"

    /// The error for a text that is no identifier of a resource.
    public struct InvalidResource: Error, Sendable, Equatable, LocalizedError {
        /// The text.
        public let resource: String

        /// The problem and its remedy.
        public var errorDescription: String? {
            "“\(resource)” does not identify a resource: use an https URL (http for this computer) without user, query and fragment, "
                + "whose path has none of : * { }."
        }
    }

    /// The identifier of the resource (`resource`): the URL under which clients reach it.
    public let resource: String
    /// The issuers whose tokens the resource accepts (`authorization_servers`).
    public var authorizationServers: [String]
    /// The scopes that requests can need (`scopes_supported`).
    public var scopes: [String]
    /// The name for users (`resource_name`); `nil` for none.
    public var name: String?
    /// The documentation for developers (`resource_documentation`); `nil` for none.
    public var documentation: URL?
    /// The policy for the use of data (`resource_policy_uri`); `nil` for none.
    public var policy: URL?
    /// The terms of service (`resource_tos_uri`); `nil` for none.
    public var termsOfService: URL?
    /// Whether every token must be bound to a key (`dpop_bound_access_tokens_required`). This member only informs clients; the resource
    /// must refuse bearer tokens itself.
    public var requiresBoundTokens: Bool

    /// The URL of the metadata.
    public let url: String
    /// The path of the metadata, as in ``url``.
    let path: String

    /// Creates metadata.
    /// - Parameters:
    ///   - resource: The identifier of the resource: an https URL (plain http for loopback hosts only) without user, query and fragment. Its
    ///     path must not contain `:`, `*`, `{` or `}`.
    ///   - authorizationServers: The issuers whose tokens the resource accepts.
    ///   - scopes: The scopes that requests can need.
    ///   - name: The name for users.
    ///   - documentation: The documentation for developers.
    ///   - policy: The policy for the use of data.
    ///   - termsOfService: The terms of service.
    ///   - requiresBoundTokens: Whether every token must be bound to a key.
    /// - Throws: ``InvalidResource``.
    public init(
        resource: String, authorizationServers: [String], scopes: [String] = [], name: String? = nil, documentation: URL? = nil,
        policy: URL? = nil, termsOfService: URL? = nil, requiresBoundTokens: Bool = false
    ) throws(InvalidResource) {
        guard let components = URLComponents(string: resource), let host = components.encodedHost, !host.isEmpty,
            components.scheme == "https" || components.scheme == "http" && ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host),
            components.user == nil, components.password == nil, components.query == nil, components.fragment == nil,
            // The components encode invalid characters; the identifier must not contain any.
            resource.hasSuffix(components.percentEncodedPath),
            // The router gives these characters a meaning of their own.
            !components.percentEncodedPath.contains(where: ":*{}".contains)
        else { throw InvalidResource(resource: resource) }
        self.resource = resource
        self.authorizationServers = authorizationServers
        self.scopes = scopes
        self.name = name
        self.documentation = documentation
        self.policy = policy
        self.termsOfService = termsOfService
        self.requiresBoundTokens = requiresBoundTokens
        // A slash that directly follows the host is removed before the insertion (RFC 9728 §3.1).
        let resourcePath = components.percentEncodedPath
        path = Self.wellKnownPath + (resourcePath == "/" ? "" : resourcePath)
        url = String(resource.dropLast(resourcePath.count)) + path
    }

    /// The document (RFC 9728 §2). Members without a value are left out.
    public var json: JSONValue {
        var members: [String: JSONValue] = [
            "resource": .string(resource), "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": JSONValue(DPoPProof.algorithms.map(\.rawValue)),
        ]
        if !authorizationServers.isEmpty { members["authorization_servers"] = JSONValue(authorizationServers) }
        if !scopes.isEmpty { members["scopes_supported"] = JSONValue(scopes) }
        members["resource_name"] = name.map(JSONValue.string)
        members["resource_documentation"] = (documentation?.absoluteString).map(JSONValue.string)
        members["resource_policy_uri"] = (policy?.absoluteString).map(JSONValue.string)
        members["resource_tos_uri"] = (termsOfService?.absoluteString).map(JSONValue.string)
        if requiresBoundTokens { members["dpop_bound_access_tokens_required"] = true }
        return .object(members)
    }

    /// Adds the route `GET /.well-known/oauth-protected-resource…`, which needs no token. Add it outside of groups with a path or with
    /// authentication. Clients may cache the response for an hour.
    public func addRoute(to router: some RouterMethods) {
        router.get(RouterPath(path)) { _, _ in response }
    }

    var response: Response {
        Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "public, max-age=3600"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.serialized())))
    }
}
