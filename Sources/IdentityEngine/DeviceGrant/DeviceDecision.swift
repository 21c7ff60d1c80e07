internal import Foundation

extension IdentityEngine {
    /// Lets a device have what it asked for, or tells it no: once, whoever else entered its code.
    ///
    /// - Returns: The answer with the cookies that the browser gets, and what applications are told; nil if somebody else was faster, so
    ///   that it must be read again.
    func decideDevice(
        _ isAllowed: Bool, _ state: HostedState, answer: HostedAnswer, context: RequestContext
    ) async throws -> HostedAnswer? {
        guard let hosted = state.hosted.device, hosted.decision == nil, state.transaction.end == .authenticated, !state.needsConsent,
            state.hosted.refused == nil, let user = state.user,
            let authentication = state.hosted.authentication
        else { return answer }
        var next = state.transaction
        let waiting = try await store.read { view -> StoredTransaction? in
            guard case (let stored, .fresh)? = try view.transaction(.userCode, secret: hosted.userCode, now: context.now),
                stored.value.id == hosted.transactionID, stored.value.end == nil
            else { return nil }
            return stored
        }
        guard let waiting else {
            next.hosted?.device?.decision = .late
            return try await store.commit([state.stored.writing(next)]) == .committed ? answer : nil
        }
        let evaluation = AccessPolicyEvaluation(
            of: state.server,
            for: .init(
                clientID: next.applicationID, grantType: GrantType.deviceCode, groups: user.value.groups, scopes: waiting.value.scopes))
        var device = waiting.value
        var answer = answer
        var changes: [Change] = []
        if isAllowed, evaluation.lifetimes != nil {
            let (session, secret, sessionChanges, logouts) = try session(after: state.proved(next, user), context: context)
            answer.cookies.session = secret
            answer.logouts = logouts
            changes += sessionChanges
            next.hosted?.session = session.id
            next.hosted?.device?.decision = .allowed
            device.meet(user.value)
            device.end = .authenticated
            device.device?.authentication = authentication
            device.device?.session = session.id
        } else {
            next.hosted?.device?.decision = .denied
            device.end = .refused
        }
        changes += [
            .take(
                .userCode, digest: TicketDigest(of: hosted.userCode), now: context.now, gave: Array(next.id.utf8)),
            try waiting.writing(device), try state.stored.writing(next),
            try logEntry(
                "device.authorization", device.end == .authenticated ? .success : .denied,
                reason: isAllowed ? evaluation.explanation : "denied by the person", userID: user.value.id, clientID: next.applicationID,
                server: next.server, context: context),
        ]
        return try await store.commit(changes) == .committed ? answer : nil
    }
}

extension HostedState {
    /// What the page of a proved sign-in for a device shows: the question, or what came of it.
    func devicePage(_ device: HostedDevice) -> HostedAnswer {
        switch device.decision {
        case nil: page(.device(userCode: device.userCode, login: user?.value.login ?? ""))
        case .allowed: page(.deviceDecided(isAllowed: true))
        case .denied: page(.deviceDecided(isAllowed: false))
        case .late: HostedAnswer(.refused(HostedRefusal(.over)))
        }
    }
}
