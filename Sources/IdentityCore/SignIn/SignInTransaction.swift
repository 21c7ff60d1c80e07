package import Foundation

/// One sign-in under way: for which application, whose, what was proved when, what is still asked for.
///
/// A value with one pure transition: the runtime around it loads what it needs to know, lets a ``FactorVerifier`` judge
/// an answer, hands the verdict in, and commits what comes out.
package struct SignInTransaction: Sendable, Equatable, Codable {
    /// What the person is here for.
    package enum Purpose: String, Sendable, Codable {
        case signIn
        /// Somebody else asks: a client that the person does not use right now (CIBA).
        case backchannel
        /// A device without a browser asks (RFC 8628); the person decides elsewhere.
        case device
    }

    /// A factor that was proved.
    package struct Proof: Sendable, Equatable, Codable {
        package var factor: FactorKind
        /// More than one if what was proved rests on more: a device whose key the person unlocked.
        package var factorClasses: Set<FactorClass>
        package var methods: [String]
        package var time: Date
        /// What it was proved with; nil for a password, and in records of before it was kept.
        package var enrollmentID: String?
    }

    /// How it ended.
    package enum End: String, Sendable, Codable {
        case authenticated, refused, cancelled
        /// A recovery did what it was for, and nobody signed in.
        case recovered
    }

    /// Seconds until a sign-in that begins with a challenge expires.
    static let lifetime: TimeInterval = 300
    /// Wrong answers to a further factor with which a sign-in is over (oauth reference 2.4.10).
    package static let mostWrongAnswers = 5

    package var id: String
    var purpose = Purpose.signIn
    package var applicationID: String
    package var server: String?
    package var scopes: [String]
    var supportedGrantTypes: [String]?
    package var contextClasses: [String]
    /// Nil until the person is identified.
    package var userID: String?
    /// The account as the first step met it: a password that is set or a deactivation ends the transaction.
    package var account: Grant.AccountState?
    /// When all sessions of the account had last been ended, as that step met it: ended again, they end the transaction.
    package var sessionsEndedAt: Date?
    /// In the order proved.
    package var proofs: [Proof] = []
    /// What the person's devices were asked last.
    package var challenge: PushChallenge?
    /// The challenges that were replaced or withdrawn while devices could still answer them; `nil` for none.
    var replacedChallenges: [PushChallenge]?
    /// How many challenges were sent, those that were replaced among them.
    package var challengeCount = 0
    /// The times when challenges were sent, the most recent last; `nil` for none, and in records of earlier versions.
    var sentChallenges: [Date]?
    /// How often an answer to a further factor was wrong.
    package var wrongAnswers = 0
    /// The origin of the last proved factor; `nil` before the first proof, and in records of earlier versions.
    var origin: RequestOrigin?
    /// Whether the person keeps a password of which they were warned; nil as long as they did not say so.
    var keepsPassword: Bool?
    /// The digest of the secret by which the client asks for the challenge's outcome.
    package var challengeTicket: [UInt8]?
    package var createdAt: Date
    package var expiresAt: Date
    package var end: End?
    /// What a sign-in on the hosted pages knows beside; nil for those of clients that ask by themselves.
    package var hosted: HostedSignIn?
    /// What a sign-in by the classic API knows beside.
    package var classic: ClassicSignIn?
    /// What a device that waits knows beside.
    package var device: DeviceRequest?

    package init(
        id: String, purpose: Purpose = .signIn, request: SignInRequest, now: Date, lifetime: TimeInterval = SignInTransaction.lifetime
    ) {
        self.id = id
        self.purpose = purpose
        applicationID = request.application.id
        server = request.server
        scopes = request.scopes
        supportedGrantTypes = request.supportedGrantTypes
        contextClasses = request.contextClasses
        createdAt = now
        expiresAt = now.addingTimeInterval(lifetime)
    }
}

extension SignInTransaction {
    /// The person as the store holds them at this step, and what is asked of them.
    package struct Subject: Sendable {
        package var user: User
        package var decision: SignOnDecision
        package var passwordPolicy: PasswordPolicy
        /// The origin of this step's request.
        package var origin = RequestOrigin.unknown
        /// The grants by which they can present a second factor to this application.
        package var secondFactorGrantTypes: [String]
        /// Those of them that prove more than that the person has something, for who has proved that already.
        var verifyingGrantTypes: [String] = []
        /// Whether what is asked for takes two factors whatever the policy says: a device is enrolled by one factor only as long as
        /// there is no other.
        var demandsTwoFactors = false
        /// Whether they can set a new password in the middle of the sign-in; where they cannot, an old one that is due lets nobody in.
        var canChangePassword = false
        /// Whether they want to be warned of a password that ends soon; the policy says how soon.
        var warnsOfPassword = false
        /// Whether they may set up a second factor in the middle of the sign-in: who has none, not even one that is suspended.
        package var canEnroll = false
        /// What else is there to be set up once all is proved: at the classic API, as its policy says.
        package var offer = FactorOffer.none
        /// The factors of the user.
        package var enrollments = UserEnrollments()
    }

