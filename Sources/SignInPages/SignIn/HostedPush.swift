internal import Foundation
internal import IdentityCore

/// The state of a page that waits for the answer to a push.
package struct HostedPushWait: Sendable, Equatable {
    /// The number that the user picks on the device; `nil` for none.
    package var number: String?
    /// Whether this push replaced an earlier one.
    package var isRepeated: Bool
    /// Seconds until another push can be sent; 0 if it can be sent now.
    package var resendDelay: Int
    /// Whether the user has another factor to sign in with.
    package var hasOthers: Bool
}

extension HostedState {
    /// Returns a step that sends a push to the devices of the user.
    func startPush(_ reading: Reading<HostedStep.Verdict>) throws -> HostedStep {
        guard let user, let subject, !transaction.proofs.isEmpty,
            case .factor(let kinds) = transaction.requirement(for: subject), kinds.contains(where: \.isOutOfBand)
        else { return unchanged }
        // A form that is sent twice sends one push.
        if transaction.isChallengeYoung(at: now) { return unchanged }
        if let resendAt = transaction.challenge?.resendTime(at: now) {
            return HostedStep { try note(.pushSentJustNow, until: resendAt) }
        }
        var start = ChallengeStart(stored: stored, user: user, type: GrantType.secondFactorOOB)
        start.transaction.hosted?.notice = nil
        start.transaction.hosted?.stopPresenting()
        let planned: PlannedChallenge
        do {
            planned = try engine.plan(
                start, application: application, snapshot: snapshot, context: context, reading.view)
        } catch let refusal as Refusal {
            let limit = refusal.rateLimit
            return HostedStep { try note(limit == nil ? .noDevice : .tooManyChallenges, until: limit?.reset) }
        }
        return HostedStep {
            try engine.commitment(of: planned, context: context).map { _ in onward }
        }
    }

    /// Returns the notice about a finished push, for the page that offers the factors; `nil` if the user chose another factor, or if a
    /// later step has its own notice.
    func notice(ofPush notice: HostedSignIn.Notice) -> HostedSignIn.Notice? {
        let isLeft =
            hosted.sending != nil || hosted.awaited == .passkey || hosted.awaited == .savedCode
            || hosted.leftChallenge == transaction.challengeCount
        return isLeft || ![nil, .pushSentJustNow].contains(hosted.notice(at: now)) ? nil : notice
    }

    /// Returns the page of a push that waits for its answer.
    func pushPage(_ challenge: PushChallenge) -> HostedAnswer {
        var hasOthers = false
        if let subject, case .factor(let kinds) = transaction.requirement(for: subject) {
            hasOthers = choices(of: kinds).contains { $0.factor != .push }
        }
        let wait = challenge.resendTime(at: now).map { $0.timeIntervalSince(now).rounded(.up) } ?? 0
        return page(
            .push(
                HostedPushWait(
                    number: challenge.numbers?.right, isRepeated: transaction.challengeCount > 1,
                    resendDelay: Int(min(wait, HostedSignIn.resendDelay)), hasOthers: hasOthers)))
    }
}

extension PushChallenge {
    /// Returns the time when the page can send another push; `nil` if it can send one now.
    func resendTime(at now: Date) -> Date? {
        let time = createdAt.addingTimeInterval(HostedSignIn.resendDelay)
        return isOpen(at: now) && now < time ? time : nil
    }
}
