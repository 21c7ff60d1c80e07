internal import HTTPTypes
internal import IdentityEngine

/// One thing that the server answers: its methods, who may call it from a browser, and what it does.
struct Endpoint: Sendable {
    /// What an endpoint is given.
    struct Call: Sendable {
        /// The request.
        var request: ServerRequest
        /// The organization's configuration that the request is answered by.
        var snapshot: OrgSnapshot
        /// The authorization server that was asked.
        var server: AuthorizationServerDefinition

        /// The proof of a request that has a `DPoP` header; nil for all others.
        var proof: PresentedProof? {
            request.head.headerFields.contains(.dpop) ? requiredProof : nil
        }

        /// The proof of a request that must have one, whether or not it does.
        var requiredProof: PresentedProof {
            PresentedProof(
                values: request.head.headerFields[values: .dpop], method: request.head.method.rawValue,
                url: snapshot.origin + request.path)
        }
    }

    /// A short name for logs and metrics.
    var name: String
    /// The methods that do something; `GET` brings `HEAD` with it.
    var methods: [HTTPRequest.Method]
    /// Whether pages of other origins may call it (with `OPTIONS` beforehand).
    var isCrossOrigin: Bool
    /// Which of those pages may read what it answers.
    var readers = CrossOrigin.Readers.anyOrigin
    /// What it does.
    var respond: @Sendable (Call) async throws -> ServerResponse

    /// The `Allow` header, and what preflight answers announce.
    var allow: String {
        var names = methods.map(\.rawValue)
        if methods.contains(.get) { names.append("HEAD") }
        if isCrossOrigin { names.append("OPTIONS") }
        return names.joined(separator: ", ")
    }

    /// Whether a request's method is one of these.
    func accepts(_ method: HTTPRequest.Method) -> Bool {
        methods.contains(method) || (method == .head && methods.contains(.get))
    }
}
