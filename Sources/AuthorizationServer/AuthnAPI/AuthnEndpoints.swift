internal import HTTPTypes
internal import IdentityEngine
internal import JOSE

/// The classic sign-in API (authn reference 4.1). Pages of other origins may call it; what a browser sends by itself is no JSON.
extension Endpoint {
    /// The endpoint of a route below `/api/v1/authn`.
    static func authn(_ route: AuthnRoute, _ engine: IdentityEngine, _ pages: PageWriter, _ pushes: PushDelivery?) -> Endpoint {
        Endpoint(name: route.name, methods: [.post], isCrossOrigin: true) { call in
            let request = call.request
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            guard limit.isAdmitted else {
                return ServerResponse.refusal(ClassicRefusal.tooManyRequests(limit, reason: "rate limit"), to: request).uncached()
            }
            var response: ServerResponse
            do {
                let answer = try await answer(route, AuthnBody(request), request, engine)
                // Stored already: what is not sent, the device fetches.
                pushes?.deliver(answer.pushes)
                response = ServerResponse(json: AuthnWriter(origin: call.snapshot.origin).answer(answer.outcome).serialized())
            } catch let refusal as ClassicRefusal {
                response = .refusal(refusal, to: request)
            }
            if response.headers[.rateLimitLimit] == nil { response.headers.set(limit) }
            return response.uncached()
        }
    }

    private static func answer(
        _ route: AuthnRoute, _ body: AuthnBody, _ request: ServerRequest, _ engine: IdentityEngine
    ) async throws -> ClassicAnswer {
        let context = request.context
        switch route {
        case .primary: return try await primary(body, request, engine)
        case .previous: return try await engine.classicPrevious(stateToken: body.stateToken(), context: context).get()
        case .skip: return try await engine.classicSkip(stateToken: body.stateToken(), context: context).get()
        case .cancel: return try await engine.classicCancel(stateToken: body.stateToken(), context: context).get()
        case .verify(let factor):
            let proof = ClassicProof(
                passCode: try body.text("passCode", in: "factorVerifyRequest"), answer: try body.text("answer", in: "factorVerifyRequest"))
            return try await engine.classicVerify(factorID: factor, proof, stateToken: body.stateToken(), context: context).get()
        case .resend(let factor):
            return try await engine.classicResend(factorID: factor, stateToken: body.stateToken(), context: context).get()
        case .unknown:
            throw ClassicRefusal(
                code: "E0000008", status: 404, summary: "Not found: this API has no such path.", reason: "authn: path")
        }
    }

    private static func primary(
        _ body: AuthnBody, _ request: ServerRequest, _ engine: IdentityEngine
    ) async throws -> ClassicAnswer {
        let object = "authRequest"
        let username = try body.text("username", in: object)
        let password = try body.text("password", in: object)
        if let token = try body.text("stateToken", in: object), username == nil, password == nil {
            return try await engine.classicTransaction(stateToken: token, context: request.context).get()
        }
        guard let username, !username.isEmpty, let password else {
            throw ClassicRefusal.invalid(object, ["username: The request needs the members username and password, or stateToken."])
        }
        let relayState = try body.text("relayState", in: object)
        guard relayState?.utf8.count ?? 0 <= 2_048 else {
            throw ClassicRefusal.invalid(object, ["relayState: The member has at most 2048 characters."])
        }
        let begun = ClassicRequest(
            username: username, password: password, relayState: relayState,
            enrollsOptional: body.option("multiOptionalFactorEnroll"), warnsBeforeExpiry: body.option("warnBeforePasswordExpired"))
        return try await engine.classicSignIn(begun, caller: ClassicCaller(request, body: body), context: request.context).get()
    }
}
