internal import Foundation
package import IdentityCore
internal import ServerHTTP
internal import Store

/// The response to a browser in which a device code is entered.
package struct ActivationAnswer: Sendable {
    /// The page or the redirect.
    package enum Outcome: Sendable {
        /// The form; `isWrong` after an invalid code.
        case form(formToken: String, isWrong: Bool)
        /// A redirect to the sign-in for the device.
        case redirect(token: String)
        case refused(HostedRefusal)
    }

    package var outcome: Outcome
    /// The browser's new secrets. A secret that is `nil` does not change.
    package var cookies = BrowserSecrets()
}

extension Engine {
    /// The subject of the form token on the page for a device code.
    private static let activationForm = "activate"

    /// Returns the page on which the user enters a device code (RFC 8628 section 3.3), and the browser's secret if it has none yet. With
    /// `isWrong`, the page reports an invalid code.
    package func activationPage(browser: BrowserSecrets, isWrong: Bool = false) throws -> ActivationAnswer {
        let secret = try browser.possibleBrowser ?? environment.random.secret()
        var answer = ActivationAnswer(
            outcome: .form(formToken: FormToken.make(browser: secret, transaction: Self.activationForm), isWrong: isWrong))
        if browser.possibleBrowser == nil { answer.cookies.browser = secret }
        return answer
    }

    /// Starts the sign-in for a device code, as typed. The code stays valid until a user decides or it expires. An invalid code leads to
    /// the form again.
    package func activate(
        _ entered: String, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> ActivationAnswer {
        guard let secret = browser.possibleBrowser, FormToken.isRight(formToken, browser: secret, transaction: Self.activationForm) else {
            return ActivationAnswer(outcome: .refused(HostedRefusal(.otherBrowser)))
        }
        // Text that cannot be a code is not a guess, so it is not counted.
        guard let code = UserCode.reading(entered) else { return try activationPage(browser: browser, isWrong: true) }
        let limit = countUserCode(context)
        guard limit.isAdmitted else { return ActivationAnswer(outcome: .refused(HostedRefusal(tooMany: limit))) }
        return try await transact(context) {
            Lookup([.ticket(.userCode, TicketDigest(of: code), .owner())] + Lookup.Node.session(of: browser, .factors))
        } read: { reading in
            try WaitingDevice(code, browser: browser, snapshot: reading.snapshot, view: reading.view, now: context.now)
        } decide: { found in
            guard let found else { return Plan(try activationPage(browser: browser, isWrong: true)) }
            return try begin(found, code: code, browser: secret, context: context)
        }
    }

    private func begin(_ found: WaitingDevice, code: String, browser: String, context: RequestContext) throws -> Plan<ActivationAnswer> {
        let device = found.transaction
        let request = AuthorizationRequest(
            clientID: device.applicationID, server: device.server, redirectURI: found.origin + RoutePath.activate.pattern,
            responseMode: .query,
            scopes: device.scopes, state: "device", contextClasses: device.contextClasses)
        let hosted = HostedSignIn(
            browser: BrowserBinding(browser), login: found.held?.user.value.login ?? "",
            device: HostedDevice(transactionID: device.id, userCode: code))
        var transaction = try SignInTransaction(
            found.request, answering: request, hosted: hosted, random: environment.random, now: context.now)
        var writes = Writes()
        if let held = found.held, !held.proofs.isEmpty {
            let (next, outcome, effects) = transaction.step(.resumed(held.proofs, held.subject), now: context.now)
            transaction = next
            if !transaction.proofs.isEmpty { transaction.sessionID = found.sessionID }
            writes = try Writes(effects, of: next, user: nil, userID: held.user.value.id)
            transaction.record(outcome)
        }
        let token = try environment.random.secret()
        var answer = ActivationAnswer(outcome: .redirect(token: token))
        if transaction.proofs.isEmpty {
            try transaction.acceptPasskey(found.passkeys, environment.random)
        } else {
            answer.cookies.signIn = try bind(&transaction)
        }
        return Plan(answer, writes + [.put(try transaction.record()), .issue(transaction.stateTicket(token))])
    }
}

/// A device that waits for the user's decision, and the user of the browser's session.
private struct WaitingDevice: Sendable {
    let transaction: SignInTransaction
    let request: SignInRequest
    let origin: String
    let passkeys: PasskeyPolicy?
    /// The browser's session; `nil` for none.
    let sessionID: String?
    /// The user of the browser's session, with the proofs that are recent enough; `nil` without a session.
    let held: KnownUser?

    /// `nil` if the code is invalid or expired.
    init?(_ code: String, browser: BrowserSecrets, snapshot: OrgSnapshot, view: any StoreView, now: Date) throws {
        guard case (let stored, .fresh)? = try view.transaction(.userCode, secret: code, now: now), stored.value.end == nil,
            let application = snapshot.application(stored.value.applicationID), application.isActive,
            application.grantTypes.contains(GrantType.deviceCode), snapshot.server(stored.value.server) != nil
        else { return nil }
        transaction = stored.value
        (origin, passkeys) = (snapshot.origin, snapshot.pagePasskeys)
        let request = SignInRequest(
            onPagesOf: application, server: transaction.server, scopes: transaction.scopes, contextClasses: transaction.contextClasses)
        self.request = request
        let known = try view.session(secret: browser.session, now: now)
        sessionID = known?.0.id
        held = try known.map { session, user in
            let subject = try view.subject(user.value, of: request, snapshot: snapshot)
            return KnownUser(
                user: user, subject: subject,
                proofs: session.proofs.recent(atMost: subject.decision.reauthenticateAfter, now: now).proved(with: subject.enrollments))
        }
    }
}
