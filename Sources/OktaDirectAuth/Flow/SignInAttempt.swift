import AuthFoundation
import Foundation

/// One step of a sign-in: the requests for a factor, up to the next status.
/// The step runs in a separate task, which is cancelled if the caller is gone. A cancelled step sends no more requests, but still reads the
/// response to a request that was sent. The response may open a transaction or contain tokens, which must be revoked.
struct SignInAttempt: Sendable {
    typealias Flow = DirectAuthenticationFlow

    let client: OAuth2Client
    let supportedGrants: [GrantType]
    let additionalParameters: [String: any APIRequestArgument]?
    let context: Flow.Context
    let transaction: OpenTransaction

    func primary(_ factor: Flow.PrimaryFactor, loginHint: String) async throws -> Flow.Status {
        switch factor {
        case .password(let password):
            return try await tokens(.password, ["username": loginHint, "password": password])
        case .otp(let code):
            return try await tokens(.otp, ["login_hint": loginHint, "otp": code])
        case .oob(let channel):
            return try await outOfBand(primaryOutOfBand(loginHint: loginHint, channel: channel), mfaContext: nil)
        case .webAuthn:
            let options = try await post(
                "primary-authenticate", ["login_hint": loginHint, "challenge_hint": GrantType.webAuthn],
                as: WebAuthn.CredentialRequestOptions.self)
            return .continuation(.webAuthn(.init(request: options, mfaContext: nil)))
        }
    }

    func secondary(_ factor: Flow.SecondaryFactor, loginHint: String?) async throws -> Flow.Status {
        switch factor {
        case .otp(let code):
            guard let mfaContext = openMFAContext else { throw DirectAuthenticationFlowError.missingArguments(["mfa_token"]) }
            return try await tokens(.otpMFA, ["mfa_token": mfaContext.mfaToken, "otp": code])
        case .oob(let channel):
            if let mfaContext = openMFAContext {
                let challenge = try await post(
                    "challenge",
                    ["mfa_token": mfaContext.mfaToken, "challenge_types_supported": GrantType.oobMFA, "channel_hint": channel],
                    as: OutOfBandChallenge.self)
                return try await outOfBand(challenge, mfaContext: mfaContext)
            }
            guard case .continuation? = context.currentStatus, let loginHint else {
                throw DirectAuthenticationFlowError.missingArguments(["login_hint", "mfa_token"])
            }
            return try await outOfBand(primaryOutOfBand(loginHint: loginHint, channel: channel), mfaContext: nil)
        case .webAuthn:
            guard let mfaContext = openMFAContext else { throw DirectAuthenticationFlowError.missingArguments(["mfa_token"]) }
            let options = try await post(
                "challenge", ["mfa_token": mfaContext.mfaToken, "challenge_types_supported": GrantType.webAuthnMFA],
                as: WebAuthn.CredentialRequestOptions.self)
            return .continuation(.webAuthn(.init(request: options, mfaContext: mfaContext)))
        }
    }

    func continuation(_ factor: Flow.ContinuationFactor) async throws -> Flow.Status {
        guard case .continuation(let awaited)? = context.currentStatus else {
            throw DirectAuthenticationFlowError.invalidContinuationContext
        }
        switch (factor, awaited) {
        case (.transfer, .transfer(let binding, _)):
            return try await approval(binding)
        case (.prompt(let code), .prompt(let binding)):
            return try await outOfBandTokens(binding, bindingCode: code, passage: RequestState())
        case (.webAuthn(let response), .webAuthn(let asked)):
            var parameters: [String: any APIRequestArgument] = [
                "clientDataJSON": response.clientDataJSON, "authenticatorData": response.authenticatorData, "signature": response.signature,
            ]
            if let userHandle = response.userHandle { parameters["userHandle"] = userHandle }
            if let mfaContext = asked.mfaContext { parameters["mfa_token"] = mfaContext.mfaToken }
            return try await tokens(asked.mfaContext == nil ? .webAuthn : .webAuthnMFA, parameters)
        default:
            throw DirectAuthenticationFlowError.invalidContinuationContext
        }
    }

    /// The second factor that the server requires, or that the user is completing; `nil` if there is none.
    private var openMFAContext: Flow.MFAContext? {
        switch context.currentStatus {
        case .mfaRequired(let mfaContext)?: mfaContext
        case .continuation(.prompt(let binding))?, .continuation(.transfer(let binding, _))?: binding.mfaContext
        case .continuation(.webAuthn(let asked))?: asked.mfaContext
        case .success?, nil: nil
        }
    }

