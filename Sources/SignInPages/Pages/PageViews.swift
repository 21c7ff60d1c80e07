internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import QRCode

/// What the template of a page shows. Names are the templates' own; texts are in the person's language.
struct PageView: Sendable {
    struct Factor: Sendable {
        var value: String
        var label: String
    }

    struct Parameter: Sendable {
        var name: String
        var value: String
    }

    var texts: PageTexts
    var language: String
    var organization: String
    var title: String
    var lead: String
    var notice: String?
    /// The result of the previous step, if the page does not show it otherwise.
    var status: String?
    /// Seconds until the step can be repeated.
    var cooldown: String?
    /// Seconds after which the page is loaded again.
    var refresh: String?
    /// The address of the sign-in.
    var action = ""
    var formToken = ""
    var login: String?
    var isLoginFixed = false
    var factors: [Factor] = []
    var asksForCode = false
    /// What the application asks for, in sentences.
    var scopes: [String] = []
    var number: String?
    /// What a new password must be, and what the last one was not.
    var rules: [String] = []
    var violations: [String] = []
    var hasViolations = false
    /// For the application's maker.
    var detail: String?
    var redirectURI = ""
    /// An SVG element of the server's own.
    var picture: String?
    var secret: String?
    /// Whether a phone can be set up in place of an app, and what the app's button says.
    var canAddPhone = false
    var canAddApp = false
    var beginApp = ""
    var parameters: [Parameter] = []
    /// Whether who forgot a password, or has a locked account, is led on from here.
    var canRecover = false
    var canUnlock = false
    /// Whether it is a page of a recovery, which has no sign-in to begin again or to cancel.
    var isRecovery = false
    /// What the main button says, and the one that sends once more.
    var button = ""
    var resend: String?
    /// The last part of the address that a form is sent to, where a template has more than one use.
    var step = ""
    /// Whether it listens for what happens elsewhere.
    var isWaiting = false
    /// A security question.
    var question: String?
    /// Where the link back leads.
    var back: String?
    /// Whether nothing was proved yet, so that there is nothing to begin again.
    var isFirst = false
    /// Whether the notice is about what was typed.
    var isInvalid = false
    var assets = PageAssets.Addresses()

    /// Whether a factor has a button.
    var hasFactors = false
    /// Whether there is a button and a field.
    var hasChoice = false
    /// Whether the field of the code is where typing begins.
    var focusesCode = false

    init(_ texts: PageTexts, organization: String, title: String, lead: String, application: String = "") {
        self.texts = texts
        language = texts.language
        self.organization = organization
        self.title = title
        self.lead = lead.replacing("{app}", with: application)
    }
}

extension PageView {
    /// In groups of four, for who types it.
    private static func grouped(_ secret: String) -> String {
        let characters = Array(secret)
        return stride(from: 0, to: characters.count, by: 4).map { String(characters[$0..<min($0 + 4, characters.count)]) }
            .joined(separator: " ")
    }

    /// The page of a sign-in, and the name of its template.
    static func signIn(_ page: HostedPage, token: String, organization: String, texts: PageTexts) -> (PageView, template: String) {
        var view: PageView
        let template: String
        switch page.content {
        case .password(let login, let isLoginFixed, let canRecover, let canUnlock):
            template = "password"
            view = PageView(
                texts, organization: organization, title: texts.signInTitle, lead: texts.signInLead, application: page.applicationName)
            view.login = login.isEmpty ? nil : login
            view.isLoginFixed = isLoginFixed
            view.isFirst = login.isEmpty
            view.canRecover = canRecover
            view.canUnlock = canUnlock
        case .recover, .recoveryMailed, .recoveryLink, .recoveryCode, .recoveryQuestion, .recoveryPassword, .recovered:
            (view, template) = recovery(page, token: token, organization: organization, texts: texts)
        case .sentCode, .mailLink, .mailLinkAnswered, .enrollNumber, .confirmNumber:
            (view, template) = code(page, token: token, organization: organization, texts: texts)
        case .factors(let choices):
            template = "factors"
            view = PageView(
                texts, organization: organization, title: texts.factorsTitle, lead: texts.factorsLead, application: page.applicationName)
            view.factors = choices.compactMap { choice in
                texts.label(of: choice).map { Factor(value: choice.factor.rawValue, label: $0) }
            }
            view.asksForCode = choices.contains { $0.factor == .code }
            view.hasFactors = !view.factors.isEmpty
            view.hasChoice = view.hasFactors && view.asksForCode
        case .enrollment(let offer, let choices):
            template = "enroll"
            let canAddPhone = choices.contains(where: \.isPhone)
            let isChoice = offer == nil && choices != [.app]
            view = PageView(
                texts, organization: organization, title: isChoice ? texts.phone.chooseTitle : texts.enroll.title,
                lead: isChoice ? texts.phone.chooseLead : offer == nil ? texts.enroll.lead : texts.enroll.scan,
                application: page.applicationName)
            view.canAddPhone = canAddPhone
            view.canAddApp = choices.contains(.app)
            view.beginApp = isChoice ? texts.phone.beginApp : texts.enroll.begin
            view.factors = texts.further(choices)
            view.hasFactors = !view.factors.isEmpty
            view.picture = (offer?.uri).flatMap { try? QRSymbol($0) }?.svg(title: texts.enroll.picture)
            view.secret = (offer?.secret).map(Self.grouped)
        case .newPassword(let login, let rules, let violated):
            template = "renew"
            view = PageView(
                texts, organization: organization, title: texts.passwords.title, lead: texts.passwords.lead,
                application: page.applicationName)
            view.button = texts.passwords.change
            view.ask(for: login, rules: rules, violated: violated)
        case .phone(let offer, let canAddApp):
            template = "phone"
            view = PageView(
                texts, organization: organization, title: texts.phone.title, lead: offer.uri == nil ? texts.phone.taken : texts.phone.lead,
                application: offer.authenticatorName)
            view.picture = offer.uri.flatMap { try? QRSymbol($0) }?.svg(title: texts.phone.picture)
            view.secret = offer.uri
            view.canAddApp = canAddApp
            view.isWaiting = true
            view.refresh = "3"
        case .push(let wait):
            template = "push"
            view = PageView(
                texts, organization: organization, title: texts.pushTitle, lead: wait.number == nil ? texts.pushLead : texts.pushNumberLead)
            view.number = wait.number
            view.status = wait.isRepeated && page.notice == nil ? texts.sentAgain : nil
            view.cooldown = wait.resendDelay > 0 ? String(wait.resendDelay) : nil
            view.hasChoice = wait.hasOthers
            view.isWaiting = true
            view.refresh = "3"
        case .consent(let scopes):
            template = "consent"
            view = PageView(
                texts, organization: organization, title: texts.consentTitle, lead: texts.consentLead, application: page.applicationName)
            view.scopes = scopes.map { texts.sentence(for: $0) }
        case .device(let userCode, let login):
            template = "device"
            view = PageView(
                texts, organization: organization, title: texts.flows.deviceTitle, lead: texts.flows.deviceLead,
                application: page.applicationName)
            view.number = userCode
            view.detail = texts.flows.deviceAccount.replacing("{login}", with: login)
        case .deviceDecided(let isAllowed):
            template = "message"
            let flows = texts.flows
            view = PageView(
                texts, organization: organization, title: isAllowed ? flows.deviceAllowedTitle : flows.deviceDeniedTitle,
                lead: isAllowed ? flows.deviceAllowed : flows.deviceDenied)
        }
        if view.action.isEmpty { view.action = "/signin/\(token)" }
        view.formToken = page.formToken
        view.notice = page.notice.map(texts.notice)
        view.isInvalid =
            [.wrongCredentials, .wrongCode, .wrongSentCode, .wrongAnswer, .passwordsDiffer, .wrongNumber, .foreignNumber].contains(
                page.notice) || view.hasViolations
        view.focusesCode = view.isInvalid || !view.hasFactors
        return (view, template)
    }

