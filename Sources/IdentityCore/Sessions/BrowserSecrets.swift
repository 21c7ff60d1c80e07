internal import Crypto
internal import Foundation
internal import JOSE

/// The secrets of a browser's cookies. The engine generates them and never adopts one from a request.
package struct BrowserSecrets: Sendable, Equatable {
    /// Seconds for which a browser keeps ``signIn``: the time limit of a sign-in.
    package static let signInLifetime = 1_800

    /// The secret that identifies this browser, so that a sign-in without a proof continues only in the browser that started it. An
    /// attacker may have planted this secret, so a sign-in uses ``signIn`` in its place after the first proof. Other pending sign-ins in
    /// the same browser still use this secret.
    package var browser: String?
    /// The secret that identifies the session; `nil` for none.
    package var session: String?
    /// A new secret that identifies this device for a year, but grants no access. Requests carry the secret in
    /// ``RequestContext/browserDevice``. Wrong answers of the user's device and of attackers are counted separately by this secret, so that
    /// attackers cannot lock the user out.
    package var device: String?
    /// The secret of one sign-in or recovery, which the engine gives to the browser that proved the first factor. Only a browser with this
    /// secret can continue, which prevents session fixation (RFC 9700 section 4.7).
    package var signIn: String?

    package init(browser: String? = nil, session: String? = nil, signIn: String? = nil) {
        (self.browser, self.session, self.signIn) = (browser, session, signIn)
    }

    /// Whether the length is plausible for a secret that the engine generated.
    static func isPossible(_ secret: String) -> Bool { (40...64).contains(secret.utf8.count) }

    /// The browser's secret if it is well-formed; otherwise `nil`.
    package var possibleBrowser: String? { browser.flatMap { Self.isPossible($0) ? $0 : nil } }

    /// The sign-in's secret if it is well-formed; otherwise `nil`.
    var possibleSignIn: String? { signIn.flatMap { Self.isPossible($0) ? $0 : nil } }
}

extension BrowserSecrets: Redacted {
    /// Shows which secrets are present, without their values.
    package var description: String { "BrowserSecrets(browser: \(browser != nil), session: \(session != nil), signIn: \(signIn != nil))" }
}

/// The token in each form of a sign-in, which prevents cross-site request forgery (RFC 6749 section 10.12).
package enum FormToken {
    /// Derives the token from the browser's secret and the transaction, so that only a party that has both can create it.
    package static func make(browser: String, transaction: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("form \(transaction)".utf8), using: SymmetricKey(data: Array(browser.utf8)))
        return Base64URL.encode(Array(code))
    }

    package static func isRight(_ token: String?, browser: String, transaction: String) -> Bool {
        guard let token, let given = try? Base64URL.decode(token) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            given, authenticating: Array("form \(transaction)".utf8), using: SymmetricKey(data: Array(browser.utf8)))
    }
}
