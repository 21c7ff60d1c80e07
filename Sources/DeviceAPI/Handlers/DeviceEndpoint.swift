internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import ServerHTTP

extension Endpoint {
    /// Creates an endpoint of the device API. It counts the request against the limit of its address, requires the API's version, and sends
    /// refusals in the API form (Documentation/Protocol/Devices.md §2.1 and §2.12). A ``DeviceRefusal`` that `respond` throws becomes the
    /// response.
    init(
        device path: RoutePath, methods: [HTTPRequest.Method], engine: Engine,
        respond: @escaping @Sendable (Call) async throws -> ServerResponse
    ) {
        // Unlike other endpoints, the endpoints of devices accept ids of any length.
        self.init(path, methods: methods, isCrossOrigin: false, admits: { !$0.contains("") }) { call in
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: call.request.context)
            guard limit.isAdmitted else { return .tooManyRequests(limit, to: call.request) }
            var response: ServerResponse
            do {
                guard APIVersion.isNamed(in: call.request.head.headerFields[values: .accept]) else {
                    throw DeviceRefusal.versionNotAcceptable()
                }
                response = try await respond(call)
            } catch let refusal as DeviceRefusal {
                response = .refusal(refusal, to: call.request)
            }
            response.headers.set(limit)
            return response.uncached()
        }
    }
}

extension Endpoint.Call {
    var deviceAuthorization: DeviceAuthorization {
        let values = request.head.headerFields[values: .authorization]
        guard values.count == 1 else { return .none }
        if let token = request.sswsToken { return .ssws(token) }
        let header = AuthorizationHeader(values[0])
        guard !header.credentials.isEmpty else { return .none }
        switch PresentedToken(header) {
        case .bearer(let token): return .bearer(token)
        case .dpop(let token): return .dpop(token, requiredProof)
        case nil: return .none
        }
    }

    /// Returns the request's JSON body. Throws `E0000003` if the body is too large, of another type, or not JSON.
    func deviceBody() throws(DeviceRefusal) -> JSONValue {
        // This limit is independent of the server's limit, because requests of devices are small.
        guard !request.isTooLarge, request.body.count <= 64 << 10 else { throw .malformed("body too large") }
        guard Self.isJSON(request.head.headerFields[.contentType]) else { throw .malformed("content type") }
        do {
            return try JSONValue(parsing: request.body)
        } catch {
            throw .malformed("body: \(error.code.rawValue)")
        }
    }

    /// Returns whether a content type is that of JSON. Its parameters are ignored: official clients send the API's version there, some
    /// after a comma.
    private static func isJSON(_ contentType: String?) -> Bool {
        guard let contentType else { return true }
        let type = contentType.prefix { $0 != ";" && $0 != "," }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return type == "application/json" || type == "application/merge-patch+json"
    }
}

/// The API version in the `Accept` header (Documentation/Protocol/Devices.md §2.1).
enum APIVersion {
    private static let version = "okta-version=1.0.0"
    private static let types: Set<String> = ["application/json", "application/merge-patch+json", "application/*", "*/*"]

    /// Returns whether the header names this version together with an accepted type; `false` without the header. The official client also
    /// sends the media type of a patch here. Some documentation has a comma before the version, so both separators are accepted.
    static func isNamed(in accept: [String]) -> Bool {
        accept.contains { value in
            let parts = value.split { $0 == "," || $0 == ";" }
                .map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.lowercased() }
            return parts.contains(version) && parts.contains(where: types.contains)
        }
    }
}

extension ServerResponse {
    /// Returns a refusal in the API form. Causes are objects with one text each, as official clients decode them.
    static func refusal(_ refusal: DeviceRefusal, to request: ServerRequest) -> ServerResponse {
        let body: JSONValue = [
            "errorCode": .string(refusal.code), "errorSummary": .string(refusal.summary), "errorLink": .string(refusal.code),
            "errorId": .string("oae" + request.context.requestID),
            "errorCauses": .array(refusal.causes.map { cause(.string($0), refusal) }),
        ]
        var response = ServerResponse(status: .init(code: refusal.status), json: body.serialized())
        if refusal.status == 401 {
            response.headers[.wwwAuthenticate] =
                refusal.proof.map(AccessTokenChallenge.dpop)
                ?? AccessTokenChallenge.bearer(Refusal(.invalidToken, refusal.summary, reason: refusal.reason))
        }
        if let nonce = refusal.proof?.nextNonce { response.headers[.dpopNonce] = nonce }
        if request.isTooLarge { response.closesConnection = true }
        response.trace.reason = refusal.reason
        return response
    }

    private static func cause(_ text: JSONValue, _ refusal: DeviceRefusal) -> JSONValue {
        var cause: JSONValue = ["errorSummary": text]
        cause["reason"] = refusal.lateness.map(JSONValue.string)
        return cause
    }
}