    /// What a page shows that asks for a new password.
    mutating func ask(for login: String, rules: [PasswordRule], violated: [PasswordRule]) {
        self.login = login
        self.rules = rules.map(texts.passwords.sentence)
        violations = violated.map(texts.passwords.sentence)
        hasViolations = !violated.isEmpty
    }

    /// The page that says why a sign-in does not go on.
    static func refusal(_ refusal: HostedRefusal, organization: String, texts: PageTexts) -> PageView {
        switch refusal.reason {
        case .badRequest:
            var view = PageView(texts, organization: organization, title: texts.errorTitle, lead: texts.badRequest)
            view.detail = refusal.detail?.description
            return view
        case .over: return PageView(texts, organization: organization, title: texts.errorTitle, lead: texts.over)
        case .finished: return PageView(texts, organization: organization, title: texts.finishedTitle, lead: texts.finished)
        case .otherBrowser: return PageView(texts, organization: organization, title: texts.errorTitle, lead: texts.otherBrowser)
        case .link: return PageView(texts, organization: organization, title: texts.errorTitle, lead: texts.recovery.badLink)
        case .tooManyRequests: return PageView(texts, organization: organization, title: texts.errorTitle, lead: texts.tooManyRequests)
        }
    }

    /// The page whose form takes an answer to the client (OAuth 2.0 Form Post Response Mode).
    static func post(_ response: AuthorizationResponse, organization: String, texts: PageTexts) -> PageView {
        var view = PageView(texts, organization: organization, title: texts.goOnTitle, lead: texts.goOnLead)
        view.redirectURI = response.redirectURI
        view.parameters = response.parameters.map { Parameter(name: $0.name, value: $0.value) }
        return view
    }
}

extension PageTexts {
    fileprivate func notice(_ notice: HostedPage.Notice) -> String {
        switch notice {
        case .wrongCredentials: wrongCredentials
        case .wrongCode: wrongCode
        case .lateCode: lateCode
        case .tooManyAttempts: tooManyAttempts
        case .busy: busy
        case .unanswered: unanswered
        case .notApproved: notApproved
        case .noDevice: noDevice
        case .tooManyChallenges: tooManyChallenges
        case .pushSentJustNow: pushSentJustNow
        case .passwordsDiffer: passwords.differ
        case .wrongSentCode: recovery.wrongCode
        case .wrongAnswer: recovery.wrongAnswer
        case .sentJustNow: recovery.sentJustNow
        case .wrongNumber: codes.wrongNumber
        case .foreignNumber: codes.foreignNumber
        }
    }

    /// What a scope means to a person.
    fileprivate func sentence(for scope: HostedScope) -> String {
        switch scope.name {
        case "openid": scopeOpenID
        case "profile": scopeProfile
        case "email": scopeEmail
        case "address": scopeAddress
        case "phone": scopePhone
        case "offline_access": scopeOfflineAccess
        case "groups": scopeGroups
        default: scope.description ?? scope.name
        }
    }

    /// What the button of a factor says; nil for one that has a field.
    fileprivate func label(of choice: HostedFactorChoice) -> String? {
        let text: String? =
            switch choice.factor {
            case .push: sendPush
            case .code: nil
            case .sms: codes.sms
            case .voice: codes.voice
            case .email: codes.email
            }
        return text?.replacing("{place}", with: choice.destination ?? "")
    }
}
