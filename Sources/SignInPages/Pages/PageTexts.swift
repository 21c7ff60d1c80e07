internal import Foundation

/// Every sentence of the pages in one language. A language is a value: what it lacks does not compile.
///
/// `{app}` stands for the application's name.
struct PageTexts: Sendable {
    struct Enroll: Sendable {
        var title: String
        var lead: String
        var begin: String
        var scan: String
        /// What a screen reader calls the QR code.
        var picture: String
        var byHand: String
        var code: String
        var confirm: String
    }

    /// The tag of the language (RFC 5646).
    var language: String

    var signInTitle: String
    var signInLead: String
    var username: String
    var password: String
    var signIn: String
    var startOver: String
    var cancel: String

    var factorsTitle: String
    var factorsLead: String
    var sendPush: String
    var code: String
    var useCode: String
    var pushTitle: String
    var pushLead: String
    var pushNumberLead: String
    var checkNow: String
    var sendAgain: String
    /// The label of the resend button until another push can be sent; `{seconds}` is replaced by the remaining seconds.
    var sendLater: String
    /// The status after another push was sent.
    var sentAgain: String
    /// The label of the button that leads to the other factors.
    var otherWay: String
    var pushSentJustNow: String
    var or: String
    var codeHint: String
    var waiting: String
    var answered: String
    /// Begins the title of a page that tells of a problem.
    var problem: String

    /// Of setting up a phone.
    var phone: PhoneTexts
    /// Of setting up an authenticator app.
    var enroll: Enroll

    /// Of choosing a new password.
    var passwords: PasswordTexts

    var wrongCredentials: String
    var wrongCode: String
    var lateCode: String
    var tooManyAttempts: String
    var busy: String
    var unanswered: String
    var notApproved: String
    var noDevice: String
    var tooManyChallenges: String

    var consentTitle: String
    var consentLead: String
    var allow: String
    var deny: String
    var scopeOpenID: String
    var scopeProfile: String
    var scopeEmail: String
    var scopeAddress: String
    var scopePhone: String
    var scopeOfflineAccess: String
    var scopeGroups: String

    var goOnTitle: String
    var goOnLead: String
    var goOn: String

    var errorTitle: String
    var badRequest: String
    var over: String
    var finishedTitle: String
    var finished: String
    var otherBrowser: String
    var tooManyRequests: String
    var notFound: String
    var failure: String
    var unreadableForm: String

    /// Of codes that are sent.
    var codes: CodeTexts

    /// Of getting back into an account.
    var recovery: RecoveryTexts

    /// Of signing out, and of devices without a browser.
    var flows: FlowTexts
}

extension PageTexts {
    /// The languages there are, the first one for everybody else.
    static let all = [english, german]

    /// The language for somebody who prefers some, by the beginning of its tag: `de` for `de-CH`.
    ///
    /// - Parameter preferences: Tags in order of preference.
    /// - Returns: The first that there is; English without one.
    static func preferred(by preferences: [String]) -> PageTexts {
        for preference in preferences {
            let tag = preference.lowercased()
            if let texts = all.first(where: { tag == $0.language || tag.hasPrefix($0.language + "-") }) { return texts }
        }
        return english
    }

    /// The tags of an `Accept-Language` header, the most preferred first (RFC 9110 section 12.5.4).
    static func tags(acceptLanguage header: String?) -> [String] {
        let entries = (header ?? "").prefix(500).split(separator: ",").prefix(20).map { entry -> (String, Double) in
            let parts = entry.split(separator: ";").map { part in String(part.filter { $0 != " " }) }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
            return (parts.first ?? "", quality ?? 1)
        }
        return entries.enumerated().sorted { ($1.element.1, $0.offset) < ($0.element.1, $1.offset) }.filter { $0.element.1 > 0 }.map(
            \.element.0)
    }
}
