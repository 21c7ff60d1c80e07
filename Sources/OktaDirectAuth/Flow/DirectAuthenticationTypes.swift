public import AuthFoundation
import Foundation
public import JOSE

extension DirectAuthenticationFlow {
    /// What a person begins with.
    public enum PrimaryFactor: Equatable, Sendable {
        /// A password.
        case password(String)
        /// A one-time code.
        case otp(code: String)
        /// Another device.
        case oob(channel: OOBChannel = .push)
        /// A passkey.
        case webAuthn
    }

    /// What a person goes on with when the server asks for another factor.
    public enum SecondaryFactor: Equatable, Sendable {
        /// A one-time code.
        case otp(code: String)
        /// Another device.
        case oob(channel: OOBChannel)
        /// A passkey.
        case webAuthn
    }

    /// What a person answers a continuation with.
    public enum ContinuationFactor: Equatable, Sendable {
        /// The code that is shown here has been picked on the other device.
        case transfer
        /// The code that came on the other device.
        case prompt(code: String)
        /// What the passkey signed.
        case webAuthn(response: WebAuthn.AuthenticatorAssertionResponse)
    }

    /// The way to another device.
    public enum OOBChannel: String, Codable, Equatable, Sendable, APIRequestArgument {
        /// A notification of an authenticator app.
        case push
        /// A text message.
        case sms
        /// A call.
        case voice
    }

    /// What a sign-in is for.
    public enum Intent: String, Codable, Equatable, Sendable {
        /// To sign in.
        case signIn
        /// To set a new password.
        case recovery
    }

    /// How far a sign-in has come.
    public enum Status: Equatable, Sendable {
        /// It has brought tokens.
        case success(_ token: Token)
        /// The person must do something with the same factor.
        case continuation(_ type: ContinuationType)
        /// The server asks for another factor.
        case mfaRequired(_ context: MFAContext)
    }

    /// What the person must do with the same factor.
    public enum ContinuationType: Equatable, Sendable {
        /// Sign with a passkey.
        case webAuthn(_ context: WebAuthnContext)
        /// Pick that code on the other device.
        case transfer(_ context: BindingContext, code: String)
        /// Type the code that came on the other device.
        case prompt(_ context: BindingContext)

        /// A passkey that is asked for.
        public struct WebAuthnContext: Equatable, Sendable {
            /// What the passkey is to sign.
            public let request: WebAuthn.CredentialRequestOptions
            let mfaContext: MFAContext?
        }

        /// Another device that is asked.
        public struct BindingContext: Equatable, Sendable {
            let challenge: OutOfBandChallenge
            let mfaContext: MFAContext?
            /// When the challenge expires, by the client's clock.
            let end: Date
        }
    }

    /// Another factor that the server asks for.
    public struct MFAContext: Equatable, Sendable {
        /// The grants that it takes; nil if it does not say, which means any.
        public let supportedChallengeTypes: [GrantType]?
        let mfaToken: String
    }

    /// What a sign-in asks for, and how far it has come.
    public struct Context: AuthenticationContext, Equatable, Sendable {
        /// The assurance levels that it must reach.
        @ClaimCollection public var acrValues: [String]?

        /// What it is for.
        public var intent: Intent

        /// How far it has come; nil before the first answer.
        public internal(set) var currentStatus: Status?

        /// Takes what a sign-in asks for.
        ///
        /// - Parameters:
        ///   - acrValues: The assurance levels that it must reach.
        ///   - intent: What it is for.
        public init(acrValues: ClaimCollection<[String]?> = nil, intent: Intent = .signIn) {
            _acrValues = acrValues
            self.intent = intent
        }

        /// The assurance levels, and for tokens what the sign-in is for if not to sign in.
        ///
        /// - Parameter category: What the request is for.
        /// - Returns: The parameters.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            guard category == .token || category == .other else { return nil }
            var parameters: [String: any APIRequestArgument] = [:]
            if acrValues?.isEmpty == false { parameters["acr_values"] = $acrValues }
            if category == .token, intent == .recovery {
                parameters["intent"] = "recovery"
                // A recovery brings a token that is good for one thing: to set a new password.
                parameters["scope"] = "okta.myAccount.password.manage"
            }
            return parameters
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
    /// What the person must do, without the number to pick.
    public var description: String {
        switch self {
        case .webAuthn: "webAuthn(…)"
        case .transfer(let context, _): "transfer(\(context))"
        case .prompt(let context): "prompt(\(context))"
        }
    }
}

extension DirectAuthenticationFlow.MFAContext: Redacted {
    /// The grants that the server takes.
    public var description: String {
        "MFAContext(\(supportedChallengeTypes?.map(\.rawValue).joined(separator: " ") ?? "any"))"
    }
}

extension DirectAuthenticationFlow.ContinuationType.BindingContext: Redacted {
    /// The way to the other device.
    public var description: String { "BindingContext(\(challenge.channel?.rawValue ?? "unknown"))" }
}