    /// What happens to a transaction.
    package enum Input: Sendable {
        /// A factor was judged; without a subject, the name given is nobody's.
        case judged(FactorKind, FactorClass, methods: [String], FactorVerdict, Subject?)
        /// The person comes with a session: what they proved before, as far as that is recent enough. At the beginning only.
        case resumed([Proof], Subject)
        /// A factor was set up, and shown to work; what is asked of the person `after` it, where that differs.
        case enrolled(FactorKind, FactorClass, methods: [String], Subject, after: Subject? = nil)
        /// A phone was enrolled by the ticket that this sign-in shows.
        case phoneEnrolled(_ enrollmentID: String, methods: [String], Subject)
        /// The person set a new password in place of the one that is due; the hash is that of the new one, which was judged.
        case passwordChanged(hash: String, Subject)
        /// The person keeps a password that is good for some days yet.
        case passwordKept(Subject)
        /// A challenge is about to be sent to the person's devices; one that is open is replaced by it.
        case challenged(PushChallenge, Subject)
        /// A device answered.
        case answered(PushAnswer)
        /// The client asks where it stands; the subject is needed once a device has approved.
        case polled(Subject?)
        /// The token or the code of a recovery was right.
        case recoveryProved(hasQuestion: Bool, Subject)
        /// It was not, or there is nobody whose it could be.
        case recoveryFailed(String)
        /// The user entered a wrong recovery code.
        case recoveryCodeWrong(Subject)
        /// The question of a recovery was answered.
        case recoveryAnswered(isRight: Bool, Subject)
        /// The person set another password in a recovery; the hash is that of the new one, which was judged.
        case passwordReset(hash: String, Subject)
        /// The client gives up.
        case cancelled
    }

    /// Where a transaction stands after a step.
    package enum Outcome: Sendable, Equatable {
        /// All that was asked for is proved.
        case authenticated(AuthenticationContext)
        /// Another factor is asked for, by one of these grants.
        case factorRequired([String])
        /// Another factor is asked for, and the person has none: they set one up. What a session brought is put aside for it.
        case enrollmentRequired
        /// All that was asked for is proved; there are factors to set up, which the person may leave for another time or not.
        case enrollmentOffered(canSkip: Bool)
        /// All that was asked for is proved, by a password that must be changed, or that ends soon and may be.
        case passwordDue(PasswordStanding)
        /// The answer was wrong, and the person may give another.
        case tryAgain(Refusal)
        /// Refused, for good.
        case refused(Refusal)
        /// The challenge can be sent.
        case challenged
        /// No device has answered yet.
        case pending
        /// A device's answer was looked at.
        case judged(PushChallenge.Verdict)
        /// A device's answer came after the end.
        case tooLate(PushChallenge.Lateness)
        /// A recovery goes on.
        case recovering
        /// A recovery has unlocked the account or, on the pages, set another password; nobody is signed in.
        case unlocked
        /// Given up by the client.
        case cancelled
    }

    /// What a step changes beside the transaction; committed with it, in order.
    package enum Effect: Sendable, Equatable {
        /// The user is written.
        case writeUser(User)
        /// An enrolment is written, in the version that was read: a code of it is used up, or a wrong one counted.
        case writeEnrollment(Enrollment)
        /// The system log gets a line.
        case log(type: String, LogEvent.Outcome, reason: String)
    }

