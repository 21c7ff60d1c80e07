import AuthFoundation
import Foundation
import OktaDirectAuth
import TestSupport

extension ScriptedIssuer.Reply {
    static let pending = refusal("authorization_pending")
    static let mfaRequired = refusal(
        "mfa_required", status: 403,
        more:
            #","mfa_token":"mfa-1","supported_challenge_types":"http://auth0.com/oauth/grant-type/mfa-otp http://auth0.com/oauth/grant-type/mfa-oob""#
    )
    static func outOfBand(binding: String, interval: String? = "5", more: String = "") -> Self {
        let interval = interval.map { ",\"interval\":\($0)" } ?? ""
        return Self(body: #"{"oob_code":"oob-1","channel":"push","binding_method":"\#(binding)","expires_in":60\#(interval)\#(more)}"#)
    }
}

extension ScriptedIssuer {
    /// Returns an issuer for direct authentication, without a path in its URL.
    static func directAuthentication() -> ScriptedIssuer { ScriptedIssuer(base: "https://id.example.com") }

    /// Returns a client, by default without a redirect URI.
    func directClient(
        authentication: OAuth2Client.ClientAuthentication = .none, redirectUri: String? = nil, clock: (any OAuth2Clock)? = nil
    ) throws -> OAuth2Client {
        try client(redirectUri: redirectUri, authentication: authentication, clock: clock)
    }

    /// Whether the server received no request at all, not even for discovery.
    var isUntouched: Bool { requests("").isEmpty }

    /// Returns a flow that needs a second factor.
    func challengedFlow(clock: (any OAuth2Clock)? = nil) async throws -> DirectAuthenticationFlow {
        let flow = try DirectAuthenticationFlow(client: directClient(clock: clock))
        answer("token", .mfaRequired)
        _ = try await flow.start("jane", with: .password("Correct-Horse-7"))
        return flow
    }

    /// Holds the requests to an endpoint until the gate is opened.
    func hold(_ endpoint: String) -> Gate {
        let gate = Gate()
        atRequest(endpoint) { await gate.wait() }
        return gate
    }
}
