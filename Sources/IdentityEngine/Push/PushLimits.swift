internal import Foundation

/// Limits on the challenges that a user's devices are asked and the user does not approve: more is somebody who wants to wear the user down.
///
/// Each kind of asker has a budget of its own, so that strangers can't use up what is left to the user.
struct PushLimits: Sendable {
    /// The most in ``ChallengePlan/lifetime`` in sign-ins that proved something, in the back channel, and from known origins.
    static let most = 5
    /// The most of those that come from known origins, which others may share, without a proof.
    static let mostFromKnownOrigins = 4
    /// The most in ``ChallengePlan/lifetime`` from one origin that the user has never signed in from.
    static let mostFromStranger = 2
    /// The most in a day from all such origins together.
    static let mostFromStrangersInDay = 10
    /// Seconds of that day.
    static let day: TimeInterval = 86_400

    /// The sign-ins that asked the user's devices.
    let asked: [SignInTransaction]
    let user: User
    let now: Date

    init(asked: [SignInTransaction], of user: User, now: Date) {
        (self.asked, self.user, self.now) = (asked, user, now)
    }

    /// Throws ``Refusal`` with status 429 if a further challenge is over a limit of its asker's.
    func admit(_ asker: PushChallenge.Asker, from origin: RequestOrigin) throws(Refusal) {
        switch asker {
        case .entitled: try admit(Self.most, of: asked.filter { !$0.isAskedByStranger })
        case .knownOrigin:
            try admit(Self.most, of: asked.filter { !$0.isAskedByStranger })
            try admit(Self.mostFromKnownOrigins, of: asked.filter { $0.challenge?.asker == .knownOrigin })
        case .stranger:
            let today = (user.strangersPushes ?? []).filter { $0 > now.addingTimeInterval(-Self.day) }
            if today.count >= Self.mostFromStrangersInDay {
                let reset = today[today.count - Self.mostFromStrangersInDay].addingTimeInterval(Self.day)
                throw Self.tooMany(Self.mostFromStrangersInDay, until: reset)
            }
            // By network only: a stranger can invent another device for each request.
            try admit(
                Self.mostFromStranger, of: asked.filter { $0.isAskedByStranger && $0.challenge?.askedFrom?.network == origin.network })
        }
    }

    private func admit(_ most: Int, of asked: [SignInTransaction]) throws(Refusal) {
        guard SignInTransaction.unansweredChallenges(asked, now: now) >= most else { return }
        // Clients are told when so many count no more that another is admitted: without that they would ask again at once.
        let ends = asked.flatMap(\.challengeTimes).map { $0.addingTimeInterval(ChallengePlan.lifetime) }.filter { $0 > now }
        let reset = ends.sorted().first { SignInTransaction.unansweredChallenges(asked, now: $0) < most }
        throw Self.tooMany(most, until: reset ?? now.addingTimeInterval(ChallengePlan.lifetime))
    }

    private static func tooMany(_ most: Int, until reset: Date) -> Refusal {
        var refusal = Refusal(
            .invalidGrant, "Too many requests were sent to this person's devices. Wait some minutes and try again.",
            reason: "push: too many unanswered challenges", status: .tooManyRequests,
            rateLimit: RateLimitStatus(limit: most, remaining: 0, reset: reset, isAdmitted: false))
        refusal.isForUser = true
        return refusal
    }
}

extension PushChallenge.Asker {
    /// What entitles a sign-in to ask the user's devices.
    init(of transaction: SignInTransaction, _ subject: SignInTransaction.Subject) {
        if !transaction.isUnproved {
            self = .entitled
        } else {
            self = subject.user.knows(subject.origin) ? .knownOrigin : .stranger
        }
    }
}

extension SignInTransaction {
    /// Whether nothing entitled the client of its last challenge.
    fileprivate var isAskedByStranger: Bool { challenge?.asker == .stranger }
}

extension User {
    /// Notes that a stranger had the user's devices asked.
    mutating func countStrangersPush(at now: Date) {
        strangersPushes = (strangersPushes ?? []).filter { $0 > now.addingTimeInterval(-PushLimits.day) } + [now]
    }

    /// Takes one of them back: the user approved it, so it was no stranger's.
    mutating func forgetStrangersPush() {
        strangersPushes = strangersPushes.flatMap { $0.count > 1 ? Array($0.dropLast()) : nil }
    }
}
