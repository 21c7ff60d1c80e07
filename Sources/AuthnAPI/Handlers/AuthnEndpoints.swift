internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import ServerHTTP

/// The paths of the classic sign-in API (Documentation/Protocol/Authn.md §4.1).
extension RoutePath {
    static let authn: RoutePath = "/api/v1/authn"
    static let previous: RoutePath = "/api/v1/authn/previous"
    static let skip: RoutePath = "/api/v1/authn/skip"
    static let cancel: RoutePath = "/api/v1/authn/cancel"
    static let enroll: RoutePath = "/api/v1/authn/factors"
    static let verify: RoutePath = "/api/v1/authn/factors/{id}/verify"
    static let resend: RoutePath = "/api/v1/authn/factors/{id}/verify/resend"
    static let activateFactor: RoutePath = "/api/v1/authn/factors/{id}/lifecycle/activate"
    static let resendActivation: RoutePath = "/api/v1/authn/factors/{id}/lifecycle/resend"
    static let pollActivation: RoutePath = "/api/v1/authn/factors/{id}/lifecycle/activate/poll"
    static let mailActivation: RoutePath = "/api/v1/authn/factors/{id}/lifecycle/activate/email"
    static let textActivation: RoutePath = "/api/v1/authn/factors/{id}/lifecycle/activate/sms"
    static let changePassword: RoutePath = "/api/v1/authn/credentials/change_password"
    static let resetPassword: RoutePath = "/api/v1/authn/credentials/reset_password"
    static let recoverPassword: RoutePath = "/api/v1/authn/recovery/password"
    static let unlock: RoutePath = "/api/v1/authn/recovery/unlock"
    static let recoveryToken: RoutePath = "/api/v1/authn/recovery/token"
    static let recoveryAnswer: RoutePath = "/api/v1/authn/recovery/answer"
    static let recoveryVerify: RoutePath = "/api/v1/authn/recovery/factors/{type}/verify"
    static let recoveryResend: RoutePath = "/api/v1/authn/recovery/factors/{type}/resend"
}

/// The endpoints of the classic sign-in API. Only pages of trusted origins may read the responses. Other pages cannot make a browser send
/// the required JSON content type.
extension Endpoint {
    private typealias Answer = @Sendable (Call, AuthnBody) async throws -> ClassicAnswer

    private static func authn(
        _ path: RoutePath, _ engine: Engine, _ transport: BrowserTransport, admits: @escaping Admission = Endpoint.areShort,
        _ answer: @escaping Answer
    ) -> Endpoint {
        Endpoint(classic: path, methods: [.post], isCrossOrigin: true, engine: engine, admits: admits) { call in
            let answer = try await answer(call, AuthnBody(call.request))
            var response = ServerResponse(json: AuthnWriter(origin: call.snapshot.origin).answer(answer.outcome).serialized())
            if let token = answer.deviceToken { call.cookies(transport).writeDevice(token, to: &response) }
            if let factors = answer.autoPush { call.cookies(transport).writeAutoPush(factors, to: &response) }
            return response
        }
    }

    /// Returns the endpoints below `/api/v1/authn`, except those of recovery.
    static func authn(_ engine: Engine, _ transport: BrowserTransport) -> [Endpoint] {
        func post(_ path: RoutePath, _ answer: @escaping Answer) -> Endpoint { authn(path, engine, transport, answer) }
        return [
            post(.authn) { try await primary($1, $0.request, engine) },
            post(.previous) { try await engine.classicPrevious(stateToken: $1.stateToken(), context: $0.request.context).get() },
            post(.skip) { try await engine.classicSkip(stateToken: $1.stateToken(), context: $0.request.context).get() },
            post(.cancel) { try await engine.classicCancel(stateToken: $1.stateToken(), context: $0.request.context).get() },
            post(.verify) { call, body in
                let query = query(call.request)
                let proof = ClassicProof(
                    passCode: try body.text("passCode", in: "factorVerifyRequest"),
                    answer: try body.text("answer", in: "factorVerifyRequest"), remembersDevice: query?["rememberDevice"] == "true",
                    autoPush: query?["autoPush"].flatMap { Bool($0) }, assertion: try assertion(body))
                return try await engine.classicVerify(
                    factorID: call.parameter(0), proof, stateToken: body.stateToken(), context: call.request.context
                ).get()
            },
            post(.resend) {
                try await engine.classicResend(factorID: $0.parameter(0), stateToken: $1.stateToken(), context: $0.request.context).get()
            },
            post(.enroll) { call, body in
                let enrollment = try enrollment(body, replacesPhone: query(call.request)?["updatePhone"] == "true")
                return try await engine.classicEnroll(enrollment, stateToken: body.stateToken(), context: call.request.context).get()
            },
            post(.resendActivation) {
                try await engine.classicResendActivation(
                    factorID: $0.parameter(0), stateToken: $1.stateToken(), context: $0.request.context
                ).get()
            },
            post(.pollActivation) {
                try await engine.classicPollActivation(
                    factorID: $0.parameter(0), stateToken: $1.stateToken(), context: $0.request.context
                ).get()
            },
            post(.mailActivation) { try await sendActivation(by: .email, $0, $1, engine) },
            post(.textActivation) { try await sendActivation(by: .sms, $0, $1, engine) },
            post(.activateFactor) { call, body in
                try await engine.classicActivate(
                    factorID: call.parameter(0), passCode: body.text("passCode", in: "factorActivateRequest"),
                    registration: registration(body), stateToken: body.stateToken(), context: call.request.context
                ).get()
            },
            post(.changePassword) { call, body in
                let object = "changePasswordRequest"
                guard let old = try body.text("oldPassword", in: object), let new = try body.text("newPassword", in: object) else {
                    throw ClassicRefusal.invalid(object, ["newPassword: The request needs the members oldPassword and newPassword."])
                }
                return try await engine.classicChangePassword(
                    from: old, to: new, stateToken: body.stateToken(), context: call.request.context
                ).get()
            },
            post("/api/v1/authn/{rest...}") { _, _ in
                throw ClassicRefusal(
                    code: "E0000008", status: 404, summary: "Not found: this API has no such path.", reason: "authn: path")
            },
        ]
    }