    private func primaryOutOfBand(loginHint: String, channel: Flow.OOBChannel) async throws -> OutOfBandChallenge {
        try await post(
            "primary-authenticate", ["login_hint": loginHint, "channel_hint": channel, "challenge_hint": GrantType.oob],
            as: OutOfBandChallenge.self)
    }

    private func outOfBand(_ challenge: OutOfBandChallenge, mfaContext: Flow.MFAContext?) async throws -> Flow.Status {
        let binding = Flow.ContinuationType.BindingContext(
            challenge: challenge, mfaContext: mfaContext, end: client.clock.now.addingTimeInterval(challenge.expiresIn))
        transaction.opened(mfaContext?.mfaToken ?? challenge.code, until: binding.end, isAnother: mfaContext == nil)
        switch challenge.bindingMethod {
        case .none:
            return try await approval(binding)
        case .prompt:
            return .continuation(.prompt(binding))
        case .transfer:
            guard let code = challenge.bindingCode else { throw DirectAuthenticationFlowError.bindingCodeMissing }
            return .continuation(.transfer(binding, code: code))
        }
    }

    private func approval(_ binding: Flow.ContinuationType.BindingContext) async throws -> Flow.Status {
        guard let interval = binding.challenge.interval else { throw DirectAuthenticationFlowError.missingArguments(["interval"]) }
        let wait = ApprovalWait(
            interval: interval, end: binding.end, clock: client.clock, tooLate: DirectAuthenticationFlowError.pollingTimeoutExceeded
        ) { passage in
            try await outOfBandTokens(binding, bindingCode: nil, passage: passage)
        }
        return try await wait.value()
    }

    private func outOfBandTokens(
        _ binding: Flow.ContinuationType.BindingContext, bindingCode: String?, passage: RequestState
    ) async throws -> Flow.Status {
        var parameters: [String: any APIRequestArgument] = ["oob_code": binding.challenge.code]
        if let mfaContext = binding.mfaContext { parameters["mfa_token"] = mfaContext.mfaToken }
        if let bindingCode { parameters["binding_code"] = bindingCode }
        return try await tokens(binding.mfaContext == nil ? .oob : .oobMFA, parameters, passage: passage)
    }

    private func tokens(
        _ grant: GrantType, _ parameters: [String: any APIRequestArgument], passage: RequestState = RequestState()
    ) async throws -> Flow.Status {
        let request = DirectTokenRequest(
            openIdConfiguration: try await client.openIdConfiguration(), clientConfiguration: client.configuration, context: context,
            grant: grant, supportedGrants: supportedGrants, additionalParameters: additionalParameters, parameters: parameters,
            passage: passage)
        do {
            let token = try await passage.seeThrough { [client] in try await client.exchange(token: request).result }
            transaction.closed()
            return .success(token)
        } catch let error as APIClientError {
            switch error.serverError {
            case let refusal? where refusal.code == .mfaRequired:
                let mfaContext = try Flow.MFAContext(refusal)
                transaction.opened(mfaContext.mfaToken)
                return .mfaRequired(mfaContext)
            case let refusal? where refusal.endsTransaction:
                transaction.closed()
                throw error
            default:
                throw error
            }
        }
    }

    private func post<Response: Decodable & Sendable>(
        _ endpoint: String, _ parameters: [String: any APIRequestArgument], as type: Response.Type
    ) async throws -> Response {
        let passage = RequestState()
        let request = try ChallengeRequest<Response>(
            openIdConfiguration: try await client.openIdConfiguration(), clientConfiguration: client.configuration, context: context,
            endpoint: endpoint, parameters: parameters, passage: passage)
        return try await passage.seeThrough { [client] in try await request.send(to: client).result }
    }
}

extension OAuth2ServerError {
    /// Whether the error ends the transaction: the user or the server denied the sign-in, or it expired.
    fileprivate var endsTransaction: Bool {
        switch code {
        case .accessDenied, .oobRejected, .expiredToken: true
        default: false
        }
    }
}

extension DirectAuthenticationFlow.MFAContext {
    /// Creates the context from the server's error `mfa_required`. The grant types are an array or a string separated by spaces.
    init(_ error: OAuth2ServerError) throws {
        guard let token = error.additionalValues["mfa_token"] as? String, !token.isEmpty else {
            throw OAuth2Error.missingOAuth2ResponseKey("mfa_token")
        }
        mfaToken = token
        let names = error.additionalValues["supported_challenge_types"]
        supportedChallengeTypes =
            ((names as? String)?.whitespaceSeparated ?? (names as? [any Sendable])?.compactMap { $0 as? String })
            .map { $0.map(GrantType.init(name:)) }
    }
}
