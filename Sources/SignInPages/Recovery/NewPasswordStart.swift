internal import Foundation
package import IdentityCore
internal import ServerHTTP
internal import Store

/// A new password without a sign-in: the page to which password managers lead their users.
extension Engine {
    /// The subject of the form token on this page.
    private static let newPasswordForm = "new password"

    /// Returns the form for the user name, and the browser's secret if it has none yet.
    package func newPasswordPage(_ snapshot: OrgSnapshot, browser: BrowserSecrets) throws -> HostedAnswer {
        guard let policy = snapshot.organization.classic else { return HostedAnswer(.refused(HostedRefusal(.over))) }
        let secret = try browser.possibleBrowser ?? environment.random.secret()
        var answer = HostedAnswer(.page(Self.newPasswordForm(snapshot, policy, browser: secret)))
        if browser.possibleBrowser == nil { answer.cookies.browser = secret }
        return answer
    }

    /// Returns the page that announces a mail.
    package func newPasswordMailedPage(_ snapshot: OrgSnapshot) -> HostedAnswer {
        HostedAnswer(
            .page(
                HostedPage(
                    content: .recoveryMailed(isUnlock: false), applicationName: snapshot.organization.name, formToken: "",
                    returnURI: snapshot.origin)))
    }

    /// Starts a recovery without a sign-in, with the same limits as from one. Every user name gets the same response, which does not reveal
    /// whether the account exists. `channel` is `sms`, `call` or `email`.
    package func beginNewPassword(
        username: String, channel: String, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> HostedAnswer {
        guard let secret = browser.possibleBrowser,
            FormToken.isRight(formToken, browser: secret, transaction: Self.newPasswordForm)
        else { return HostedAnswer(.refused(HostedRefusal(.otherBrowser))) }
        let name = Self.possibleName(username)
        let request = RecoveryRequest(
            .password, username: name, channel: CodeChannel(form: channel), rules: .pages,
            page: RecoveryBeginning(browser: secret, signIn: nil, locales: []))
        return try await HostedAnswer {
            try await transact(
                context, lookup: { [self] _ in Lookup(rows(ofLogin: name, with: .factors) + [.recoveryBudget(at: context.now)]) }
            ) { [self] (reading: Reading<RecoveryRefusal>) in
                let snapshot = try reading.snapshot
                guard let policy = snapshot.organization.classic, policy.allowsRecovery(isUnlock: false) else { throw EarlyAnswer(.over) }
                var (start, refusal): (RecoveryStart?, RecoveryRefusal?) = (nil, reading.verdict)
                do {
                    if refusal == nil { start = try recoveryStart(request, reading, context) }
                } catch let limit as RecoveryRefusal { refusal = limit }
                return (Self.newPasswordForm(snapshot, policy, login: name, notice: refusal, browser: secret), start, refusal)
            } check: {
                // Only the first read counts the attempt. Its refusal becomes the verdict, which the runner keeps after a conflict.
                $0.2.map { refusal in Check(of: "refusal") { refusal } }
            } decide: { [self] found, _ in
                guard let start = found.1 else { return Plan(HostedAnswer(.page(found.0))) }
                return try begin(start, context: context).map { begun in
                    HostedAnswer(.recovery(begun.stateToken.map { .page(token: $0) } ?? .newPasswordMailed))
                }
            }
        }
    }

    private static func newPasswordForm(
        _ snapshot: OrgSnapshot, _ policy: ClassicPolicy, login: String = "", notice refusal: RecoveryRefusal? = nil, browser: String
    ) -> HostedPage {
        HostedPage(
            content: .recover(isUnlock: false, channels: CodeChannel.allCases.filter(policy.recovery.contains), login: login),
            notice: refusal?.notice.map { $0 == .sentJustNow ? .sentJustNow : .tooManyAttempts },
            applicationName: snapshot.organization.name, formToken: FormToken.make(browser: browser, transaction: newPasswordForm),
            returnURI: snapshot.origin)
    }
}
