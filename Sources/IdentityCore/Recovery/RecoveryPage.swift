package import Foundation
internal import Store

/// What a recovery on the hosted pages knows beside; a part of its ``ClassicSignIn``. Its token is good on the pages only, and there
/// only in the browser that it began in.
package struct RecoveryPage: Sendable, Equatable, Codable {
    /// What the page tells about the step before.
    package enum Notice: String, Sendable, Codable {
        case wrongCode, wrongAnswer, passwordsDiffer
        /// Another message was sent a moment ago.
        case sentJustNow
        case tooManyAttempts, busy
    }

    /// The browser that it continues in.
    package var browser: BrowserBinding
    /// The digest of the correct code; `nil` before the user entered it.
    package var acceptedCode: [UInt8]?
    /// The number of repeated codes from browsers that have only the secret from before the proof.
    package var repeatedCodes: Int?
    /// The token of the sign-in that it was begun from, sealed; nil for none.
    package var signIn: [UInt8]?
    /// The languages that the application asked for.
    package var locales: [String] = []
    package var notice: Notice? { didSet { noticeUntil = nil } }
    /// When it is over what the notice tells to wait for; nil for what stays until the next step.
    package var noticeUntil: Date?
    /// What the last new password was refused for; nil for none.
    package var violatedRules: [PasswordRule]?
}

extension RecoveryPage {
    /// What the page tells at a moment: nobody is told to wait for what is over.
    package func notice(at now: Date) -> Notice? { noticeUntil.map { now < $0 } ?? true ? notice : nil }
}

/// The page that a recovery is begun on.
package struct RecoveryBeginning: Sendable {
    /// The secret of the browser.
    package var browser: String
    /// The token of the sign-in.
    package var signIn: String
    /// The languages that the application asked for.
    package var locales: [String]

    package init(browser: String, signIn: String, locales: [String]) {
        (self.browser, self.signIn, self.locales) = (browser, signIn, locales)
    }
}

extension RecoveryPage {
    /// A recovery that is begun from a sign-in.
    package init(_ beginning: RecoveryBeginning, of transactionID: String, environment: EngineEnvironment) throws {
        browser = BrowserBinding(beginning.browser)
        locales = beginning.locales
        signIn = try RecordCoding.seal(
            Array(beginning.signIn.utf8), for: RecordReference(.transaction, transactionID), environment: environment)
    }

    /// A recovery that goes on by the link of a mail, in whichever browser that was opened. Only the one that it was begun in is led back
    /// to the sign-in.
    package init(in start: String, bound: String, continuing earlier: RecoveryPage?) {
        browser = BrowserBinding(start)
        browser.bind(to: bound)
        guard let earlier, earlier.browser.start == browser.start else { return }
        (signIn, locales) = (earlier.signIn, earlier.locales)
    }

    /// The token of the sign-in that it was begun from; nil for none.
    package func signInToken(of transactionID: String, environment: EngineEnvironment) throws -> String? {
        try signIn.map {
            let secret = try RecordCoding.open(
                $0, for: RecordReference(.transaction, transactionID), masterKey: environment.masterKey)
            return String(decoding: secret, as: UTF8.self)
        }
    }
}