    /// Takes one step.
    ///
    /// - Parameters:
    ///   - input: What happened.
    ///   - now: When.
    /// - Returns: The transaction after it, where it stands, and what else changes.
    package func step(_ input: Input, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        switch input {
        case .judged(let factor, let factorClass, let methods, let verdict, let subject):
            let type = "user.authentication.\(factor.rawValue)"
            guard end == nil, now < expiresAt else { return refused(.overTransaction, type, []) }
            guard let subject else { return wrong("unknown user", type, []) }
            guard isAbout(subject.user) else { return refused(.overTransaction, type, []) }
            // Whoever said no on a device said it to this sign-in, whatever else is proved for it.
            if isRejectedForGood { return refused(.rejectedOnDevice, type, []) }
            return judged(
                Proof(factor: factor, factorClasses: [factorClass], methods: methods, time: now), verdict, subject, type: type, now: now)
        case .resumed(let proofs, let subject): return resumed(proofs, subject, now: now)
        case .enrolled(let factor, let factorClass, let methods, let subject, let after):
            let proof = Proof(factor: factor, factorClasses: [factorClass], methods: methods, time: now)
            return enrolled(proof, subject, after: after ?? subject, now: now)
        case .phoneEnrolled(let id, let methods, let subject):
            let proof = Proof(factor: .push, factorClasses: [.possession], methods: methods, time: now, enrollmentID: id)
            return phoneEnrolled(proof, subject, now: now)
        case .passwordChanged(let hash, let subject): return passwordChanged(hash, subject, now: now)
        case .passwordKept(let subject): return passwordKept(subject, now: now)
        case .challenged(let challenge, let subject): return challenged(challenge, subject, now: now)
        case .answered(let answer): return answered(answer, now: now)
        case .polled(let subject): return polled(subject, now: now)
        case .recoveryProved(let hasQuestion, let subject): return recoveryProved(hasQuestion: hasQuestion, subject, now: now)
        case .recoveryFailed(let reason): return recoveryFailed(reason)
        case .recoveryCodeWrong(let subject): return recoveryCodeWrong(subject, now: now)
        case .recoveryAnswered(let isRight, let subject): return recoveryAnswered(isRight: isRight, subject, now: now)
        case .passwordReset(let hash, let subject): return passwordReset(hash, subject, now: now)
        case .cancelled: return cancelled()
        }
    }

    /// Whether it is about this person's account, as it is now. A sign-in that met nobody yet can be anybody's.
    package func isAbout(_ user: User) -> Bool {
        guard let account else { return (userID ?? user.id) == user.id }
        // A token that waits to be exchanged, in a mailbox or with an administrator, is no sign-in yet.
        let isUnderWay = classic?.recovery?.stage != .token
        return userID == user.id && account.hasPassword(of: user) && (!isUnderWay || sessionsEndedAt == user.sessionsEndedAt)
    }

    /// Takes on whom it is about.
    package mutating func meet(_ user: User) {
        userID = user.id
        account = .init(user)
        sessionsEndedAt = user.sessionsEndedAt
    }

    /// A sign-in begins with what a session proves.
    private func resumed(_ proofs: [Proof], _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        let type = "user.authentication.session"
        guard end == nil, now < expiresAt, self.proofs.isEmpty, challenge == nil, !proofs.isEmpty, isAbout(subject.user),
            subject.user.status == .active
        else { return refused(.overTransaction, type, []) }
        var next = self
        next.meet(subject.user)
        next.proofs = proofs
        // Nothing is set up by what was proved before this sign-in: it begins without.
        if next.requirement(for: subject) == .enrollment { return (self, .enrollmentRequired, []) }
        next.hosted?.inherited = proofs.count
        return next.proved(subject, type, [])
    }

    /// A factor that was just set up counts as proved, and only if one was to be set up. Not one that the person only thought up.
    private func enrolled(_ proof: Proof, _ subject: Subject, after: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        let type = "user.authentication.\(proof.factor.rawValue)"
        guard end == nil, now < expiresAt, isAbout(subject.user) else { return refused(.overTransaction, type, []) }
        guard requirement(for: subject).isEnrollment else { return refused(.overTransaction, type, []) }
        var next = self
        if !proof.factorClasses.isSubset(of: [.knowledge, .recollection]) { next.proofs.append(proof) }
        next.classic?.enrolled += 1
        return next.proved(after, type, [])
    }

    /// What all proofs together rest on. What somebody recalls is a second factor where the organization asks for it, and no further: an
    /// application that a session token leads to asks for more.
    package var factorClasses: Set<FactorClass> {
        let classes: Set<FactorClass> = proofs.reduce(into: []) { $0.formUnion($1.factorClasses) }
        return classic == nil ? classes.subtracting([.recollection]) : classes
    }

    /// The methods of all proofs, each once, and `mfa` if they are of different classes.
    package var methods: [String] {
        var all: [String] = []
        for method in proofs.flatMap(\.methods) where !all.contains(method) { all.append(method) }
        return all + (factorClasses.count > 1 ? ["mfa"] : [])
    }

    func refused(_ refusal: Refusal, _ type: String, _ effects: [Effect]) -> (SignInTransaction, Outcome, [Effect]) {
        var next = self
        // An end is final: whoever comes later is refused, and the first end stays what it was.
        next.end = end ?? .refused
        let outcome: LogEvent.Outcome = refusal.code == .invalidGrant ? .failure : .denied
        return (next, .refused(refusal), effects + [.log(type: type, outcome, reason: refusal.reason)])
    }
}
