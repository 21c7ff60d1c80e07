internal import Foundation
package import IdentityCore
internal import JOSE
internal import Store

/// The page of the link that comes with a code by mail.
extension Engine {
    /// Returns the subject of the form token. It identifies the link, because the browser can open another link in the meantime.
    private static func mailForm(_ token: String) -> String { "mail link \(Base64URL.encode(TicketDigest(of: token).bytes))" }

    /// Returns the page of a link, and the browser's secret if it has none yet. All invalid links get the same response. `token` is the
    /// link's secret; `nil` if the browser sent none.
    package func mailLinkPage(_ token: String?, browser: BrowserSecrets, context: RequestContext) async throws -> HostedAnswer {
        guard let token, let (question, snapshot) = try await mailLink(token, context: context) else {
            return HostedAnswer(.refused(HostedRefusal(.link)))
        }
        let secret = try browser.possibleBrowser ?? environment.random.secret()
        let content: HostedPage.Content = question.isApproved ? .mailLinkAnswered(isApproved: true) : .mailLink(question)
        var answer = mailPage(content, of: token, secret: secret, snapshot: snapshot)
        if browser.possibleBrowser == nil { answer.cookies.browser = secret }
        return answer
    }

    /// Stores the user's answer to a link, and returns the page that confirms it. `isApproved` is `true` if the user says that they are
    /// signing in.
    package func answerMailLink(
        _ token: String?, isApproved: Bool, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        guard let secret = browser.possibleBrowser,
            FormToken.isRight(formToken, browser: secret, transaction: Self.mailForm(token ?? ""))
        else {
            return HostedAnswer(.refused(HostedRefusal(.otherBrowser)))
        }
        guard let token, let snapshot = try await answerMailLink(token, isApproved: isApproved, context: context) else {
            return HostedAnswer(.refused(HostedRefusal(.link)))
        }
        return mailPage(.mailLinkAnswered(isApproved: isApproved), of: token, secret: secret, snapshot: snapshot)
    }

    private func mailPage(_ content: HostedPage.Content, of token: String, secret: String, snapshot: OrgSnapshot) -> HostedAnswer {
        HostedAnswer(
            .page(
                HostedPage(
                    content: content, notice: nil, applicationName: snapshot.organization.name,
                    formToken: FormToken.make(browser: secret, transaction: Self.mailForm(token)), returnURI: snapshot.origin, locales: []))
        )
    }
}
