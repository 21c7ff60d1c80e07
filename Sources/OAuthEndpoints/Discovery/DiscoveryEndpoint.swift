internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import ServerHTTP

extension Endpoint {
    /// Creates the endpoint of a discovery document (OpenID Connect Discovery 1.0 section 4, RFC 8414 section 3).
    static func discovery(
        _ kind: MetadataDocument.Kind, _ path: RoutePath, _ otherPaths: RoutePath..., cache: MetadataCache, engine: Engine
    ) -> Endpoint {
        Endpoint(path, otherPaths: otherPaths, methods: [.get], isCrossOrigin: true) { call in
            if let refusal = unknownClient(call) { return refusal }
            let text = cache.text(.metadata(kind, server: call.server.id), snapshot: call.snapshot) {
                MetadataDocument(kind: kind, server: call.server, snapshot: call.snapshot).json().serialized()
            }
            return ServerResponse(json: text, headers: [.cacheControl: "max-age=300, must-revalidate"]).counted(call, by: engine)
        }
    }

    /// `/keys`: the public signing keys (RFC 7517 section 5).
    static func keys(cache: MetadataCache, engine: Engine) -> Endpoint {
        Endpoint(.keys, methods: [.get], isCrossOrigin: true) { call in
            let now = call.request.context.now
            let minute = Int(now.numericDate / 60)
            let text = cache.text(.keys(minute: minute), snapshot: call.snapshot) {
                call.snapshot.keyRing.publishedKeys(now: now).json().serialized()
            }
            let caching = "max-age=\(SigningKeyRing.cacheLifetime), must-revalidate"
            return ServerResponse(json: text, headers: [.cacheControl: caching]).counted(call, by: engine)
        }
    }

    /// Returns the refusal of a query with an unknown `client_id`; `nil` for other queries.
    private static func unknownClient(_ call: Call) -> ServerResponse? {
        guard let query = call.request.query, let form = try? FormParameters(parsing: query.utf8), let id = form["client_id"] else {
            return nil
        }
        guard call.snapshot.application(id) == nil else { return nil }
        return .api(.badRequest, "invalid_client", "The client_id of the query is not known here.", call.request)
    }
}
