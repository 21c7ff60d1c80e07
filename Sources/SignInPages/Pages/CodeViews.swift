internal import Foundation
internal import IdentityCore

extension PageView {
    /// Returns the view of a page about a sent code or a mailed link, and its template.
    static func code(_ page: HostedPage, token: String, organization: String, texts: PageTexts) -> (PageView, template: PageTemplate) {
        let codes = texts.codes
        switch page.content {
        case .sentCode(let channel, let destination, let hasOthers):
            var view = PageView(
                texts, organization: organization, title: codes.title, lead: codes.lead(channel).replacing("{place}", with: destination))
            view.step = channel.rawValue
            view.resend = codes.again(channel)
            view.hasChoice = hasOthers
            // Only a script continues the page. Reloading it would lose the typed text.
            view.isWaiting = channel == .email
            return (view, .code)
        case .enrollNumber(let channel):
            var view = PageView(texts, organization: organization, title: codes.numberTitle, lead: codes.numberLead)
            view.button = codes.first(channel)
            return (view, .number)
        case .confirmNumber(let channel, let destination):
            var view = PageView(
                texts, organization: organization, title: codes.title,
                lead: (channel == .email ? codes.mailboxLead : codes.lead(channel)).replacing("{place}", with: destination))
            view.resend = codes.again(channel)
            return (view, .number)
        case .mailLink(let question):
            var view = PageView(
                texts, organization: organization, title: codes.linkTitle,
                lead: codes.linkLead.replacing("{login}", with: question.login),
                application: question.applicationName ?? page.applicationName)
            view.rules = codes.origin(question, language: texts.language)
            return (view, .confirm)
        case .mailLinkAnswered(let isApproved):
            return (
                PageView(
                    texts, organization: organization, title: isApproved ? codes.confirmedTitle : codes.deniedTitle,
                    lead: isApproved ? codes.confirmed : codes.denied), .message
            )
        default: return (PageView(texts, organization: organization, title: texts.errorTitle, lead: texts.over), .message)
        }
    }
}

extension PageTexts {
    /// Returns the buttons of the enrollment choices, except those of a passkey, of the first phone and of an authenticator app.
    func further(_ choices: [HostedEnrollment]) -> [PageView.Factor] {
        let first = choices.first(where: \.isPhone)
        return choices.filter { $0 != first }.compactMap { choice in
            switch choice {
            case .passkey, .app: nil
            case .phone(let id, let name): PageView.Factor(value: id, label: phone.beginWith.replacing("{app}", with: name))
            case .code(let channel): PageView.Factor(value: channel.rawValue, label: codes.setUp(channel))
            }
        }
    }
}

extension HostedEnrollment {
    var isPhone: Bool { if case .phone = self { true } else { false } }
}
