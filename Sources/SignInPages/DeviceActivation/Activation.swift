internal import Foundation
package import IdentityCore
internal import Store

/// What the page answers on which the codes of devices are entered.
package struct ActivationAnswer: Sendable {
    /// What the browser is shown, or where it is sent.
    package enum Outcome: Sendable {
        /// The form; with a notice if the code that was entered leads nowhere.
        case form(formToken: String, isWrong: Bool)
        /// On to the sign-in that the code is for.
        case goOn(token: String)
        /// Why not.
        case refused(HostedRefusal)
    }

    /// What the browser is shown, or where it is sent.
    package var outcome: Outcome
    /// The browser's new secrets; nil where it keeps what it has.
    package var cookies = BrowserSecrets()
}

extension Engine {
    /// What the token of the form is about that codes are entered in.
    private static let activationForm = "activate"

    /// The page on which the code of a device is entered (RFC 8628 section 3.3).
    ///
    /// - Parameters:
    ///   - browser: The browser's cookies.
    ///   - isWrong: Whether the page tells that a code leads nowhere.
    /// - Returns: The form, and the browser's secret if it has none yet.
    /// - Throws: What the random source throws.
    package func activationPage(browser: BrowserSecrets, isWrong: Bool = false) throws -> ActivationAnswer {
        let secret = try browser.possibleBrowser ?? environment.random.secret()
        var answer = ActivationAnswer(
            outcome: .form(formToken: FormToken.make(browser: secret, transaction: Self.activationForm), isWrong: isWrong))
        if browser.possibleBrowser == nil { answer.cookies.browser = secret }
        return answer
    }

    /// Begins the sign-in that the code of a device is for. The code stays good until somebody decides: looking takes nothing.
    ///
    /// - Parameters:
    ///   - entered: What the person typed.
    ///   - formToken: What the form carried.
    ///   - browser: The browser's cookies.
    ///   - context: When and from where it came.
    /// - Returns: Where the browser goes.
    /// - Throws: ``StoreError`` if the store failed; then nothing was begun.
    package func activate(
        _ entered: String, formToken: String?, browser: BrowserSecrets, context: RequestContext
    ) async throws -> ActivationAnswer {
        guard let secret = browser.possibleBrowser, FormToken.isRight(formToken, browser: secret, transaction: Self.activationForm) else {
            return ActivationAnswer(outcome: .refused(HostedRefusal(.otherBrowser)))
        }
        // What can be no code is no guess: it counts against nobody.
        guard let code = UserCode.reading(entered) else { return try activationPage(browser: browser, isWrong: true) }
        let limit = countUserCode(context)
        guard limit.isAdmitted else { return ActivationAnswer(outcome: .refused(HostedRefusal(tooMany: limit))) }
        return try await transact(context) { reading in
            try WaitingDevice(code, browser: browser, snapshot: reading.snapshot, view: reading.view, now: context.now)
        } decide: { found in
            guard let found else { return Plan(try activationPage(browser: browser, isWrong: true)) }
            return try begin(found, code: code, browser: secret, context: context)
        }
    }

    /// Begins the sign-in for a device.
    private func begin(_ found: WaitingDevice, code: String, browser: String, context: RequestContext) throws -> Plan<ActivationAnswer> {
        let device = found.transaction
        var transaction = SignInTransaction(
            id: try environment.random.identifier(prefix: "txn"), request: found.request, now: context.now,
            lifetime: HostedSignIn.lifetime)
        let request = AuthorizationRequest(
            clientID: device.applicationID, server: device.server, redirectURI: found.origin + "/activate", responseMode: .query,
            scopes: device.scopes, state: "device", contextClasses: device.contextClasses)
        transaction.hosted = HostedSignIn(
            request: request, browser: BrowserBinding(browser), login: found.held?.user.value.login ?? "",
            device: HostedDevice(transactionID: device.id, userCode: code))
        var writes = Writes()
        if let held = found.held, !held.proofs.isEmpty {
            let (next, outcome, effects) = transaction.step(.resumed(held.proofs, held.subject), now: context.now)
            transaction = next
            if !transaction.proofs.isEmpty { transaction.hosted?.session = found.sessionID }
            writes = try Writes(effects, of: next, user: nil, userID: held.user.value.id)
            switch outcome {
            case .authenticated(let proved): transaction.hosted?.authentication = proved
            case .refused(let refusal): transaction.hosted?.refuse(refusal)
            default: break
            }
        }
        let token = try environment.random.secret()
        var answer = ActivationAnswer(outcome: .goOn(token: token))
        if !transaction.proofs.isEmpty { answer.cookies.signIn = try bind(&transaction) }
        return Plan(answer, writes + [.put(try transaction.record()), .issue(transaction.stateTicket(token))])
    }
}

/// A device that waits, as one read finds it by its code, and who comes to connect it.
private struct WaitingDevice: Sendable {
    let transaction: SignInTransaction
    let request: SignInRequest
    let origin: String
    /// The browser's open session.
    let sessionID: String?
    let held: KnownUser?

    /// Nil if the code leads nowhere, or nowhere any more.
    init?(_ code: String, browser: BrowserSecrets, snapshot: OrgSnapshot, view: any StoreView, now: Date) throws {
        guard case (let stored, .fresh)? = try view.transaction(.userCode, secret: code, now: now), stored.value.end == nil,
            let application = snapshot.application(stored.value.applicationID), application.isActive,
            application.grantTypes.contains(GrantType.deviceCode), snapshot.server(stored.value.server) != nil
        else { return nil }
        transaction = stored.value
        origin = snapshot.origin
        var request = SignInRequest(
            application: application, server: transaction.server, scopes: transaction.scopes,
            contextClasses: transaction.contextClasses)
        request.isHosted = true
        request.isOnPages = true
        self.request = request
        let known = try view.session(secret: browser.session, now: now)
        sessionID = known?.0.id
        held = try known.map { session, user in
            let subject = try view.subject(user.value, of: request, snapshot: snapshot)
            return KnownUser(
                user: user, subject: subject,
                proofs: session.proofs.recent(atMost: subject.decision.reauthenticateAfter, now: now))
        }
    }
}
