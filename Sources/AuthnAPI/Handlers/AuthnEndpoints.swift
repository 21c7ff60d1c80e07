internal import Foundation
internal import HTTPTypes
package import IdentityCore
internal import JOSE
package import ServerHTTP

/// The classic sign-in API (authn reference 4.1). Pages of origins that the organization trusts may read what it answers; what a browser
/// sends by itself, for any other, is no JSON.
extension Endpoint {
    /// The endpoint of a route below `/api/v1/authn`.
    package static func authn(
        _ route: AuthnRoute, _ engine: Engine, _ transport: BrowserTransport
    ) -> Endpoint {
        Endpoint(name: route.name, methods: [.post], isCrossOrigin: true, readers: .trustedOrigins) { call in
            let request = call.request.ofEndUser(call.snapshot)
            let limit = engine.countRequest(clientID: nil, snapshot: call.snapshot, context: request.context)
            var response: ServerResponse
            do {
                guard limit.isAdmitted else { throw ClassicRefusal.tooManyRequests(limit, reason: "rate limit") }
                let answer = try await answer(route, AuthnBody(request), request, engine)
                // Stored already: what is not sent, the device fetches.
                call.courier.deliver(answer.pushes)
                call.courier.deliver(answer.messages, origin: call.snapshot.origin)
                response = ServerResponse(json: AuthnWriter(origin: call.snapshot.origin).answer(answer.outcome).serialized())
                if let token = answer.deviceToken { call.cookies(transport).writeDevice(token, to: &response) }
                if let factors = answer.autoPush { call.cookies(transport).writeAutoPush(factors, to: &response) }
            } catch let refusal as ClassicRefusal {
                try await engine.noteRefused(refusal, operation: route.name, context: request.context)
                response = .refusal(refusal, to: request)
            }
            if response.headers[.rateLimitLimit] == nil { response.headers.set(limit) }
            return response.uncached()
        }
    }

