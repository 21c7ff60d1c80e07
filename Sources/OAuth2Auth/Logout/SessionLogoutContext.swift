public import AuthFoundation
public import Foundation
public import JOSE

extension SessionLogoutFlow {
    /// What one sign-out asks for. Its descriptions show no secret.
    public struct Context: Equatable, Sendable {
        /// The value by which the redirect is known to belong to this sign-out.
        public let state: String

        /// The ID token of the session that is to end; nil if there is none.
        public var idToken: String?

        /// The username of the session that is to end.
        public var logoutHint: String?

        /// Further parameters. With a `prompt` of `login` or `consent` the browser stays on the server's pages and does not come back.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// The URL that the browser is sent to, once the sign-out has been started.
        public internal(set) var logoutURL: URL?

        /// Where the browser returns to in this sign-out, if not to the configuration's logout redirect URI: a loopback address with the port
        /// at which the app listens (RFC 8252, 7.3).
        package var redirectUri: URL?

        /// Takes what the sign-out asks for.
        ///
        /// - Parameters:
        ///   - idToken: The ID token of the session that is to end.
        ///   - logoutHint: The username of the session that is to end.
        ///   - state: The value by which the redirect is known: letters, digits and `,._-`; nil for a random one.
        ///   - additionalParameters: Further parameters.
        public init(
            idToken: String? = nil, logoutHint: String? = nil, state: String? = nil,
            additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.idToken = idToken
            self.logoutHint = logoutHint
            self.state = state ?? Randomness.system.identifier
            self.additionalParameters = additionalParameters
        }

        /// Takes what the sign-out asks for.
        ///
        /// - Parameters:
        ///   - token: The tokens of the session that is to end. Without an ID token among them the server is told the client only.
        ///   - logoutHint: The username of the session that is to end.
        ///   - state: The value by which the redirect is known: letters, digits and `,._-`; nil for a random one.
        ///   - additionalParameters: Further parameters.
        public init(
            token: Token, logoutHint: String? = nil, state: String? = nil, additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.init(idToken: token.idToken?.rawValue, logoutHint: logoutHint, state: state, additionalParameters: additionalParameters)
        }

        /// Whether both ask for the same, and have come as far.
        public static func == (lhs: Context, rhs: Context) -> Bool {
            lhs.state == rhs.state && lhs.idToken == rhs.idToken && lhs.logoutHint == rhs.logoutHint && lhs.logoutURL == rhs.logoutURL
                && lhs.redirectUri == rhs.redirectUri
                && lhs.additionalParameters?.mapValues(\.stringValue) == rhs.additionalParameters?.mapValues(\.stringValue)
        }
    }
}

extension SessionLogoutFlow.Context: Redacted {
    /// Whether there is an ID token; no secret, and nothing of the person.
    public var description: String { "Context(\(idToken == nil ? "no ID token" : "with ID token"))" }
}
