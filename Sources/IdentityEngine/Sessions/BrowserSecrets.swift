internal import Crypto
internal import Foundation
public import JOSE

/// What a browser's cookies hold: secrets, made by the engine and never taken over from a request.
public struct BrowserSecrets: Sendable, Equatable {
    /// Tells this browser from others, so that a sign-in goes on only where it began. Not renewed at a sign-in: others may be under
    /// way in the same browser, and it opens nothing by itself.
    public var browser: String?
    /// Leads to the session.
    public var session: String?
    /// A new secret by which this device is known again, for a year; never read from here, but from ``RequestContext/browserDevice``. It opens
    /// nothing: it keeps a user from being locked out by strangers.
    public var device: String?

    /// Collects what a request's cookies hold.
    public init(browser: String? = nil, session: String? = nil) {
        self.browser = browser
        self.session = session
    }

    /// More than any secret that the engine makes.
    static func isPossible(_ secret: String) -> Bool { (40...64).contains(secret.utf8.count) }

    /// The browser's secret if it can be one.
    var possibleBrowser: String? { browser.flatMap { Self.isPossible($0) ? $0 : nil } }
}

extension BrowserSecrets: Redacted {
    /// Which there are; never the secrets.
    public var description: String { "BrowserSecrets(browser: \(browser != nil), session: \(session != nil))" }
}

/// The token that each form of a sign-in carries, so that no other site's form is taken for one (RFC 6749 section 10.12).
enum FormToken {
    /// Follows from the browser's secret and the transaction: who does not have both cannot make it.
    static func make(browser: String, transaction: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("form \(transaction)".utf8), using: SymmetricKey(data: Array(browser.utf8)))
        return Base64URL.encode(Array(code))
    }

    static func isRight(_ token: String?, browser: String, transaction: String) -> Bool {
        guard let token, let given = try? Base64URL.decode(token) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            given, authenticating: Array("form \(transaction)".utf8), using: SymmetricKey(data: Array(browser.utf8)))
    }
}
