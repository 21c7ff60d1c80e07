public import AuthFoundation
public import Foundation
public import JOSE

extension SessionLogoutFlow {
    /// The parameters and state of one sign-out. Its descriptions show no secret.
    public struct Context: Equatable, Sendable {
        /// The value that identifies the redirect of this sign-out.
        public let state: String

        /// The ID token of the session to end; `nil` if there is none.
        public var idToken: String?

        /// The username of the session to end.
        public var logoutHint: String?

        /// Additional parameters. With a `prompt` of `login` or `consent`, the browser stays on the server's pages and is not redirected.
        public var additionalParameters: [String: any APIRequestArgument]?

        /// The URL to open in the browser, after the start of the sign-out.
        public internal(set) var logoutURL: URL?

        /// The redirect URI of this sign-out, if it differs from the configuration's: a loopback address with the port of the app (RFC 8252
        /// §7.3).
        package var redirectUri: URL?

        /// Creates the context of a sign-out.
        /// - Parameters:
        ///   - idToken: The ID token of the session to end.
        ///   - logoutHint: The username of the session to end.
        ///   - state: The value that identifies the redirect: letters, digits and `,._-`; `nil` for a random value.
        ///   - additionalParameters: Additional parameters.
        public init(
            idToken: String? = nil, logoutHint: String? = nil, state: String? = nil,
            additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.idToken = idToken
            self.logoutHint = logoutHint
            self.state = state ?? Randomness.system.identifier
            self.additionalParameters = additionalParameters
        }

        /// Creates the context of a sign-out.
        /// - Parameters:
        ///   - token: The tokens of the session to end. Without an ID token, the server receives only the client ID.
        ///   - logoutHint: The username of the session to end.
        ///   - state: The value that identifies the redirect: letters, digits and `,._-`; `nil` for a random value.
        ///   - additionalParameters: Additional parameters.
        public init(
            token: Token, logoutHint: String? = nil, state: String? = nil, additionalParameters: [String: any APIRequestArgument]? = nil
        ) {
            self.init(idToken: token.idToken?.rawValue, logoutHint: logoutHint, state: state, additionalParameters: additionalParameters)
        }

        /// Whether two contexts have equal parameters and the same progress.
        public static func == (lhs: Context, rhs: Context) -> Bool {
            lhs.state == rhs.state && lhs.idToken == rhs.idToken && lhs.logoutHint == rhs.logoutHint && lhs.logoutURL == rhs.logoutURL
                && lhs.redirectUri == rhs.redirectUri
                && lhs.additionalParameters?.mapValues(\.stringValue) == rhs.additionalParameters?.mapValues(\.stringValue)
        }
    }
}

extension SessionLogoutFlow.Context: Redacted {
    /// Whether there is an ID token; no secret and no personal data.
    public var description: String { "Context(\(idToken == nil ? "no ID token" : "with ID token"))" }
}
