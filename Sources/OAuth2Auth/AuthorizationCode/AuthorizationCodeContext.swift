public import AuthFoundation
public import Foundation
public import JOSE

extension AuthorizationCodeFlow {
    /// How the server shall deal with the person (OpenID Connect Core 1.0, 3.1.2.1).
    public enum Prompt: String, Sendable, APIRequestArgument {
        /// It asks nothing, and refuses if it would have to.
        case none
        /// It asks for consent.
        case consent
        /// It asks for the credentials, whatever session there is.
        case login
        /// Both.
        case loginAndConsent = "login consent"

        /// - Parameter value: The parameter's value, whose words may be in any order.
        init?(words value: String) {
            self.init(rawValue: value.split(separator: " ").sorted(by: >).joined(separator: " "))
        }
    }

    /// What one sign-in asks for. Its descriptions show no secret.
    public struct Context: AuthenticationContext, IDTokenValidatorContext {
        /// The secret that binds the code to this sign-in.
        public private(set) var pkce: PKCE?

        /// The value that the ID token must repeat.
        public private(set) var nonce: String?

        /// How many seconds ago the person may have authenticated; nil for as long ago as may be, 0 for within this sign-in.
        public var maxAge: TimeInterval?

        /// The assurance levels that the sign-in must reach.
        @ClaimCollection public var acrValues: [String]?

        /// The value by which the redirect is known to belong to this sign-in.
        public var state: String

        /// The username to begin with.
        public var loginHint: String?

        /// How the server shall show itself: `page`, `popup`, `touch`, `wap`.
        public var display: String?

        /// An ID token of the person who is to sign in.
        public var idTokenHint: String?

        /// How the server shall deal with the person.
        public var prompt: Prompt?

        /// The languages for the server's pages, the preferred one first (RFC 5646).
        public var uiLocales: [String]?

        /// The languages for the claims, the preferred one first (RFC 5646).
        public var claimsLocales: [String]?

        /// Further parameters.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// Whether the request is pushed to a server that offers that (RFC 9126). One that requires it gets it in any case.
        public var pushedAuthorizationRequestEnabled = true

        /// The URL that the browser is sent to, once the sign-in has been started.
        public internal(set) var authenticationURL: URL?

        /// Where the browser returns to in this sign-in, if not to the configuration's redirect URI: a loopback address with the port at which
        /// the app listens (RFC 8252, 7.3).
        package var redirectUri: URL?

        /// Whether a redirect has been taken as the answer.
        var isAnswered = false

        /// Shared by the copies of a context, so that any of them is good for one sign-in.
        private var use = OneUse()

        private let isStateGiven: Bool
        private let isNonceGiven: Bool

        /// Takes what the sign-in asks for.
        ///
        /// - Parameters:
        ///   - state: The value by which the redirect is known: letters, digits and `,._-`; nil for a random one.
        ///   - maxAge: How many seconds ago the person may have authenticated.
        ///   - acrValues: The assurance levels that it must reach.
        ///   - additionalParameters: Further parameters. Those that this type has a property for go there.
        public init(
            state: String? = nil, maxAge: TimeInterval? = nil, acrValues: ClaimCollection<[String]?> = nil,
            additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.init(
                state: state, maxAge: maxAge, acrValues: acrValues, additionalParameters: additionalParameters, randomness: .system)
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
                // A value that this type has no name for is the server's own.
                if prompt == nil { further["prompt"] = words }
            }
            uiLocales = take("ui_locales")?.whitespaceSeparated
            claimsLocales = take("claims_locales")?.whitespaceSeparated
            self.additionalParameters = additionalParameters == nil ? nil : further
        }

        /// The context of a sign-in that begins now: this one if none has begun with it, in whatever flow; else one of its like.
        func forSignIn() -> Context {
            guard !use.begin() else { return self }
            let context = renewed()
            _ = context.use.begin()
            return context
        }

        /// The same for another sign-in: what was random is so anew.
        private func renewed(_ randomness: Randomness = .system) -> Context {
            var context = self
            context.use = OneUse()
            context.pkce = PKCE(randomness: randomness)
            if !isNonceGiven { context.nonce = randomness.identifier }
            if !isStateGiven { context.state = randomness.identifier }
            return context
        }

        /// The parameters of the sign-in: all of them for the browser's request, the verifier and the further ones for the code's exchange.
        ///
        /// - Parameter category: What the request is for.
        /// - Returns: The parameters.
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

/// What can be used once, by whoever comes first. Safe from any thread.
private final class OneUse: Sendable {
    private let isUsed = Locked(false)

    /// - Returns: Whether this is the first use.
    func begin() -> Bool {
        isUsed.withLock { isUsed in
            defer { isUsed = true }
            return !isUsed
        }
    }
}

extension AuthorizationCodeFlow.Context: Redacted {
    /// What is asked for by name; no secret, and nothing of the person.
    public var description: String { "Context(prompt: \(prompt?.rawValue ?? "nil"), acrValues: \(acrValues ?? []))" }
}
