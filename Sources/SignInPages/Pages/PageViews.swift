internal import Foundation
internal import IdentityCore
internal import OAuthWire
internal import QRCode
internal import ServerHTTP

/// The data of a page's template, in the user's language. Templates refer to the properties by their names.
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
    /// The result of the previous step; `nil` if there is none, or if the page shows the result in another way.
    var status: String?
    /// Seconds until another push can be sent; `nil` if it can be sent now.
    var cooldown: String?
    /// Seconds until the page reloads in a browser without scripts; `nil` for a page that does not reload.
    var refresh: String?
    /// The URL of the form. Most templates append the name of the step.
    var action = ""
    var formToken = ""
    /// The content of the form's first field: the user name, or the device code on the page that asks for it. `nil` for an empty field.
    var login: String?
    var isLoginFixed = false
    var factors: [Factor] = []
    var asksForCode = false
    /// The requested scopes, as sentences.
    var scopes: [String] = []
    /// The number that the user picks on the device, or the code that a device shows; `nil` for a page without either.
    var number: String?
    /// The rules for a new password, or the lines about the origin of a sign-in on the page of a mailed link.
    var rules: [String] = []
    /// The rules that the last new password violated.
    var violations: [String] = []
    var hasViolations = false
    /// A further paragraph: the error detail for the application's developer, the account, or the way back to the application. `nil` for
    /// none.
    var detail: String?
    var redirectURI = ""
    /// The QR code, as an SVG element that the server made; `nil` for a page without a QR code.
    var picture: String?
    /// The content of the QR code, for users who cannot scan it; `nil` for a page without a QR code.
    var secret: String?
    var canAddPasskey = false
    /// The label of the button that sets up a passkey.
    var addPasskey = ""
    var canAddPhone = false
    var canAddApp = false
    /// Whether another button is before the one that sets up an authenticator app.
    var isFurtherApp = false
    /// The label of the button that sets up an authenticator app.
    var beginApp = ""
    var parameters: [Parameter] = []
    /// Whether the page links to password recovery.
    var canRecover = false
    /// Whether the page links to the unlock of the account.
    var canUnlock = false
    /// Whether the page belongs to a recovery, which cannot be restarted or cancelled.
    var isRecovery = false
    /// The label of the main button.
    var button = ""
    /// The label of the resend button; `nil` for a page without it.
    var resend: String?
    /// The offer that the page makes; empty for another page.
    var offer = ""
    /// Whether the user can decline the step of the page.
    var isOffer = false
    /// The recovery codes to save.
    var codes: [String] = []
    /// The passkey that the page asks for or creates; `nil` for a page without one.
    var passkey: Passkey?
    /// The step that leads to the other factors, for templates that serve several steps.
    var otherStep = ""
    /// The step that the form submits, or the channel of the code to send again, for templates that serve several steps.
    var step = ""
    /// Whether the page waits for the user's action on a phone or in a mail.
    var isWaiting = false
    var question: String?
    /// The URL of the link back; `nil` for a page without this link.
    var back: String?
    /// Whether the sign-in has no user name yet. Its page then offers no restart.
    var isFirst = false
    /// Whether the notice concerns the typed value.
    var isInvalid = false
    var assets = PageAssets.Addresses()

    /// Whether ``factors`` has an element.
    var hasFactors = false
    /// Whether the user can choose: between a button and the field on the page of factors, for another factor on other pages.
    var hasChoice = false
    /// Whether the page loads a script.
    var runsScript: Bool { isWaiting || passkey != nil }
    /// Whether the code field gets the focus.
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
    /// Returns the secret in groups of four characters, which are easier to type.
    private static func grouped(_ secret: String) -> String {
        let characters = Array(secret)
        return stride(from: 0, to: characters.count, by: 4).map { String(characters[$0..<min($0 + 4, characters.count)]) }
            .joined(separator: " ")
    }

    /// Returns the view of a sign-in's page, and its template.
    static func signIn(_ page: HostedPage, token: String, organization: String, texts: PageTexts) -> (PageView, template: PageTemplate) {
        var view: PageView
        let template: PageTemplate
        switch page.content {
        case .password(let login, let isLoginFixed, let canRecover, let canUnlock, let passkey):
            template = .password
            view = PageView(
                texts, organization: organization, title: texts.signInTitle, lead: texts.signInLead, application: page.applicationName)
            view.login = login.isEmpty ? nil : login
            view.isLoginFixed = isLoginFixed
            view.isFirst = login.isEmpty
            view.canRecover = canRecover
            view.canUnlock = canUnlock
            view.passkey = passkey.map { Passkey(signingWith: $0, texts.passkeys) }
        case .recover, .recoveryMailed, .recoveryLink, .recoveryCode, .recoveryQuestion, .recoveryPassword, .recovered:
            (view, template) = recovery(page, token: token, organization: organization, texts: texts)
        case .sentCode, .mailLink, .mailLinkAnswered, .enrollNumber, .confirmNumber:
            (view, template) = code(page, token: token, organization: organization, texts: texts)
        case .offer, .savedCodes, .savedCode: (view, template) = offer(page, organization: organization, texts: texts)
        case .passkey, .createPasskey:
            template = .passkey
            view = passkey(page, organization: organization, texts: texts)
        case .factors(let choices):
            template = .factors
            view = PageView(
                texts, organization: organization, title: texts.factorsTitle, lead: texts.factorsLead, application: page.applicationName)
            view.factors = choices.compactMap { choice in
                texts.label(of: choice).map { Factor(value: choice.factor.rawValue, label: $0) }
            }
            view.asksForCode = choices.contains { $0.factor == .totp }
            view.hasFactors = !view.factors.isEmpty
            view.hasChoice = view.hasFactors && view.asksForCode
        case .enrollment(let offer, let choices):
            template = .enroll
            let canAddPhone = choices.contains(where: \.isPhone)
            let isChoice = offer == nil && choices != [.app]
            view = PageView(
                texts, organization: organization, title: isChoice ? texts.phone.chooseTitle : texts.enroll.title,
                lead: isChoice ? texts.phone.chooseLead : offer == nil ? texts.enroll.lead : texts.enroll.scan,
                application: page.applicationName)
            if choices == [.passkey] {
                view = PageView(
                    texts, organization: organization, title: texts.passkeys.createTitle, lead: texts.passkeys.requiredLead,
                    application: page.applicationName)
            }
            view.canAddPasskey = choices.contains(.passkey)
            view.addPasskey = choices == [.passkey] ? texts.passkeys.create : texts.passkeys.setUp
            view.isFurtherApp = canAddPhone || view.canAddPasskey
            view.canAddPhone = canAddPhone
            view.canAddApp = choices.contains(.app)
            view.beginApp = isChoice ? texts.phone.beginApp : texts.enroll.begin
            view.factors = texts.further(choices)
            view.hasFactors = !view.factors.isEmpty
            view.picture = (offer?.uri).flatMap { try? QRSymbol($0) }?.svg(title: texts.enroll.picture)
            view.secret = (offer?.secret).map(Self.grouped)
        case .newPassword(let login, let rules, let violated):
            template = .renew
            view = PageView(
                texts, organization: organization, title: texts.passwords.title, lead: texts.passwords.lead,
                application: page.applicationName)
            view.button = texts.passwords.change
            view.ask(for: login, rules: rules, violated: violated)
        case .phone(let offer, let canAddApp):
            template = .phone
            view = PageView(
                texts, organization: organization, title: texts.phone.title, lead: offer.uri == nil ? texts.phone.taken : texts.phone.lead,
                application: offer.authenticatorName)
            view.picture = offer.uri.flatMap { try? QRSymbol($0) }?.svg(title: texts.phone.picture)
            view.secret = offer.uri
            view.canAddApp = canAddApp
            view.isWaiting = true
            view.refresh = "3"
        case .push(let wait):
            template = .push
            view = PageView(
                texts, organization: organization, title: texts.pushTitle, lead: wait.number == nil ? texts.pushLead : texts.pushNumberLead)
            view.number = wait.number
            view.status = wait.isRepeated && page.notice == nil ? texts.sentAgain : nil
            view.cooldown = wait.resendDelay > 0 ? String(wait.resendDelay) : nil
            view.hasChoice = wait.hasOthers
            view.isWaiting = true
            view.refresh = "3"
        case .consent(let scopes):
            template = .consent
            view = PageView(
                texts, organization: organization, title: texts.consentTitle, lead: texts.consentLead, application: page.applicationName)
            view.scopes = scopes.map { texts.sentence(for: $0) }
        case .device(let userCode, let login):
            template = .device
            view = PageView(
                texts, organization: organization, title: texts.flows.deviceTitle, lead: texts.flows.deviceLead,
                application: page.applicationName)
            view.number = userCode
            view.detail = texts.flows.deviceAccount.replacing("{login}", with: login)
        case .deviceDecided(let isAllowed):
            template = .message
            let flows = texts.flows
            view = PageView(
                texts, organization: organization, title: isAllowed ? flows.deviceAllowedTitle : flows.deviceDeniedTitle,
                lead: isAllowed ? flows.deviceAllowed : flows.deviceDenied)
        }
        if view.action.isEmpty { view.action = RoutePath.signIn(token) }
        view.formToken = page.formToken
        view.notice = page.notice.map(texts.notice)
        view.isInvalid =
            [.wrongCredentials, .wrongCode, .wrongSentCode, .wrongSavedCode, .wrongAnswer, .passwordsDiffer, .wrongNumber, .foreignNumber]
            .contains(
                page.notice) || view.hasViolations
        view.focusesCode = view.isInvalid || !view.hasFactors
        return (view, template)
    }

    /// Sets the texts of a form for a new password.
    mutating func ask(for login: String, rules: [PasswordRule], violated: [PasswordRule]) {
        self.login = login
        self.rules = rules.map(texts.passwords.sentence)
        violations = violated.map(texts.passwords.sentence)
        hasViolations = !violated.isEmpty
    }

    /// Returns the error page of a sign-in that cannot continue.
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

    /// Returns the page whose form sends a response to the client (OAuth 2.0 Form Post Response Mode).
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
        case .wrongPasskey: passkeys.wrong
        case .passkeyNotCreated: passkeys.notCreated
        case .wrongSavedCode: offers.wrong
        }
    }

    /// Returns the text of a scope on the consent page.
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

    /// Returns the label of a factor's button; `nil` for a factor with a field.
    fileprivate func label(of choice: HostedFactorChoice) -> String? {
        let text: String? =
            switch choice.factor {
            case .passkey: passkeys.use
            case .push: sendPush
            case .totp: nil
            case .sms: codes.sms
            case .voice: codes.voice
            case .email: codes.email
            case .savedCode: offers.use
            }
        return text?.replacing("{place}", with: choice.destination ?? "")
    }
}
