public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A resource server's demand for a stronger or newer sign-in (RFC 9470): the error `insufficient_user_authentication`.
///
/// ```swift
/// if let challenge = StepUpChallenge(response) {
///     let token = try await browser.signIn(context: .init(steppingUp: challenge, from: credential.token))
///     // Store the token, and send the request once more.
/// }
/// ```
/// The contexts of `AuthorizationCodeFlow` and `DirectAuthenticationFlow` have an initializer `init(steppingUp:from:)`. A sign-in with such
/// a context fails with ``StepUpError`` if its tokens do not meet the challenge, so that an app cannot ask the user again and again. Send
/// the request once more after the sign-in, and show an error if the response is a challenge again.
/// A challenge is not authenticated: it can come from any server to which the app sends a request. It contains no secret. `Sendable`.
public struct StepUpChallenge: Sendable, Equatable {
    /// The error code of RFC 9470 §3.
    static let errorCode = "insufficient_user_authentication"

    /// The accepted assurance levels in order of preference (`acr_values`); empty if the server named none.
    public let acrValues: [String]
    /// The maximum age of the sign-in in seconds (`max_age`); `nil` if the server named none.
    public let maxAge: TimeInterval?
    /// The scopes that the request needs (`scope`); empty if the server named none. The flows do not request them, because a server could
    /// otherwise obtain tokens for other APIs. If the app trusts the server, it can sign in with a client that has these scopes.
    public let scope: [String]
    /// The server's description for developers (`error_description`); `nil` if the server sent none.
    public let errorDescription: String?

    /// Creates a challenge.
    /// - Parameters:
    ///   - acrValues: The accepted assurance levels in order of preference.
    ///   - maxAge: The maximum age of the sign-in in seconds.
    ///   - scope: The scopes that the request needs.
    ///   - errorDescription: The description for developers.
    public init(acrValues: [String] = [], maxAge: TimeInterval? = nil, scope: [String] = [], errorDescription: String? = nil) {
        self.acrValues = acrValues
        self.maxAge = maxAge
        self.scope = scope
        self.errorDescription = errorDescription
    }

    /// Reads the challenge of a response. Returns `nil` if the status is not 401, or if the response has no such challenge.
    public init?(_ response: HTTPURLResponse) {
        guard response.statusCode == 401, let header = response.header("WWW-Authenticate") else { return nil }
        self.init(authenticateHeader: header)
    }

    /// Reads the first step-up challenge in the value of a `WWW-Authenticate` header, which can contain several challenges. Returns `nil` if
    /// there is none of the schemes `Bearer` and `DPoP`, if the challenge is malformed, or if the value is longer than 8192 bytes.
    /// A `max_age` that is no number of at most ten digits is ignored.
    public init?(authenticateHeader header: String) {
        let challenge = AuthenticationChallenge.all(in: header).first {
            ["bearer", "dpop"].contains($0.scheme) && $0.parameters["error"] == Self.errorCode
        }
        guard let parameters = challenge?.parameters else { return nil }
        self.init(
            acrValues: parameters["acr_values"]?.whitespaceSeparated ?? [], maxAge: parameters["max_age"].flatMap(Self.seconds),
            scope: parameters["scope"]?.whitespaceSeparated ?? [], errorDescription: parameters["error_description"])
    }

    private static func seconds(_ text: String) -> TimeInterval? {
        guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return TimeInterval(text)
    }
}

extension StepUpChallenge {
    /// Checks that the tokens of a new sign-in meet this challenge and differ from the refused tokens, as RFC 9470 demands of clients to
    /// prevent loops. The flows do so for a context that was created with `init(steppingUp:from:)`.
    /// The check reads the ID tokens, because the access token is opaque to the client. If neither the refused nor the new tokens have one,
    /// it accepts the new tokens, and the app must limit its attempts itself. If only the new tokens have none, it throws.
    /// - Parameters:
    ///   - token: The tokens of the new sign-in.
    ///   - former: The tokens that the server refused; `nil` if the app has none.
    /// - Throws: ``StepUpError``. Do not sign in again for the same request.
    public func check(_ token: Token, replacing former: Token?) throws(StepUpError) {
        try StepUp(self, from: former).check(token)
    }
}

/// A sign-in that answers a challenge: the challenge, and the claims of the refused ID token.
package struct StepUp: Sendable, Equatable {
    /// The age in seconds that counts as new for a `max_age` of 0, as in ``StandardIDTokenValidator``.
    private static let newAge: TimeInterval = 300

    private struct SignIn: Sendable, Equatable {
        let subject: String?
        let level: String?
        let time: Date?

        init(_ idToken: JWT) {
            (subject, level, time) = (idToken.subject, idToken.authenticationContext, idToken.authTime)
        }
    }

    package let challenge: StepUpChallenge
    private let former: SignIn?

    package init(_ challenge: StepUpChallenge, from token: Token?) {
        self.challenge = challenge
        former = (token?.idToken).map(SignIn.init)
    }

    package func check(_ token: Token) throws(StepUpError) {
        guard let idToken = token.idToken else {
            // The refused tokens named their user, so new ones without a user prove no progress.
            if former != nil { throw .unchanged }
            return
        }
        let signIn = SignIn(idToken)
        if let former {
            guard signIn.subject == former.subject else { throw .otherUser }
            let isNewer = signIn.time.map { time in former.time.map { time > $0 } ?? true } ?? false
            // Another level is progress only if the challenge names levels, which are checked below.
            guard isNewer || (!challenge.acrValues.isEmpty && signIn.level != former.level) else { throw .unchanged }
        }
        if !challenge.acrValues.isEmpty {
            guard let level = signIn.level, challenge.acrValues.contains(level) else { throw .levelNotReached(signIn.level) }
        }
        if let maxAge = challenge.maxAge {
            guard let time = signIn.time, let issuedAt = idToken.issuedAt,
                issuedAt.timeIntervalSince(time) <= (maxAge > 0 ? maxAge : Self.newAge)
            else { throw .tooOld }
        }
    }
}
