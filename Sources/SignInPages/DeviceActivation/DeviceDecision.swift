internal import Foundation
internal import IdentityCore
internal import Store

extension Engine {
    /// Stores the user's decision about a waiting device, which then gets tokens or a refusal. The first decision is final, even if another
    /// user also entered the code.
    func deviceDecision(_ isAllowed: Bool, _ state: HostedState, answer: HostedAnswer, context: RequestContext) throws -> Plan<HostedAnswer>
    {
        guard let hosted = state.hosted.device, hosted.decision == nil, state.transaction.end == .authenticated, !state.needsConsent,
            state.hosted.refused == nil, let user = state.user, let authentication = state.transaction.authentication
        else { return Plan(answer) }
        var next = state.transaction
        guard let waiting = state.waitingDevice else {
            next.hosted?.device?.decision = .late
            return Plan(answer, Writes([try state.stored.writing(next)]))
        }
        let evaluation = AccessPolicyEvaluation(
            of: state.server,
            for: .init(
                clientID: next.applicationID, grantType: GrantType.deviceCode, groups: user.value.groups, scopes: waiting.value.scopes))
        var device = waiting.value
        var answer = answer
        var writes = Writes()
        if isAllowed, evaluation.lifetimes != nil {
            let (session, secret, sessionWrites) = try session(after: state.proved(next, user), context: context)
            answer.cookies.session = secret
            writes = sessionWrites
            next.sessionID = session.id
            next.hosted?.device?.decision = .allowed
            next.hosted?.device?.decidedAt = context.now
            device.meet(user.value)
            device.end = .authenticated
            device.authentication = authentication
            device.sessionID = session.id
        } else {
            next.hosted?.device?.decision = .denied
            device.end = .refused
        }
        writes += [
            .take(.userCode, digest: TicketDigest(of: hosted.userCode), now: context.now, gave: Array(next.id.utf8)),
            try waiting.writing(device), try state.stored.writing(next),
        ]
        writes.log(
            "device.authorization", device.end == .authenticated ? .success : .denied,
            reason: isAllowed ? evaluation.explanation : "denied by the user", userID: user.value.id, clientID: next.applicationID,
            server: next.server)
        return Plan(answer, writes)
    }
}

extension StoreView {
    /// Returns the transaction of the device that a sign-in authorizes; `nil` after the user's decision, or if the transaction has ended or
    /// expired.
    func waiting(_ device: HostedDevice, now: Date) throws -> StoredTransaction? {
        guard device.decision == nil, case (let stored, .fresh)? = try transaction(.userCode, secret: device.userCode, now: now),
            stored.value.id == device.transactionID, stored.value.end == nil
        else { return nil }
        return stored
    }
}

extension HostedState {
    /// Returns the page after a successful sign-in for a device: the request for a decision, or the stored decision.
    func devicePage(_ device: HostedDevice) throws -> Plan<HostedAnswer> {
        switch device.decision {
        case nil: Plan(page(.device(userCode: device.userCode, login: user?.value.login ?? "")))
        case .allowed: try sessionAgain(on: page(.deviceDecided(isAllowed: true)), decidedAt: device.decidedAt)
        case .denied: Plan(page(.deviceDecided(isAllowed: false)))
        case .late: Plan(HostedAnswer(.refused(HostedRefusal(.over))))
        }
    }

    /// Returns the page. If the browser has no session although this sign-in started one, the session gets a new secret: a second click on
    /// the button discards the first response. As with a lost code, this is possible for five minutes after the decision.
    private func sessionAgain(on page: HostedAnswer, decidedAt: Date?) throws -> Plan<HostedAnswer> {
        guard session == nil, let ownSession, let user, let decidedAt, now < decidedAt.addingTimeInterval(HostedSignIn.codeLifetime) else {
            return Plan(page)
        }
        var proved = proved(transaction, user)
        proved.session = ownSession
        let (_, secret, writes) = try engine.session(after: proved, context: context)
        var page = page
        page.cookies.session = secret
        return Plan(page, writes)
    }
}
