import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One step of a sign-in: the requests for a factor, up to the next status.
struct SignInAttempt {
    typealias Flow = DirectAuthenticationFlow

    let client: OAuth2Client
    let supportedGrants: [GrantType]
    let additionalParameters: [String: any APIRequestArgument]?
    let context: Flow.Context
    /// Throws if another call has superseded this one.
    let checkIsCurrent: @Sendable () throws -> Void

    // MARK: Factors

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
            return try await poll(binding.challenge, mfaContext: binding.mfaContext)
        case (.prompt(let code), .prompt(let binding)):
            return try await outOfBandTokens(binding.challenge, mfaContext: binding.mfaContext, bindingCode: code)
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

    /// The second factor that the server asks for, or that is being answered.
    private var openMFAContext: Flow.MFAContext? {
        switch context.currentStatus {
        case .mfaRequired(let mfaContext)?: mfaContext
        case .continuation(.prompt(let binding))?, .continuation(.transfer(let binding, _))?: binding.mfaContext
        case .continuation(.webAuthn(let asked))?: asked.mfaContext
        case .success?, nil: nil
        }
    }

    // MARK: Another device

    /// A fraction of a second would make a loop of requests.
    private static let shortestInterval: TimeInterval = 1

    private func primaryOutOfBand(loginHint: String, channel: Flow.OOBChannel) async throws -> OutOfBandChallenge {
        try await post(
            "primary-authenticate", ["login_hint": loginHint, "channel_hint": channel, "challenge_hint": GrantType.oob],
            as: OutOfBandChallenge.self)
    }

    private func outOfBand(_ challenge: OutOfBandChallenge, mfaContext: Flow.MFAContext?) async throws -> Flow.Status {
        try checkIsCurrent()
        let binding = Flow.ContinuationType.BindingContext(challenge: challenge, mfaContext: mfaContext)
        switch challenge.bindingMethod {
        case .none:
            return try await poll(challenge, mfaContext: mfaContext)
        case .prompt:
            return .continuation(.prompt(binding))
        case .transfer:
            guard let code = challenge.bindingCode else { throw DirectAuthenticationFlowError.bindingCodeMissing }
            return .continuation(.transfer(binding, code: code))
        }
    }

    /// Asks at once, and then after each interval, until the person has decided or the challenge has expired.
    private func poll(_ challenge: OutOfBandChallenge, mfaContext: Flow.MFAContext?) async throws -> Flow.Status {
        guard var interval = challenge.interval, interval > 0 else { throw DirectAuthenticationFlowError.missingArguments(["interval"]) }
        interval = max(interval, Self.shortestInterval)
        let clock = client.clock
        let end = clock.now.addingTimeInterval(challenge.expiresIn)
        while true {
            do {
                return try await outOfBandTokens(challenge, mfaContext: mfaContext, bindingCode: nil)
            } catch let error as APIClientError {
                switch error.pollingAnswer {
                case .pending: break
                case .slowDown: interval += 5
                case .final: throw error
                }
            }
            guard clock.now.addingTimeInterval(interval) < end else { throw DirectAuthenticationFlowError.pollingTimeoutExceeded }
            try await clock.sleep(for: interval)
            try checkIsCurrent()
        }
    }

    private func outOfBandTokens(
        _ challenge: OutOfBandChallenge, mfaContext: Flow.MFAContext?, bindingCode: String?
    ) async throws -> Flow.Status {
        var parameters: [String: any APIRequestArgument] = ["oob_code": challenge.code]
        if let mfaContext { parameters["mfa_token"] = mfaContext.mfaToken }
        if let bindingCode { parameters["binding_code"] = bindingCode }
        return try await tokens(mfaContext == nil ? .oob : .oobMFA, parameters)
    }

    // MARK: Requests

    private func tokens(_ grant: GrantType, _ parameters: [String: any APIRequestArgument]) async throws -> Flow.Status {
        let request = DirectTokenRequest(
            openIdConfiguration: try await client.openIdConfiguration(), clientConfiguration: client.configuration, context: context,
            grant: grant, supportedGrants: supportedGrants, additionalParameters: additionalParameters, parameters: parameters)
        do {
            return .success(try await client.exchange(token: request).result)
        } catch let error as APIClientError {
            guard let serverError = error.serverError, serverError.code == .mfaRequired else { throw error }
            return .mfaRequired(try Flow.MFAContext(serverError))
        }
    }

    private func post<Response: Decodable & Sendable>(
        _ endpoint: String, _ parameters: [String: any APIRequestArgument], as type: Response.Type
    ) async throws -> Response {
        let request = try ChallengeRequest<Response>(
            openIdConfiguration: try await client.openIdConfiguration(), clientConfiguration: client.configuration, context: context,
            endpoint: endpoint, parameters: parameters)
        return try await request.send(to: client).result
    }
}

extension DirectAuthenticationFlow.MFAContext {
    /// Reads the server's answer; the list of grants is a string with spaces or a list.
    init(_ error: OAuth2ServerError) throws {
        guard let token = error.additionalValues["mfa_token"] as? String, !token.isEmpty else {
            throw OAuth2Error.missingOAuth2ResponseKey("mfa_token")
        }
        mfaToken = token
        let names = error.additionalValues["supported_challenge_types"]
        supportedChallengeTypes =
            ((names as? String)?.whitespaceSeparated ?? (names as? [any Sendable])?.compactMap { $0 as? String })
            .map { $0.map(GrantType.init(rawValue:)) }
    }
}

extension APIClientError {
    enum PollingAnswer {
        case pending, slowDown, final
    }

    /// Whether to ask again: the person has not decided, or the server was not reached.
    var pollingAnswer: PollingAnswer {
        switch serverError?.code {
        case .authorizationPending?, .directAuthAuthorizationPending?: return .pending
        case .slowDown?: return .slowDown
        case .some: return .final
        case nil: break
        }
        guard case .httpError(let error as URLError) = self else { return .final }
        return switch error.code {
        case .notConnectedToInternet, .networkConnectionLost, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .timedOut: .pending
        default: .final
        }
    }
}
