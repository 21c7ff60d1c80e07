public import AuthFoundation
import Foundation
public import JOSE

extension DirectAuthenticationFlow {
    /// The first factor of a sign-in.
    public enum PrimaryFactor: Equatable, Sendable {
        /// A password.
        case password(String)
        /// A one-time code.
        case otp(code: String)
        /// A code or an approval through another channel.
        case oob(channel: OOBChannel = .push)
        /// A passkey.
        case webAuthn
    }

    /// The second factor of a sign-in.
    public enum SecondaryFactor: Equatable, Sendable {
        /// A one-time code.
        case otp(code: String)
        /// A code or an approval through another channel.
        case oob(channel: OOBChannel)
        /// A passkey.
        case webAuthn
    }

    /// The answer to a continuation.
    public enum ContinuationFactor: Equatable, Sendable {
        /// The user has selected the displayed code on the other device.
        case transfer
        /// The code that the other device received.
        case prompt(code: String)
        /// The assertion of the passkey.
        case webAuthn(response: WebAuthn.AuthenticatorAssertionResponse)
    }

    /// The channel to another device.
    public enum OOBChannel: String, Codable, Equatable, Sendable, APIRequestArgument {
        /// A push notification to an authenticator app.
        case push
        /// A text message.
        case sms
        /// A voice call.
        case voice
    }

    /// The purpose of a sign-in.
    public enum Intent: String, Codable, Equatable, Sendable, ProvidesOAuth2Parameters {
        /// To sign in.
        case signIn
        /// To set a new password.
        case recovery

        /// Returns the intent and the scope for a token request of a recovery; `nil` for other requests.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            guard category == .token, self == .recovery else { return nil }
            // The token of a recovery only permits setting a new password.
            return ["intent": "recovery", "scope": "okta.myAccount.password.manage"]
        }
    }

    /// The state of a sign-in after a step.
    public enum Status: Equatable, Sendable {
        /// The sign-in succeeded.
        case success(_ token: Token)
        /// The user must complete the current factor.
        case continuation(_ type: ContinuationType)
        /// The server requires another factor.
        case mfaRequired(_ context: MFAContext)
    }

    /// The action that completes the current factor.
    public enum ContinuationType: Equatable, Sendable {
        /// Sign with a passkey.
        case webAuthn(_ context: WebAuthnContext)
        /// Select the displayed code on the other device.
        case transfer(_ context: BindingContext, code: String)
        /// Enter the code that the other device received.
        case prompt(_ context: BindingContext)

        /// The context of a passkey request.
        public struct WebAuthnContext: Equatable, Sendable {
            /// The options for the platform's passkey API.
            public let request: WebAuthn.CredentialRequestOptions
            let mfaContext: MFAContext?
        }

        /// The context of a request to another device.
        public struct BindingContext: Equatable, Sendable {
            let challenge: OutOfBandChallenge
            let mfaContext: MFAContext?
            /// The expiration time of the challenge, by the client's clock.
            let end: Date
        }
    }

    /// The context of a required second factor.
    public struct MFAContext: Equatable, Sendable {
        /// The accepted grant types; `nil` if the server does not restrict them.
        public let supportedChallengeTypes: [GrantType]?
        let mfaToken: String
    }

    /// The parameters and status of a sign-in.
    public struct Context: AuthenticationContext, Equatable, Sendable {
        /// The required assurance levels (ACR values).
        @ClaimCollection public var acrValues: [String]?

        /// The purpose of the sign-in.
        public var intent: Intent

        /// The current status; `nil` before the first response.
        public internal(set) var currentStatus: Status?

        /// The challenge that this sign-in answers; `nil` for none.
        private(set) var stepUp: StepUp?

        /// Creates the context of a sign-in.
        /// - Parameters:
        ///   - acrValues: The required assurance levels.
        ///   - intent: The purpose of the sign-in.
        public init(acrValues: ClaimCollection<[String]?> = nil, intent: Intent = .signIn) {
            _acrValues = acrValues
            self.intent = intent
        }

        /// Creates the context of a sign-in that answers the challenge of a resource server (RFC 9470 §4).
        /// The sign-in requests the `acr_values` of the challenge. It needs no `max_age`, because each direct authentication asks for the
        /// credentials. The scopes remain those of the client.
        /// The sign-in fails with `StepUpError` if the new tokens do not meet the challenge; they are then revoked. Do not repeat
        /// the sign-in for the same request then.
        /// - Parameters:
        ///   - challenge: The challenge of the resource server.
        ///   - token: The tokens that the resource server refused; `nil` if the app has none.
        public init(steppingUp challenge: StepUpChallenge, from token: Token?) {
            self.init(acrValues: ClaimCollection(wrappedValue: challenge.acrValues.isEmpty ? nil : challenge.acrValues))
            stepUp = StepUp(challenge, from: token)
        }

        /// Returns the assurance levels and, for a token request of a recovery, the intent and the scope. Returns `nil` for all categories
        /// except `token` and `other`.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            guard category == .token || category == .other else { return nil }
            var parameters: [String: any APIRequestArgument] = [:]
            if acrValues?.isEmpty == false { parameters["acr_values"] = $acrValues }
            return parameters.merging(intent.parameters(for: category) ?? [:]) { $1 }
        }
    }
}

extension DirectAuthenticationFlow.PrimaryFactor: Redacted {
    /// The factor without its secret.
    public var description: String {
        switch self {
        case .password: "password(…)"
        case .otp: "otp(…)"
        case .oob(let channel): "oob(\(channel.rawValue))"
        case .webAuthn: "webAuthn"
        }
    }
}

extension DirectAuthenticationFlow.SecondaryFactor: Redacted {
    /// The factor without its secret.
    public var description: String {
        switch self {
        case .otp: "otp(…)"
        case .oob(let channel): "oob(\(channel.rawValue))"
        case .webAuthn: "webAuthn"
        }
    }
}

extension DirectAuthenticationFlow.ContinuationFactor: Redacted {
    /// The answer without its code or signature.
    public var description: String {
        switch self {
        case .transfer: "transfer"
        case .prompt: "prompt(…)"
        case .webAuthn: "webAuthn(…)"
        }
    }
}

extension DirectAuthenticationFlow.ContinuationType: Redacted {
    /// The required action, without the code to select.
    public var description: String {
        switch self {
        case .webAuthn: "webAuthn(…)"
        case .transfer(let context, _): "transfer(\(context))"
        case .prompt(let context): "prompt(\(context))"
        }
    }
}

extension DirectAuthenticationFlow.MFAContext: Redacted {
    /// The accepted grant types.
    public var description: String {
        "MFAContext(\(supportedChallengeTypes?.map(\.rawValue).joined(separator: " ") ?? "any"))"
    }
}

extension DirectAuthenticationFlow.ContinuationType.BindingContext: Redacted {
    /// The channel to the other device.
    public var description: String { "BindingContext(\(challenge.channel?.rawValue ?? "unknown"))" }
}