    /// Returns the endpoints of recovery.
    static func recovery(_ engine: Engine, _ transport: BrowserTransport) -> [Endpoint] {
        func post(
            _ path: RoutePath, admits: @escaping Admission = Endpoint.areShort, _ answer: @escaping Answer
        ) -> Endpoint { authn(path, engine, transport, admits: admits, answer) }
        // Official clients send the type in upper case. Other clients send it as they read it from a factor.
        let isCode: Admission = { ["sms", "call"].contains($0.first?.lowercased()) }
        return [
            post(.recoverPassword) { try await recover(isUnlock: false, $0, $1, engine) },
            post(.unlock) { try await recover(isUnlock: true, $0, $1, engine) },
            post(.recoveryToken) { call, body in
                guard let token = try body.text("recoveryToken", in: "recoveryTokenRequest"), !token.isEmpty else {
                    throw ClassicRefusal.invalid("recoveryTokenRequest", ["recoveryToken: The member must be there."])
                }
                return try await engine.classicRecoveryToken(
                    token, enrollsOptional: body.option("multiOptionalFactorEnroll"), context: call.request.context
                ).get()
            },
            post(.recoveryAnswer) { call, body in
                try await engine.classicRecoveryAnswer(
                    body.text("answer", in: "recoveryAnswerRequest"), stateToken: body.stateToken(), context: call.request.context
                ).get()
            },
            post(.recoveryVerify, admits: isCode) { call, body in
                try await engine.classicRecoveryVerify(
                    passCode: body.text("passCode", in: "recoveryFactorRequest"), stateToken: body.stateToken(),
                    context: call.request.context
                ).get()
            },
            post(.recoveryResend, admits: isCode) {
                try await engine.classicRecoveryResend(stateToken: $1.stateToken(), context: $0.request.context).get()
            },
            post(.resetPassword) { call, body in
                guard let new = try body.text("newPassword", in: "resetPasswordRequest") else {
                    throw ClassicRefusal.invalid("resetPasswordRequest", ["newPassword: The member must be there."])
                }
                return try await engine.classicResetPassword(to: new, stateToken: body.stateToken(), context: call.request.context).get()
            },
        ]
    }

    private static func enrollment(_ body: AuthnBody, replacesPhone: Bool) throws -> ClassicEnrollmentRequest {
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
        enrollment.replacesPhone = replacesPhone
        return enrollment
    }

    /// Returns the signature of a passkey; `nil` if the body contains none.
    private static func assertion(_ body: AuthnBody) throws(ClassicRefusal) -> PasskeyAssertion? {
        let object = "factorVerifyRequest"
        let parts = [
            ("clientData", try body.bytes("clientData", in: object)),
            ("authenticatorData", try body.bytes("authenticatorData", in: object)),
            ("signatureData", try body.bytes("signatureData", in: object)),
        ]
        guard parts.contains(where: { $0.1 != nil }) else { return nil }
        if let missing = parts.first(where: { $0.1 == nil }) { throw .missing(missing.0) }
        return PasskeyAssertion(clientData: parts[0].1 ?? [], authenticatorData: parts[1].1 ?? [], signature: parts[2].1 ?? [])
    }

    /// Returns the registration of a passkey; `nil` if the body contains none.
    private static func registration(_ body: AuthnBody) throws(ClassicRefusal) -> ClassicRegistration? {
        let object = "factorActivateRequest"
        let attestation = try body.bytes("attestation", in: object)
        let clientData = try body.bytes("clientData", in: object)
        switch (attestation, clientData) {
        case (let attestation?, let clientData?): return ClassicRegistration(clientData: clientData, attestation: attestation)
        case (nil, nil): return nil
        default: throw .missing(attestation == nil ? "attestation" : "clientData")
        }
    }

    private static func sendActivation(
        by channel: CodeChannel, _ call: Call, _ body: AuthnBody, _ engine: Engine
    ) async throws -> ClassicAnswer {
        try await engine.classicSendActivation(
            factorID: call.parameter(0), by: channel,
            phoneNumber: body.text("phoneNumber", within: "profile", in: "factorActivateRequest"), stateToken: body.stateToken(),
            context: call.request.context
        ).get()
    }

    private static func recover(
        isUnlock: Bool, _ call: Call, _ body: AuthnBody, _ engine: Engine
    ) async throws -> ClassicAnswer {
        let object = "recoveryRequest"
        guard let username = try body.text("username", in: object), !username.isEmpty else {
            throw ClassicRefusal.invalid(object, ["username: The member must be there."])
        }
        let recovery = ClassicRecoveryRequest(
            isUnlock: isUnlock, username: username, factorType: try body.text("factorType", in: object),
            relayState: try relayState(body, in: object))
        return try await engine.classicRecover(
            recovery, caller: ClassicCaller(call.request, body: body), context: call.request.context
        ).get()
    }

    private static func relayState(_ body: AuthnBody, in object: String) throws(ClassicRefusal) -> String? {
        let relayState = try body.text("relayState", in: object)
        guard relayState?.utf8.count ?? 0 <= ClassicSignIn.longestRelayState else {
            throw .invalid(object, ["relayState: The member has at most \(ClassicSignIn.longestRelayState) bytes."])
        }
        return relayState
    }

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
