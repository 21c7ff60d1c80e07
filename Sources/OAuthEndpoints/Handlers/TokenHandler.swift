internal import Foundation
internal import HTTPTypes
internal import IdentityCore
internal import JOSE
internal import OAuthWire
internal import ServerHTTP

extension Endpoint {
    /// `/token`: issues tokens for all grant types (RFC 6749 section 3.2). The engine decides; this endpoint parses and serializes. With
    /// `polls`, a poll can be held until the user's decision. Otherwise each request is answered at once.
    static func token(_ engine: Engine, _ polls: HeldPolls?) -> Endpoint {
        Endpoint(backchannel: .token, engine: engine) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values, proof: call.proof)
            let hold = polls.flatMap { PollHold(call.request, in: $0) }
            let answer = try await engine.token(request, context: call.request.context, hold: hold)
            var response: ServerResponse
            switch answer.result {
            case .success(let granted):
                response = ServerResponse(json: TokenBody.serialize(granted)).uncached()
                if let nonce = granted.nextNonce { response.headers[.dpopNonce] = nonce }
            case .failure(let refusal): response = .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
            if let hold, let held = answer.held {
                response.trace.held = held
                response.headers[.preferenceApplied] = hold.appliedPreference
            }
            return response
        }
    }
}

/// The body of a successful token response (RFC 6749 section 5.1). It is written without intermediate values, because this is the hot path.
enum TokenBody {
    /// Returns the JSON in UTF-8. Absent members are left out, never `null`.
    static func serialize(_ response: TokenResponse) -> [UInt8] {
        var writer = JSONObjectWriter(
            capacity: 256 + response.accessToken.utf8.count + (response.idToken?.utf8.count ?? 0))
        writer.member("token_type", response.tokenType)
        writer.member("expires_in", response.expiresIn)
        writer.member("access_token", response.accessToken)
        writer.member("scope", response.scopes.joined(separator: " "))
        if let refreshToken = response.refreshToken { writer.member("refresh_token", refreshToken) }
        if let idToken = response.idToken { writer.member("id_token", idToken) }
        if let secret = response.deviceSecret { writer.member("device_secret", secret) }
        if let type = response.issuedTokenType { writer.member("issued_token_type", type) }
        return writer.finish()
    }
}

extension Endpoint {
    /// `/revoke`: revokes a token (RFC 7009). The response is empty, also for an unknown token.
    static func revoke(_ engine: Engine) -> Endpoint {
        Endpoint(backchannel: .revoke, engine: engine, acceptsQuery: true) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await engine.revoke(request, context: call.request.context) {
            case .success: return ServerResponse(status: .ok).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}

extension Endpoint {
    /// `/introspect`: returns whether a token is active, and its claims (RFC 7662).
    static func introspect(_ engine: Engine) -> Endpoint {
        Endpoint(backchannel: .introspect, engine: engine, acceptsQuery: true) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await engine.introspect(request, context: call.request.context) {
            case .success(let known): return ServerResponse(json: known.json.serialized()).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}

extension Endpoint {
    /// `/par`: accepts a pushed authorization request (RFC 9126; Documentation/Protocol/OAuth.md §5.2). The body is a form, or JSON as in
    /// the published API description.
    static func pushAuthorizationRequest(_ engine: Engine) -> Endpoint {
        Endpoint(backchannel: .pushedRequest, engine: engine, acceptsJSON: true) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values, proof: call.proof)
            switch try await engine.pushAuthorizationRequest(request, context: call.request.context) {
            case .success(let pushed):
                let body: JSONValue = ["request_uri": .string(pushed.requestURI), "expires_in": .integer(Int64(pushed.expiresIn))]
                var response = ServerResponse(status: .created, json: body.serialized()).uncached()
                if let nonce = pushed.nextNonce { response.headers[.dpopNonce] = nonce }
                return response
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}

extension Endpoint {
    /// `/device/authorize`: starts a sign-in for a device without a browser (RFC 8628 section 3.1; Documentation/Protocol/OAuth.md §2.8).
    static func deviceAuthorize(_ engine: Engine) -> Endpoint {
        Endpoint(backchannel: .deviceAuthorize, engine: engine) { call, form in
            let request = TokenRequest(server: call.server.id, client: form.client, parameters: form.parameters.values)
            switch try await engine.deviceAuthorize(request, context: call.request.context) {
            case .success(let start): return ServerResponse(json: JSONValue.object(start.members).serialized()).uncached()
            case .failure(let refusal): return .refusal(refusal, to: call.request, triedBasic: form.triedBasic)
            }
        }
    }
}
