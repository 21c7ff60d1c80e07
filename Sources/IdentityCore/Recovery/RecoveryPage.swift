package import Foundation
internal import Store

/// The state of a recovery on the hosted pages; a part of its ``Recovery``. The state token of such a recovery is valid only on the pages,
/// in the browser to which the recovery is bound.
package struct RecoveryPage: Sendable, Equatable, Codable {
    /// The message about the previous step.
    package enum Notice: String, Sendable, Codable {
        case wrongCode, wrongAnswer, passwordsDiffer
        /// Another message was sent a moment ago.
        case sentJustNow
        case tooManyAttempts, busy
    }

    /// The browser in which the recovery continues.
    package var browser: BrowserBinding
    /// The digest of the correct code; `nil` before the user entered it.
    package var acceptedCode: [UInt8]?
    /// The number of repeated codes from browsers that have only the secret from before the proof; `nil` for none.
    package var repeatedCodes: Int?
    /// The encrypted token of the sign-in from which the recovery was started; `nil` for none.
    package var signIn: [UInt8]?
    /// The languages that the application requested.
    package var locales: [String] = []
    package var notice: Notice? { didSet { noticeUntil = nil } }
    /// The time when the notice becomes obsolete; `nil` for a notice that stays until the next step.
    package var noticeUntil: Date?
    /// The rules that the last new password violated; `nil` for none.
    package var violatedRules: [PasswordRule]?
}

extension RecoveryPage {
    /// Returns the notice, unless it is obsolete.
    package func notice(at now: Date) -> Notice? { noticeUntil.map { now < $0 } ?? true ? notice : nil }
}

/// The browser in which a recovery starts on the hosted pages.
package struct RecoveryBeginning: Sendable {
    /// The secret of the browser.
    package var browser: String
    /// The token of the sign-in from which the recovery is started; `nil` for none.
    package var signIn: String?
    /// The languages that the application requested.
    package var locales: [String]

    package init(browser: String, signIn: String?, locales: [String]) {
        (self.browser, self.signIn, self.locales) = (browser, signIn, locales)
    }
}

extension RecoveryPage {
    /// Creates the state of a recovery that is started on the pages.
    package init(_ beginning: RecoveryBeginning, of transactionID: String, environment: EngineEnvironment) throws {
        browser = BrowserBinding(beginning.browser)
        locales = beginning.locales
        signIn = try beginning.signIn.map {
            try RecordCoding.seal(Array($0.utf8), for: RecordReference(.transaction, transactionID), environment: environment)
        }
    }

    /// Creates the state of a recovery that continues by a mailed link, in any browser. Only the browser that started the recovery returns
    /// to the sign-in.
    package init(in start: String, bound: String, continuing earlier: RecoveryPage?) {
        browser = BrowserBinding(start)
        browser.bind(to: bound)
        guard let earlier, earlier.browser.start == browser.start else { return }
        (signIn, locales) = (earlier.signIn, earlier.locales)
    }

    /// Returns the token of the sign-in from which the recovery was started; `nil` for none.
    package func signInToken(of transactionID: String, environment: EngineEnvironment) throws -> String? {
        try signIn.map {
            let secret = try RecordCoding.open(
                $0, for: RecordReference(.transaction, transactionID), masterKeys: environment.masterKeys)
            return String(decoding: secret, as: UTF8.self)
        }
    }
}
