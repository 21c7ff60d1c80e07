internal import Foundation
internal import IdentityCore
internal import ServerHTTP

extension PageView {
    /// Returns the view of a recovery's page, and its template. `token` names the sign-in or the recovery; it is empty without one.
    static func recovery(_ page: HostedPage, token: String, organization: String, texts: PageTexts) -> (PageView, template: PageTemplate) {
        func view(_ title: String, _ lead: String) -> PageView {
            var view = PageView(texts, organization: organization, title: title, lead: lead, application: page.applicationName)
            view.isRecovery = true
            return view
        }
        let recovery = texts.recovery
        switch page.content {
        case .recover(let isUnlock, let channels, let login):
            let kind = recovery.kind(isUnlock: isUnlock)
            var view = view(kind.title, kind.lead)
            view.action = (token.isEmpty ? RecoveryPlace.newPassword : .form(signIn: token, isUnlock: isUnlock)).path
            view.back = token.isEmpty ? nil : RoutePath.signIn(token)
            view.login = login.isEmpty ? nil : login
            view.factors = channels.map { Factor(value: $0 == .voice ? "call" : $0.rawValue, label: recovery.label(of: $0)) }
            return (view, .recover)
        case .recoveryMailed(let isUnlock):
            var view = view(recovery.mailedTitle, recovery.kind(isUnlock: isUnlock).mailed)
            view.back = token.isEmpty ? nil : RoutePath.signIn(token)
            view.button = recovery.back
            return (view, .done)
        case .recoveryLink(let kind, let login):
            let link = recovery.link(of: kind)
            var view = view(link.title, link.lead)
            view.detail = recovery.account.replacing("{login}", with: login)
            view.button = link.goOn
            return (view, .take)
        case .recoveryCode(let channel):
            var view = view(recovery.codeTitle, channel == .voice ? recovery.callLead : recovery.textLead)
            view.step = "code"
            view.button = recovery.useCode
            view.resend = channel == .voice ? recovery.callAgain : recovery.sendAnother
            return (view, .sent)
        case .recoveryQuestion(let key, let text):
            var view = view(recovery.questionTitle, recovery.questionLead)
            view.step = "answer"
            view.button = recovery.goOnWithAnswer
            view.question = QuestionTexts.text(of: key, english: text, language: texts.language)
            return (view, .sent)
        case .recoveryPassword(let kind, let login, let rules, let violated):
            var view =
                kind == .activation ? view(recovery.firstTitle, recovery.firstLead) : view(texts.passwords.title, recovery.newLead)
            view.button = recovery.setPassword
            view.ask(for: login, rules: rules, violated: violated)
            return (view, .renew)
        case .recovered(let kind, let signIn):
            let link = recovery.link(of: kind)
            var view = view(link.doneTitle, link.done)
            view.back = signIn.map { RoutePath.signIn($0) }
            view.button = recovery.signIn
            view.detail = signIn == nil ? recovery.toApplication : nil
            return (view, .done)
        default: return (view(texts.errorTitle, texts.over), .message)
        }
    }
}
