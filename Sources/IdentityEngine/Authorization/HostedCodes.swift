internal import Foundation

/// Codes that are sent as the second factor on the pages, and the link that comes with a mail.
extension IdentityEngine {
    /// Sends a code, which is good for this sign-in only. The one before is good no more, nor is what the person's devices were asked.
    ///
    /// - Returns: What is to be sent; nil if somebody else was faster.
    func sendCode(by channel: CodeChannel, _ state: HostedState, context: RequestContext) async throws -> [OutgoingMessage]? {
        guard let user = state.user, let enrollment = state.sendable(by: channel) else { return [] }
        var next = state.transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: context.now)
        next.hosted?.notice = nil
        next.hosted?.sending = channel
        // A form that was sent twice sends once.
        if let sent = state.openCode(by: channel, at: context.now)?.sentAt, context.now < sent.addingTimeInterval(Self.codeYouth) {
            guard next != state.transaction else { return [] }
            return try await store.commit(closing + [state.stored.writing(next)]) == .committed ? [] : nil
        }
        let prepared: PreparedCode
        do {
            let request = CodeRequest(
                purpose: .signIn, owner: state.transaction.id, hasLink: channel == .email, applicationName: state.application.name)
            prepared = try prepareCode(request, for: enrollment, of: user.value, snapshot: state.snapshot, context: context)
        } catch let refusal as CodeRefusal {
            return try await note(HostedSignIn.Notice(refusal), until: refusal.until, state) ? [] : nil
        }
        guard try await store.commit(changes(of: prepared.writes, context: context) + closing + [state.stored.writing(next)]) == .committed
        else { return nil }
        return [prepared.message]
    }

    /// Seconds in which the same form sends no other code.
    private static let codeYouth: TimeInterval = 5

    /// Counts what the link of a mail was answered with.
    ///
    /// - Returns: Whether it is committed; false if somebody else was faster.
    func countLink(_ state: HostedState, context: RequestContext) async throws -> Bool {
        let verifier = CodeVerifier(
            environment: environment, channel: .email, enrollments: state.enrollments, owner: state.transaction.id, now: context.now)
        let verdict = verifier.verify(.confirmedLink, of: state.user?.value, policy: state.snapshot.passwordPolicy)
        var (next, outcome, effects) = state.transaction.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, state.subject), now: context.now)
        var changes = try logEntries(effects, userID: next.userID, of: next, context: context)
        for effect in effects {
            switch effect {
            case .writeUser(let changed): if let user = state.user { changes.append(.put(try user.record(holding: changed))) }
            case .writeEnrollment(let used): changes += try used.changes()
            case .log: break
            }
        }
        next.hosted?.sending = nil
        next.hosted?.notice = nil
        switch outcome {
        case .authenticated(let proved): next.hosted?.authentication = proved
        case .refused(let refusal): next.hosted?.refuse(refusal)
        default: break
        }
        return try await store.commit(changes + [state.stored.writing(next)]) == .committed
    }

    /// Returns to the choice of a factor. Withdraws a pending push: a later approval has no effect.
    func chooseAgain(_ state: HostedState, context: RequestContext) async throws -> Bool {
        var next = state.transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: context.now)
        next.hosted?.leftChallenge = next.challengeCount
        next.hosted?.sending = nil
        next.hosted?.notice = nil
        guard next != state.transaction else { return true }
        return try await store.commit(closing + [state.stored.writing(next)]) == .committed
    }
}

extension HostedState {
    /// The factors that can be presented now, in the order in which they are offered.
    func choices(of grants: [String]) -> [HostedFactorChoice] {
        // Beside something that the person has, only a device counts that verifies who holds it.
        let isDevice = transaction.factorClasses.contains(.possession)
        return HostedFactor.allCases.compactMap { factor in
            let own = enrollments.first { enrollment in
                enrollment.factor == factor.kind && (!isDevice || factor == .push)
                    && enrollment.factor.secondFactorGrantTypes.contains(where: grants.contains)
            }
            return own.map { HostedFactorChoice(factor: factor, destination: $0.code?.destination.masked) }
        }
    }

    /// The telephone or mailbox to which a code can be sent now; nil if none is asked for.
    func sendable(by channel: CodeChannel) -> Enrollment? {
        guard transaction.end == nil, !transaction.proofs.isEmpty, !transaction.isRejectedForGood, let subject,
            case (_, .factorRequired(let grants), _) = transaction.proved(subject, "", []),
            choices(of: grants).contains(where: { $0.factor.channel == channel })
        else { return nil }
        return enrollments.first { $0.code?.channel == channel }
    }

    /// The code that was sent for this sign-in, and is good.
    func openCode(by channel: CodeChannel, at now: Date) -> CodeMethod.OpenCode? {
        enrollments.first { $0.code?.channel == channel }?.code?.open.flatMap {
            $0.owner == transaction.id && now < $0.expiresAt ? $0 : nil
        }
    }

    /// The page that asks for a code that was sent; nil if none is waited for.
    func sentCodePage(_ choices: [HostedFactorChoice], notice: HostedSignIn.Notice?, now: Date) -> HostedAnswer? {
        guard let channel = hosted.sending, openCode(by: channel, at: now) != nil,
            let choice = choices.first(where: { $0.factor.channel == channel })
        else { return nil }
        return page(.sentCode(channel, destination: choice.destination ?? "", hasOthers: choices.count > 1), notice: notice)
    }

    /// Whether the link of the mail was answered with yes, which is not among the proofs yet.
    func hasApprovedLink(at now: Date) -> Bool {
        hosted.sending == .email && openCode(by: .email, at: now)?.approvedAt != nil && sendable(by: .email) != nil
    }

    /// Whether the page waits for the answer to the link of a mail.
    func awaitsLink(at now: Date) -> Bool {
        hosted.sending == .email && openCode(by: .email, at: now).map { $0.link != nil && $0.approvedAt == nil } ?? false
    }
}

extension HostedFactor {
    var kind: FactorKind {
        switch self {
        case .push: .push
        case .code: .totp
        case .sms: .sms
        case .voice: .voice
        case .email: .email
        }
    }

    /// The way that its codes take; nil for what sends none.
    public var channel: CodeChannel? { CodeChannel.allCases.first { $0.factor == kind } }
}

extension Enrollment {
    /// Whether the pages have a button or a field for it.
    var isOnPages: Bool { HostedFactor.allCases.contains { $0.kind == factor } }
}

extension HostedSignIn.Notice {
    /// Why a code was not sent.
    init(_ refusal: CodeRefusal) {
        switch refusal {
        case .tooSoon: self = .sentJustNow
        case .tooMany: self = .tooManyAttempts
        case .invalidNumber, .invalidExtension, .noNumber: self = .wrongNumber
        case .foreignNumber: self = .foreignNumber
        default: self = .noDevice
        }
    }
}
