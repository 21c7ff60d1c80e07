public import AuthFoundation
public import Foundation
public import JOSE

extension AuthorizationCodeFlow {
    /// The prompts that the server shows to the user (OpenID Connect Core 1.0 §3.1.2.1).
    public enum Prompt: String, Sendable, APIRequestArgument {
        /// No user interface. The server returns an error if it needs user interaction.
        case none
        /// Asks for consent.
        case consent
        /// Asks for the credentials, even if the user has a session.
        case login
        /// Asks for the credentials and for consent.
        case loginAndConsent = "login consent"

        /// Creates a prompt from the parameter's value, in any letter case. Returns `nil` if the value is unknown.
        public init?(rawValue: String) {
            switch rawValue.lowercased() {
            case "none": self = .none
            case "consent": self = .consent
            case "login": self = .login
            case "login consent": self = .loginAndConsent
            default: return nil
            }
        }

        /// Creates a prompt from the parameter's value, whose words may be in any order. Returns `nil` if the value is unknown.
        init?(words value: String) {
            self.init(rawValue: value.split(separator: " ").sorted(by: >).joined(separator: " "))
        }
    }

    /// The parameters and state of one sign-in. Descriptions of a context show no secret.
    public struct Context: AuthenticationContext, IDTokenValidatorContext {
        /// The PKCE secret that binds the code to this sign-in (RFC 7636).
        public private(set) var pkce: PKCE?

        /// The nonce that the ID token must contain.
        public private(set) var nonce: String?

        /// The maximum seconds since the user's last authentication. `nil` sets no limit; 0 requires a new authentication.
        public var maxAge: TimeInterval?

        /// The required assurance levels (ACR values).
        @ClaimCollection public var acrValues: [String]?

        /// The value that identifies the redirect of this sign-in.
        public var state: String

        /// The username to prefill; `nil` for none.
        public var loginHint: String?

        /// The display mode of the server's pages: `page`, `popup`, `touch` or `wap`; `nil` for the server's default.
        public var display: String?

        /// An ID token of the user that the app expects to sign in; `nil` for any user.
        public var idTokenHint: String?

        /// The prompts that the server shows to the user; `nil` for the server's default.
        public var prompt: Prompt?

        /// The languages of the server's pages, in order of preference (RFC 5646); `nil` for the server's default.
        public var uiLocales: [String]?

        /// The languages of the claims, in order of preference (RFC 5646); `nil` for the server's default.
        public var claimsLocales: [String]?

        /// Additional parameters.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// Whether to use a pushed authorization request if the server supports it (RFC 9126). If the server requires pushed requests, they
        /// are always used.
        public var pushedAuthorizationRequestEnabled = true

        /// The URL to open in the browser; `nil` before ``AuthorizationCodeFlow/start(with:)`` returns.
        public internal(set) var authenticationURL: URL?

        /// The redirect URI of this sign-in, if it differs from the configuration's: a loopback address with the app's port (RFC 8252
        /// §7.3).
        package var redirectUri: URL?

        /// The challenge that this sign-in answers; `nil` for none.
        private(set) var stepUp: StepUp?

        /// Whether a redirect of this sign-in has been accepted.
        var isAnswered = false

        /// Whether a sign-in used this context or one of its copies. Only the first sign-in keeps the random values.
        private var isUsed = Locked(false)

        private let isStateGiven: Bool
        private let isNonceGiven: Bool

        /// Creates the context of a sign-in.
        /// - Parameters:
        ///   - state: The value that identifies the redirect: letters, digits and `,._-`; `nil` for a random value.
        ///   - maxAge: The maximum seconds since the user's last authentication.
        ///   - acrValues: The required assurance levels.
        ///   - additionalParameters: Additional parameters. A parameter that has a property in this type sets this property.
        public init(
            state: String? = nil, maxAge: TimeInterval? = nil, acrValues: ClaimCollection<[String]?> = nil,
            additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.init(
                state: state, maxAge: maxAge, acrValues: acrValues, additionalParameters: additionalParameters, randomness: .system)
        }