    private static func answer(
        _ route: AuthnRoute, _ body: AuthnBody, _ request: ServerRequest, _ engine: Engine
    ) async throws -> ClassicAnswer {
        let context = request.context
        switch route {
        case .primary: return try await primary(body, request, engine)
        case .previous: return try await engine.classicPrevious(stateToken: body.stateToken(), context: context).get()
        case .skip: return try await engine.classicSkip(stateToken: body.stateToken(), context: context).get()
        case .cancel: return try await engine.classicCancel(stateToken: body.stateToken(), context: context).get()
        case .verify(let factor):
            let proof = ClassicProof(
                passCode: try body.text("passCode", in: "factorVerifyRequest"), answer: try body.text("answer", in: "factorVerifyRequest"),
                remembersDevice: query(request)?["rememberDevice"] == "true",
                autoPush: query(request)?["autoPush"].flatMap { Bool($0) })
            return try await engine.classicVerify(factorID: factor, proof, stateToken: body.stateToken(), context: context).get()
        case .resend(let factor):
            return try await engine.classicResend(factorID: factor, stateToken: body.stateToken(), context: context).get()
        case .enroll:
            let object = "factorEnrollRequest"
            guard let type = try body.text("factorType", in: object), let provider = try body.text("provider", in: object) else {
                throw ClassicRefusal.invalid(object, ["factorType: The request needs the members factorType and provider."])
            }
            var enrollment = ClassicEnrollmentRequest(type: type, provider: provider)
            enrollment.phoneNumber = try body.text("phoneNumber", within: "profile", in: object)
            enrollment.phoneExtension = try body.text("phoneExtension", within: "profile", in: object)
            enrollment.question = try body.text("question", within: "profile", in: object)
            enrollment.answer = try body.text("answer", within: "profile", in: object)
            enrollment.credentialID = try body.text("credentialId", within: "profile", in: object)
            enrollment.passCode = try body.text("passCode", in: object)
            enrollment.nextPassCode = try body.text("nextPassCode", in: object)
            enrollment.replacesPhone = query(request)?["updatePhone"] == "true"
            return try await engine.classicEnroll(enrollment, stateToken: body.stateToken(), context: context).get()
        case .resendActivation(let factor):
            return try await engine.classicResendActivation(factorID: factor, stateToken: body.stateToken(), context: context).get()
        case .pollActivation(let factor):
            return try await engine.classicPollActivation(factorID: factor, stateToken: body.stateToken(), context: context).get()
        case .sendActivation(let factor, let byMail):
            return try await engine.classicSendActivation(
                factorID: factor, by: byMail ? .email : .sms,
                phoneNumber: body.text("phoneNumber", within: "profile", in: "factorActivateRequest"), stateToken: body.stateToken(),
                context: context
            ).get()
        case .activate(let factor):
            return try await engine.classicActivate(
                factorID: factor, passCode: body.text("passCode", in: "factorActivateRequest"), stateToken: body.stateToken(),
                context: context
            ).get()
        case .changePassword:
            let object = "changePasswordRequest"
            guard let old = try body.text("oldPassword", in: object), let new = try body.text("newPassword", in: object) else {
                throw ClassicRefusal.invalid(object, ["newPassword: The request needs the members oldPassword and newPassword."])
            }
            return try await engine.classicChangePassword(from: old, to: new, stateToken: body.stateToken(), context: context).get()
        case .resetPassword:
            guard let new = try body.text("newPassword", in: "resetPasswordRequest") else {
                throw ClassicRefusal.invalid("resetPasswordRequest", ["newPassword: The member must be there."])
            }
            return try await engine.classicResetPassword(to: new, stateToken: body.stateToken(), context: context).get()
        case .recover(let isUnlock):
            let object = "recoveryRequest"
            guard let username = try body.text("username", in: object), !username.isEmpty else {
                throw ClassicRefusal.invalid(object, ["username: The member must be there."])
            }
            let recovery = ClassicRecoveryRequest(
                isUnlock: isUnlock, username: username, factorType: try body.text("factorType", in: object),
                relayState: try relayState(body, in: object))
            return try await engine.classicRecover(recovery, caller: ClassicCaller(request, body: body), context: context).get()
        case .recoveryToken:
            guard let token = try body.text("recoveryToken", in: "recoveryTokenRequest"), !token.isEmpty else {
                throw ClassicRefusal.invalid("recoveryTokenRequest", ["recoveryToken: The member must be there."])
            }
            return try await engine.classicRecoveryToken(
                token, enrollsOptional: body.option("multiOptionalFactorEnroll"), context: context
            ).get()
        case .recoveryAnswer:
            return try await engine.classicRecoveryAnswer(
                body.text("answer", in: "recoveryAnswerRequest"), stateToken: body.stateToken(), context: context
            ).get()
        case .recoveryVerify:
            return try await engine.classicRecoveryVerify(
                passCode: body.text("passCode", in: "recoveryFactorRequest"), stateToken: body.stateToken(), context: context
            ).get()
        case .recoveryResend:
            return try await engine.classicRecoveryResend(stateToken: body.stateToken(), context: context).get()
        case .unknown:
            throw ClassicRefusal(
                code: "E0000008", status: 404, summary: "Not found: this API has no such path.", reason: "authn: path")
        }
    }

    private static func relayState(_ body: AuthnBody, in object: String) throws(ClassicRefusal) -> String? {
        let relayState = try body.text("relayState", in: object)
        guard relayState?.utf8.count ?? 0 <= 2_048 else {
            throw .invalid(object, ["relayState: The member has at most 2048 characters."])
        }
        return relayState
    }

    /// The query's parameters; what cannot be read has none.
    private static func query(_ request: ServerRequest) -> FormParameters? {
        request.query.flatMap { try? FormParameters(parsing: $0.utf8) }
    }

    private static func primary(
        _ body: AuthnBody, _ request: ServerRequest, _ engine: Engine
    ) async throws -> ClassicAnswer {
        let object = "authRequest"
        let username = try body.text("username", in: object)
        let password = try body.text("password", in: object)
        if let token = try body.text("stateToken", in: object), username == nil, password == nil {
            return try await engine.classicTransaction(stateToken: token, context: request.context).get()
        }
        let activation = try body.text("token", in: object)
        let begun = ClassicRequest(
            username: username ?? "", password: password ?? "", relayState: try relayState(body, in: object),
            enrollsOptional: body.option("multiOptionalFactorEnroll"), warnsBeforeExpiry: body.option("warnBeforePasswordExpired"))
        let caller = ClassicCaller(request, body: body)
        if let activation, !activation.isEmpty, username == nil, password == nil {
            return try await engine.classicActivateAccount(by: activation, begun, caller: caller, context: request.context).get()
        }
        guard username?.isEmpty == false, password != nil else {
            throw ClassicRefusal.invalid(
                object, ["username: The request needs the members username and password, or token, or stateToken."])
        }
        return try await engine.classicSignIn(begun, caller: caller, context: request.context).get()
    }
}
