internal import Foundation

/// Limits on the challenges that a user's devices are asked and the user does not approve: more is somebody who wants to wear the user down.
///
/// Each kind of asker has a budget of its own, so that strangers can't use up what is left to the user.
struct PushLimits: Sendable {
    /// The most in ``ChallengePlan/lifetime`` in sign-ins that proved something, and in the back channel.
    static let most = 5
    /// The most in that time without a proof from known devices and browsers, and the most from known networks.
    static let mostFromKnownOrigins = 4
    /// The most in that time from one network that the user has never signed in from.
    static let mostFromStranger = 2
    /// The most in a day without a proof from one known network, and the most from all unknown origins together.
    static let mostUnprovedInDay = 10
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
        if let callers = asker.cappedCallers(from: origin) {
            let today = user[unprovedPushesOf: callers].filter { $0 > now.addingTimeInterval(-Self.day) }
            if today.count >= Self.mostUnprovedInDay {
                let reset = today[today.count - Self.mostUnprovedInDay].addingTimeInterval(Self.day)
                throw Self.tooMany(Self.mostUnprovedInDay, until: reset)
            }
        }
        switch asker {
        case .entitled: try admit(Self.most, of: asked.filter(\.isEntitled))
        case .knownOrigin, .knownNetwork:
            let own = asked.filter { $0.challenge?.asker == asker }
            try admit(Self.mostFromKnownOrigins, of: own)
            try admit(Self.most, of: own + asked.filter(\.isEntitled))
        case .stranger:
            // By network only: a stranger can invent another device for each request.
            try admit(
                Self.mostFromStranger,
                of: asked.filter { $0.challenge?.asker == .stranger && $0.challenge?.askedFrom?.network == origin.network })
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
        } else if subject.user.knownDevice(of: subject.origin) != nil {
            self = .knownOrigin
        } else {
            self = subject.user.knows(subject.origin) ? .knownNetwork : .stranger
        }
    }

    /// The callers whose pushes are counted for a day; `nil` if there is no daily limit.
    fileprivate func cappedCallers(from origin: RequestOrigin) -> Callers? {
        switch self {
        case .entitled, .knownOrigin: nil
        case .knownNetwork: origin.networkID.map(Callers.known)
        case .stranger: .others
        }
    }
}

extension SignInTransaction {
    /// Whether something entitled the client of its last challenge. Records of before that was kept count so.
    fileprivate var isEntitled: Bool { [.entitled, nil].contains(challenge?.asker) }
}

extension User {
    /// When callers without a proof sent pushes that the user did not approve, in the last day.
    fileprivate subscript(unprovedPushesOf callers: Callers) -> [Date] {
        get {
            switch callers {
            case .known(let id): usedOrigins?.first { $0.id == id }?.pushes ?? []
            case .others: strangersPushes ?? []
            }
        }
        set {
            let times = newValue.isEmpty ? nil : newValue
            switch callers {
            case .known(let id):
                guard let index = usedOrigins?.firstIndex(where: { $0.id == id }) else { return }
                usedOrigins?[index].pushes = times
            case .others: strangersPushes = times
            }
        }
    }

    /// Notes that the user's devices were asked.
    mutating func countPush(_ challenge: PushChallenge, at now: Date) {
        guard let callers = challenge.cappedCallers else { return }
        self[unprovedPushesOf: callers] = self[unprovedPushesOf: callers].filter { $0 > now.addingTimeInterval(-PushLimits.day) } + [now]
    }

    /// Takes a push back: the user approved it, so it was no stranger's.
    mutating func forgetPush(_ challenge: PushChallenge) {
        guard let callers = challenge.cappedCallers else { return }
        self[unprovedPushesOf: callers] = self[unprovedPushesOf: callers].dropLast()
    }
}

extension PushChallenge {
    /// The callers whose pushes are counted for a day.
    fileprivate var cappedCallers: Callers? { asker?.cappedCallers(from: askedFrom ?? .unknown) }
}
