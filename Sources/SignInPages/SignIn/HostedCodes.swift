internal import Foundation
package import IdentityCore

/// Sent codes as the second factor on the pages, and the link of a mail.
extension HostedState {
    /// Sends a code, which is valid for this sign-in only. The previous code and a pending push become invalid.
    func sendCode(by channel: CodeChannel) throws -> Plan<HostedAnswer> {
        guard let user, let enrollment = sendable(by: channel) else { return Plan(onward) }
        var next = transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: now)
        next.hosted?.notice = nil
        next.hosted?.awaited = .sentCode(channel)
        // A form that is sent twice sends one code.
        if let sent = openCode(by: channel)?.sentAt, now < sent.addingTimeInterval(Self.codeYouth) {
            return try next == transaction ? Plan(onward) : moving(to: next, Writes(closing))
        }
        do {
            let request = CodeRequest(
                purpose: .signIn, owner: transaction.id, hasLink: channel == .email, applicationName: application.name)
            let prepared = try engine.prepareCode(request, for: enrollment, of: user.value, snapshot: snapshot, context: context)
            return try moving(to: next, prepared.writes + closing)
        } catch let refusal as CodeRefusal {
            return try note(HostedSignIn.Notice(refusal), until: refusal.until)
        }
    }

    /// The seconds in which a repeated form sends no further code.
    private static let codeYouth: TimeInterval = 5

    /// Adds the approved link of a mail to the proofs.
    func countLink() throws -> Plan<HostedAnswer> {
        let verifier = codeVerifier(.email)
        let verdict = verifier.verify(.confirmedLink, of: user?.value, policy: snapshot.passwordPolicy)
        var (next, outcome, effects) = transaction.step(
            .judged(verifier.kind, verifier.factorClass, methods: verifier.methods, verdict, subject), now: now)
        next.hosted?.stopPresenting()
        next.hosted?.notice = nil
        next.record(outcome)
        return try moving(to: next, Writes(effects, of: next, user: user))
    }

    /// Returns to the choice of a factor. Withdraws a pending push: a later approval has no effect.
    func chooseAgain() throws -> Plan<HostedAnswer> {
        var next = transaction
        let closing = next.closingChallenge
        next.withdrawChallenge(now: now)
        next.hosted?.leftChallenge = transaction.challengeCount
        next.hosted?.stopPresenting()
        next.hosted?.notice = nil
        return try next == transaction ? Plan(onward) : moving(to: next, Writes(closing))
    }

    /// Returns the user's factors among `kinds`, in the order in which the page offers them.
    func choices(of kinds: [FactorKind]) -> [HostedFactorChoice] {
        return HostedFactor.allCases.compactMap { factor in
            let own = enrollments.first { enrollment in
                enrollment.factor == factor.kind && kinds.contains(enrollment.factor) && enrollment.passkey.map(isUsable) ?? true
            }
            return own.map { HostedFactorChoice(factor: factor, destination: $0.sentCode?.destination.masked) }
        }
    }

    /// Returns the phone or mail address to which a code can be sent now; `nil` if the sign-in accepts no code of this channel now.
    func sendable(by channel: CodeChannel) -> Enrollment? {
        guard transaction.end == nil, !transaction.proofs.isEmpty, !transaction.isRejectedForGood, let subject,
            case .factor(let kinds) = transaction.requirement(for: subject),
            choices(of: kinds).contains(where: { $0.factor.channel == channel })
        else { return nil }
        return enrollments.first { $0.sentCode?.channel == channel }
    }

    /// Returns the valid code that was sent for this sign-in; `nil` for none.
    func openCode(by channel: CodeChannel) -> SentCodeMethod.OpenCode? {
        enrollments.first { $0.sentCode?.channel == channel }?.sentCode?.open.flatMap {
            $0.owner == transaction.id && now < $0.expiresAt ? $0 : nil
        }
    }

    /// Returns the page that asks for a code that was sent; `nil` if no such code is valid.
    func sentCodePage(_ choices: [HostedFactorChoice], notice: HostedSignIn.Notice?) -> HostedAnswer? {
        guard let channel = hosted.sending, openCode(by: channel) != nil,
            let choice = choices.first(where: { $0.factor.channel == channel })
        else { return nil }
        return page(.sentCode(channel, destination: choice.destination ?? "", hasOthers: choices.count > 1), notice: notice)
    }

    /// Whether the link of the mail was approved, and the approval is not among the proofs yet.
    var hasApprovedLink: Bool {
        hosted.sending == .email && openCode(by: .email)?.approvedAt != nil && sendable(by: .email) != nil
    }

    /// Whether the page waits for the user to open the link of a mail.
    var awaitsLink: Bool {
        hosted.sending == .email && openCode(by: .email).map { $0.link != nil && $0.approvedAt == nil } ?? false
    }
}

extension HostedFactor {
    /// The channel of the factor's codes; `nil` for factors whose codes are not sent.
    package var channel: CodeChannel? { CodeChannel.allCases.first { $0.factor == kind } }
}

extension HostedSignIn.Notice {
    /// Creates the notice for a code that was not sent.
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
