internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import ServerHTTP

extension Endpoint {
    /// An endpoint of the device API: counts the request against the limit of its address, wants the API's version, and answers refusals
    /// in the API form (device-authenticator reference 2.1 and 2.12).
    ///
    /// - Parameters:
    ///   - name: For logs and metrics.
    ///   - methods: The methods that do something.
    ///   - engine: Counts and decides.
    ///   - respond: What it does with a request of the right version. A ``DeviceRefusal`` that it throws is the answer.
    init(
        device name: String, methods: [HTTPRequest.Method], engine: Engine,
        respond: @escaping @Sendable (Call) async throws -> ServerResponse
    ) {
        self.init(name: name, methods: methods, isCrossOrigin: false) { call in
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
    /// What the request brought to say who sends it.
    var deviceAuthorization: DeviceAuthorization {
        let values = request.head.headerFields[values: .authorization]
        guard values.count == 1 else { return .none }
        if let token = request.sswsToken { return .ssws(token) }
        guard let space = values[0].firstIndex(of: " ") else { return .none }
        let token = String(values[0][space...].drop { $0 == " " })
        guard !token.isEmpty else { return .none }
        switch values[0][..<space].lowercased() {
        case "bearer": return .bearer(token)
        case "dpop": return .dpop(token, requiredProof)
        default: return .none
        }
    }

    /// The request's body.
    ///
    /// - Throws: ``DeviceRefusal`` with `E0000003` if it is too large, of another type, or no JSON.
    func deviceBody() throws(DeviceRefusal) -> JSONValue {
        // Whatever the server's own limit is: nothing that a device sends comes near this.
        guard !request.isTooLarge, request.body.count <= 64 << 10 else { throw .malformed("body too large") }
        guard Self.isJSON(request.head.headerFields[.contentType]) else { throw .malformed("content type") }
        do {
            return try JSONValue(parsing: request.body)
        } catch {
            throw .malformed("body: \(error.code.rawValue)")
        }
    }

    /// The parameters of a media type mean nothing here; official clients name the API's version among them, some after a comma.
    private static func isJSON(_ contentType: String?) -> Bool {
        guard let contentType else { return true }
        let type = contentType.prefix { $0 != ";" && $0 != "," }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return type == "application/json" || type == "application/merge-patch+json"
    }

    /// A component of the path, which ``Route`` has seen.
    func pathComponent(_ index: Int) -> String {
        let components = request.components
        return components.indices.contains(index) ? String(components[index]) : ""
    }
}

/// The version of the API that a request asks for, in its `Accept` header (device-authenticator reference 2.1).
enum APIVersion {
    private static let version = "okta-version=1.0.0"
    private static let types: Set<String> = ["application/json", "application/merge-patch+json", "application/*", "*/*"]

    /// Whether the header names this version for a type that is answered in.
    ///
    /// - Parameter accept: The header's values. The official client sends the patch's type here as well; some documents put a comma before
    ///   the version, which is read alike.
    /// - Returns: False without the header.
    static func isNamed(in accept: [String]) -> Bool {
        accept.contains { value in
            let parts = value.split { $0 == "," || $0 == ";" }
                .map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.lowercased() }
            return parts.contains(version) && parts.contains(where: types.contains)
        }
    }
}

extension ServerResponse {
    /// A refusal of the device API: causes are objects of texts, which is the shape that official clients decode.
    ///
    /// - Parameters:
    ///   - refusal: What was refused.
    ///   - request: The request; its id names the error.
    /// - Returns: The answer.
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
