internal import Crypto
internal import Foundation
public import JOSE

/// The secrets of a browser's cookies. The engine makes them and never takes one over from a request.
public struct BrowserSecrets: Sendable, Equatable {
    /// Seconds that a browser keeps ``signIn``: as long as the user has for a sign-in.
    package static let signInLifetime = 1_800

    /// Tells this browser from others, so that a sign-in in which nothing is proved yet continues only where it began.
    ///
    /// It says nothing about who uses the browser, and an attacker may have planted it: as soon as something is proved, ``signIn`` takes its
    /// place for that sign-in. Other sign-ins under way in the same browser keep it.
    public var browser: String?
    /// Leads to the session.
    public var session: String?
    /// A new secret by which this device is known again, for a year; never read from here, but from ``RequestContext/browserDevice``. It opens
    /// nothing: it keeps a user from being locked out by strangers.
    public var device: String?
    /// The secret of one sign-in or recovery: the engine gives it to the browser that proved the first factor, and nothing but it continues
    /// from there (session fixation, RFC 9700 section 4.7).
    public var signIn: String?

    /// Collects the secrets of a request's cookies.
    public init(browser: String? = nil, session: String? = nil, signIn: String? = nil) {
        self.browser = browser
        self.session = session
        self.signIn = signIn
    }

    /// More than any secret that the engine makes.
    static func isPossible(_ secret: String) -> Bool { (40...64).contains(secret.utf8.count) }

    /// The browser's secret if it can be one.
    var possibleBrowser: String? { browser.flatMap { Self.isPossible($0) ? $0 : nil } }

    /// The sign-in's secret if it can be one.
    var possibleSignIn: String? { signIn.flatMap { Self.isPossible($0) ? $0 : nil } }
}

extension BrowserSecrets: Redacted {
    /// Which there are; never the secrets.
    public var description: String { "BrowserSecrets(browser: \(browser != nil), session: \(session != nil), signIn: \(signIn != nil))" }
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
