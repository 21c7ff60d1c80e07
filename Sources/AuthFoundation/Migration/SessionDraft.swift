import Foundation
import JOSE

/// The values that an archive of another SDK contains, before they are checked.
struct SessionDraft {
    var accessToken: String?
    var tokenType: String?
    var refreshToken: String?
    var idToken: String?
    var scope: String?
    /// The expiry time of the access token.
    var expiresAt: Date?
    /// Whether the other SDK noted that the access token must be refreshed before its next use.
    var needsRefresh = false
    /// Further members of the server's response.
    var members: [String: JSON] = [:]
    var issuer: URL?
    var clientId: String?
    var clientSecret: String?
    var redirectUri: URL?
    var logoutRedirectUri: URL?

    /// The values that the app named.
    struct Expectation: Sendable {
        var issuer: URL?
        var clientId: String?
        var redirectUri: URL?
        var logoutRedirectUri: URL?
        var importsClientSecret = false

        /// The values for a comparison of settings.
        var settings: [String] {
            [issuer, redirectUri, logoutRedirectUri].map { $0?.absoluteString ?? "" } + [clientId ?? "", "\(importsClientSecret)"]
        }
    }

    /// Checks the values and makes a token of them. Neither the lifetime nor the signature of the ID token is checked: both were checked at
    /// the sign-in, and the ID token of a long session has expired.
    func session(id: String, now: Date, _ expected: Expectation) throws(Migration.SkipReason) -> ImportableSession {
        let idToken = try parsedIDToken()
        guard let clientId = clientId ?? expected.clientId, !clientId.isEmpty else { throw .incomplete("client id") }
        if let named = expected.clientId, named != clientId {
            let stored = Migration.SkipReason.shortened(clientId)
            throw Migration.SkipReason(.otherClient, "The session belongs to the client \(stored), but the app named \(named).")
        }
        guard let issuer = issuer ?? idToken?.issuer.flatMap({ URL(string: $0) }) ?? expected.issuer else { throw .incomplete("issuer") }
        let checked = try IssuerCheck(idToken: idToken, clientId: clientId).issuer(issuer, expected: expected.issuer)
        var configuration = OAuth2Client.Configuration(
            issuerURL: checked, clientId: clientId, scope: scope ?? "openid", redirectUri: expected.redirectUri ?? redirectUri,
            logoutRedirectUri: expected.logoutRedirectUri ?? logoutRedirectUri)
        if expected.importsClientSecret, let clientSecret { configuration.authentication = .clientSecret(clientSecret) }
        let token = try token(id: id, now: now, Token.Context(configuration: configuration))
        return ImportableSession(token: token, tags: ["migrated": "true"], expiresAt: expiresAt)
    }

    private func parsedIDToken() throws(Migration.SkipReason) -> JWT? {
        guard let idToken, !idToken.isEmpty else { return nil }
        do { return try JWT(idToken) } catch { throw Migration.SkipReason(.invalidToken, "The ID token is malformed.") }
    }

    private func token(id: String, now: Date, _ context: Token.Context) throws(Migration.SkipReason) -> Token {
        let hasRefreshToken = refreshToken?.isEmpty == false
        let hasAccessToken = accessToken?.isEmpty == false
        guard hasRefreshToken || hasAccessToken else { throw .incomplete("access token or refresh token") }
        if !hasRefreshToken, let expiresAt, expiresAt <= now {
            throw Migration.SkipReason(.expired, "The access token has expired, and there is no refresh token.")
        }
        guard tokenType?.lowercased() != "dpop" else {
            throw Migration.SkipReason(.boundToKey, "The tokens are bound to a key of the other SDK. The user must sign in again.")
        }
        // Without an access token, or with one of unknown lifetime, the first use refreshes.
        let isUsable = hasAccessToken && !needsRefresh
        let lifetime = isUsable ? Int64(clamping: max(0, expiresAt?.timeIntervalSince(now) ?? 0)) : 0
        var members = members
        members["access_token"] = .string(accessToken ?? "")
        members["token_type"] = .string(tokenType.flatMap { $0.isEmpty ? nil : $0 } ?? "Bearer")
        members["expires_in"] = .integer(lifetime)
        for (name, value) in [("refresh_token", refreshToken), ("id_token", idToken), ("scope", scope)] {
            members[name] = value.flatMap { $0.isEmpty ? nil : .string($0) }
        }
        do {
            // Parsed from its text, a number has the same type as after a later read of the stored token.
            let response = try JSON(JSONEncoder().encode(JSON.object(members)))
            let token = try Token(id: id, issuedAt: now, context: context, response: response, isStored: true)
            try token.checkHeader()
            return token
        } catch {
            throw Migration.SkipReason(.invalidToken, "A token or another value of the response is malformed.")
        }
    }
}

/// The checks of an issuer and an ID token that were stored together.
struct IssuerCheck {
    let idToken: JWT?
    let clientId: String
    /// Further issuers that the ID token may name.
    var trusted: Set<URL> = []

    /// Returns the issuer as the ID token writes it: Auth0's issuers end with a slash, which settings often omit.
    /// - Parameters:
    ///   - issuer: The issuer that was stored.
    ///   - expected: The issuer that the app named, if it named one.
    func issuer(_ issuer: URL, expected: URL? = nil) throws(Migration.SkipReason) -> URL {
        let stored = Migration.SkipReason.shortened(issuer.absoluteString)
        guard LoopbackRule.isAcceptable(issuer) else {
            throw Migration.SkipReason(
                .insecureIssuer, "The issuer \(stored) is not https. Plain http is allowed for loopback hosts only.")
        }
        if let expected, !Self.isSame(issuer, expected) {
            throw Migration.SkipReason(.otherIssuer, "The session's issuer is \(stored), but the app named \(expected.absoluteString).")
        }
        guard let idToken else { return issuer }
        guard idToken.audiences?.contains(clientId) == true else {
            let stored = Migration.SkipReason.shortened(clientId)
            throw Migration.SkipReason(.otherClient, "The ID token was issued to another client than \(stored).")
        }
        guard let named = idToken.issuer.flatMap({ URL(string: $0) }) else {
            throw Migration.SkipReason(.invalidToken, "The ID token has no issuer.")
        }
        if Self.isSame(named, issuer) { return named }
        guard trusted.contains(where: { Self.isSame(named, $0) }) else {
            let other = Migration.SkipReason.shortened(named.absoluteString)
            throw Migration.SkipReason(
                .otherIssuer,
                "The session's issuer is \(stored), and its ID token is from \(other). If both belong to one organization, pass the second one "
                    + "in trustedIssuers.")
        }
        return issuer
    }

    /// Whether two issuers differ at most in a trailing slash.
    private static func isSame(_ one: URL, _ other: URL) -> Bool { trimmed(one) == trimmed(other) }

    private static func trimmed(_ url: URL) -> Substring { url.absoluteString.dropLast(url.absoluteString.hasSuffix("/") ? 1 : 0) }
}
