internal import Foundation

/// All texts of the pages in one language. A missing translation does not compile. `{app}` stands for the application's name.
struct PageTexts: Sendable {
    struct Enroll: Sendable {
        var title: String
        var lead: String
        var begin: String
        var scan: String
        /// The name of the QR code for screen readers.
        var picture: String
        var byHand: String
        var code: String
        var confirm: String
    }

    /// The language tag (RFC 5646).
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
    /// The prefix of the title of a page with a problem.
    var problem: String

    var phone: PhoneTexts
    var enroll: Enroll

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

    var passkeys: PasskeyTexts
    var offers: OfferTexts

    var codes: CodeTexts

    var recovery: RecoveryTexts

    var flows: FlowTexts
}

extension PageTexts {
    /// The supported languages; the first one is the default.
    static let all = [english, german]

    /// Returns the texts in the first preferred language that is supported, otherwise in English. The tag `de-CH` matches German.
    static func preferred(by preferences: [String]) -> PageTexts {
        for preference in preferences {
            let tag = preference.lowercased()
            if let texts = all.first(where: { tag == $0.language || tag.hasPrefix($0.language + "-") }) { return texts }
        }
        return english
    }

    /// Returns the tags of an `Accept-Language` header, the most preferred first (RFC 9110 section 12.5.4).
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
