internal import Foundation

/// Limits on pushes that the user does not approve, because many of them indicate a push fatigue attack. Each kind of request has its own
/// budget, so that an attacker cannot exhaust the user's budget.
struct PushLimits: Sendable {
    /// The maximum number of pushes in ``ChallengePlan/lifetime`` for sign-ins with a proof and for the back channel.
    static let most = 5
    /// The maximum number of pushes without a proof in ``ChallengePlan/lifetime`` from one known device or browser, or from all known
    /// networks together.
    static let mostFromKnownOrigins = 4
    /// The maximum number of pushes without a proof in ``ChallengePlan/lifetime`` from one unknown network.
    static let mostFromStranger = 2
    /// The maximum number of pushes without a proof in a day from one known network, or from all unknown origins together.
    static let mostUnprovedInDay = 10
    /// The length of the daily window in seconds.
    static let day: TimeInterval = 86_400

    /// The sign-ins that sent pushes to the user's devices.
    let asked: [SignInTransaction]
    let user: User
    let now: Date

    init(asked: [SignInTransaction], of user: User, now: Date) {
        (self.asked, self.user, self.now) = (asked, user, now)
    }

    /// Throws ``Refusal`` with status 429 if another challenge would exceed a limit of its kind.
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
            let device = asker == .knownOrigin ? user.knownDevice(of: origin) : nil
            let own = asked.filter { transaction in
                guard let challenge = transaction.challenge, challenge.asker == asker else { return false }
                // An attacker who has one device of the user must not use up the pushes of the others.
                return device == nil || user.knownDevice(of: challenge.askedFrom ?? .unknown) == device
            }
            try admit(Self.mostFromKnownOrigins, of: own)
            try admit(Self.most, of: own + asked.filter(\.isEntitled))
        case .stranger:
            // Counted by network only: an attacker can invent a new device for each request.
            try admit(
                Self.mostFromStranger,
                of: asked.filter { $0.challenge?.asker == .stranger && $0.challenge?.askedFrom?.network == origin.network })
        }
    }

    private func admit(_ most: Int, of asked: [SignInTransaction]) throws(Refusal) {
        guard SignInTransaction.unansweredChallenges(asked, now: now) >= most else { return }
        // The response tells clients when the next push is allowed; otherwise they would retry at once.
        let ends = asked.flatMap(\.challengeTimes).map { $0.addingTimeInterval(ChallengePlan.lifetime) }.filter { $0 > now }
        let reset = ends.sorted().first { SignInTransaction.unansweredChallenges(asked, now: $0) < most }
        throw Self.tooMany(most, until: reset ?? now.addingTimeInterval(ChallengePlan.lifetime))
    }

    private static func tooMany(_ most: Int, until reset: Date) -> Refusal {
        var refusal = Refusal(
            .invalidGrant, "Too many requests were sent to this user's devices. Wait some minutes and try again.",
            reason: "push: too many unanswered challenges", status: .tooManyRequests,
            rateLimit: RateLimitStatus(limit: most, remaining: 0, reset: reset, isAdmitted: false))
        refusal.isForUser = true
        return refusal
    }
}

extension PushChallenge.Asker {
    /// Determines the proof behind the pushes of a sign-in.
    init(of transaction: SignInTransaction, _ subject: SignInTransaction.Subject) {
        if !transaction.isUnproved {
            self = .entitled
        } else if subject.user.provedDevice(of: subject.origin) != nil {
            self = .knownOrigin
        } else {
            self = subject.user.knowsNetwork(of: subject.origin) ? .knownNetwork : .stranger
        }
    }

    /// Returns the group of callers whose pushes are counted for a day; `nil` if there is no daily limit.
    fileprivate func cappedCallers(from origin: RequestOrigin) -> Callers? {
        switch self {
        case .entitled, .knownOrigin: nil
        case .knownNetwork: origin.networkID.map(Callers.known)
        case .stranger: .others
        }
    }
}

extension SignInTransaction {
    /// Whether the last challenge was sent with a proof; `true` for records of earlier versions.
    fileprivate var isEntitled: Bool { [.entitled, nil].contains(challenge?.asker) }
}

extension User {
    /// The times of pushes that callers without a proof sent in the last day, and that the user did not approve.
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

    mutating func countPush(_ challenge: PushChallenge, at now: Date) {
        guard let callers = challenge.cappedCallers else { return }
        self[unprovedPushesOf: callers] = self[unprovedPushesOf: callers].filter { $0 > now.addingTimeInterval(-PushLimits.day) } + [now]
    }

    /// Removes a push from the count after the user approved it.
    mutating func forgetPush(_ challenge: PushChallenge) {
        guard let callers = challenge.cappedCallers else { return }
        self[unprovedPushesOf: callers] = self[unprovedPushesOf: callers].dropLast()
    }
}

extension PushChallenge {
    /// The group of callers whose pushes are counted for a day; `nil` if there is no daily limit.
    fileprivate var cappedCallers: Callers? { asker?.cappedCallers(from: askedFrom ?? .unknown) }
}