        /// Creates the context of a sign-in that answers the challenge of a resource server (RFC 9470 §4).
        /// The sign-in requests the `acr_values` and the `max_age` of the challenge. If the challenge has neither, it asks for the
        /// credentials again (`prompt=login`). The scopes remain those of the client. The ID token of the refused tokens is sent as
        /// `id_token_hint`, so that the server accepts only the same user.
        /// The sign-in fails with `StepUpError`, or with `JWTError.exceedsMaxAge`, if the new tokens do not meet the challenge; they are then
        /// revoked. Do not repeat the sign-in for the same request then.
        /// - Parameters:
        ///   - challenge: The challenge of the resource server.
        ///   - token: The tokens that the resource server refused; `nil` if the app has none.
        ///   - additionalParameters: Additional parameters. A parameter that has a property in this type sets this property.
        public init(
            steppingUp challenge: StepUpChallenge, from token: Token?, additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.init(
                maxAge: challenge.maxAge, acrValues: ClaimCollection(wrappedValue: challenge.acrValues.isEmpty ? nil : challenge.acrValues),
                additionalParameters: additionalParameters)
            stepUp = StepUp(challenge, from: token)
            idTokenHint = idTokenHint ?? token?.idToken?.rawValue
            if challenge.acrValues.isEmpty, challenge.maxAge == nil, prompt == nil { prompt = .login }
        }

        init(
            state: String?, maxAge: TimeInterval?, acrValues: ClaimCollection<[String]?>,
            additionalParameters: [String: any APIRequestArgument]?, randomness: Randomness
        ) {
            var further = additionalParameters ?? [:]
            func take(_ name: String) -> String? { further.removeValue(forKey: name)?.stringValue }
            let givenState = take("state")
            let givenNonce = take("nonce")
            let givenMaxAge = take("max_age").flatMap { TimeInterval($0) }
            let givenLevels = take("acr_values")
            pkce = PKCE(randomness: randomness)
            nonce = givenNonce ?? randomness.identifier
            isNonceGiven = givenNonce != nil
            self.state = state ?? givenState ?? randomness.identifier
            isStateGiven = state != nil || givenState != nil
            self.maxAge = maxAge ?? givenMaxAge
            _acrValues = acrValues
            if acrValues.wrappedValue == nil, let givenLevels { self.acrValues = givenLevels.whitespaceSeparated }
            loginHint = take("login_hint")
            display = take("display")
            idTokenHint = take("id_token_hint")
            if let words = take("prompt") {
                prompt = Prompt(words: words)
                // Custom prompts of the server are sent unchanged.
                if prompt == nil { further["prompt"] = words }
            }
            uiLocales = take("ui_locales")?.whitespaceSeparated
            claimsLocales = take("claims_locales")?.whitespaceSeparated
            self.additionalParameters = additionalParameters == nil ? nil : further
        }

        /// Returns this context on its first use in any flow. Later calls return a copy with new random values.
        func forSignIn() -> Context {
            guard isUsed.exchange(true) else { return self }
            let context = renewed()
            context.isUsed.exchange(true)
            return context
        }

        /// Returns a copy with new random values, except for a `state` and a `nonce` that the app set.
        private func renewed(_ randomness: Randomness = .system) -> Context {
            var context = self
            context.isUsed = Locked(false)
            context.pkce = PKCE(randomness: randomness)
            if !isNonceGiven { context.nonce = randomness.identifier }
            if !isStateGiven { context.state = randomness.identifier }
            return context
        }

        /// Returns the parameters of a request. The authorization request has all parameters. The token request has the code verifier and
        /// the additional parameters. Other requests have only the additional parameters.
        public func parameters(for category: OAuth2APIRequestCategory) -> [String: any APIRequestArgument]? {
            var parameters = additionalParameters ?? [:]
            switch category {
            case .authorization:
                parameters["response_type"] = "code"
                parameters["state"] = state
                parameters["nonce"] = nonce ?? parameters["nonce"]
                parameters["code_challenge"] = pkce?.codeChallenge
                parameters["code_challenge_method"] = pkce?.method
                if let maxAge { parameters["max_age"] = Int(clamping: max(maxAge, 0)) }
                if acrValues != nil { parameters["acr_values"] = $acrValues }
                if let loginHint { parameters["login_hint"] = loginHint }
                if let display { parameters["display"] = display }
                if let idTokenHint { parameters["id_token_hint"] = idTokenHint }
                if let prompt { parameters["prompt"] = prompt }
                if let uiLocales { parameters["ui_locales"] = uiLocales.joined(separator: " ") }
                if let claimsLocales { parameters["claims_locales"] = claimsLocales.joined(separator: " ") }
            case .token:
                parameters["code_verifier"] = pkce?.codeVerifier
            case .configuration, .resource, .other:
                break
            }
            return parameters
        }
    }
}

extension AuthorizationCodeFlow.Context: Redacted {
    /// The prompt and the assurance levels; no secret and no personal data.
    public var description: String { "Context(prompt: \(prompt?.rawValue ?? "nil"), acrValues: \(acrValues ?? []))" }
}
