package import Foundation

/// A sign-in in progress: a value with one pure transition, ``step(_:now:)``. The engine reads the stored data, a ``FactorVerifier`` judges
/// an answer, and the engine commits the result.
package struct SignInTransaction: Sendable, Equatable, Codable {
    /// The kind of request that started the sign-in.
    package enum Purpose: String, Sendable, Codable {
        case signIn
        /// A client that the user is not using starts the sign-in (CIBA).
        case backchannel
        /// A device without a browser starts the sign-in, and the user confirms it on another device (RFC 8628).
        case device
    }

    /// The proof of one factor.
    package struct Proof: Sendable, Equatable, Codable {
        package var factor: FactorKind
        /// The proved classes; several if the user unlocked the key of a device.
        package var factorClasses: Set<FactorClass>
        package var methods: [String]
        package var time: Date
        /// The id of the enrollment that was used; `nil` for a password, and in records of earlier versions.
        package var enrollmentID: String?
        /// Whether the proof is by a passkey that cannot leave its device; `nil` for no, and in records of earlier versions.
        package var isHardwareProtected: Bool?
    }

    /// The final outcome of the transaction.
    package enum End: String, Sendable, Codable {
        case authenticated, refused, cancelled
        /// A recovery succeeded, without a sign-in.
        case recovered
    }

    /// The lifetime in seconds of a sign-in that starts with a challenge.
    static let lifetime: TimeInterval = 300
    /// The number of wrong answers that ends a sign-in (Documentation/Protocol/OAuth.md §2.4.10).
    package static let mostWrongAnswers = 5
    /// The time in seconds after which a sign-in to the organization expires without a request. Each request restarts it.
    package static let idleLifetime: TimeInterval = 300
    /// The maximum lifetime in seconds, regardless of requests.
    static let longestLifetime: TimeInterval = 3_600
    /// The minimum extension in seconds that is worth a write. A client that polls must not write each time.
    private static let extensionStep: TimeInterval = 60

    package var id: String
    var purpose = Purpose.signIn
    package var applicationID: String
    package var server: String?
    package var scopes: [String]
    /// The factors that the client can present after the first one; `nil` for every factor of the user.
    var presentable: Set<FactorKind>?
    package var rules: DoorRules
    package var contextClasses: [String]
    /// The user's id; `nil` until the user is identified.
    package var userID: String?
    /// Snapshot of the account when the user was identified; `nil` before. A new password or a deactivation ends the transaction.
    package var account: Grant.AccountState?
    /// The account's ``User/sessionsEndedAt`` when the user was identified. A different value ends the transaction.
    package var sessionsEndedAt: Date?
    /// The proofs, ordered by time.
    package var proofs: [Proof] = []
    /// The last push challenge; `nil` for none.
    package var challenge: PushChallenge?
    /// The challenges that were replaced or withdrawn while devices could still answer them; `nil` for none.
    var replacedChallenges: [PushChallenge]?
    /// The number of sent challenges, including replaced ones.
    package var challengeCount = 0
    /// The times when challenges were sent, the most recent last; `nil` for none, and in records of earlier versions.
    var sentChallenges: [Date]?
    /// The number of wrong answers, compared with ``mostWrongAnswers``.
    package var wrongAnswers = 0
    /// The origin of the last proved factor; `nil` before the first proof, and in records of earlier versions.
    var origin: RequestOrigin?
    /// Whether the expiry warning is skipped because the user kept or changed the password; `nil` if not.
    var keepsPassword: Bool?
    /// The digest of the secret, such as `oob_code`, that the client got with the last push challenge or sent code; `nil` before the first.
    package var challengeTicket: [UInt8]?
    package var createdAt: Date
    package var expiresAt: Date
    package var end: End?
    /// The number of proofs that came from a session. They are the first elements of ``proofs``.
    package var inherited = 0
    /// The id of the session whose proofs count, or that the sign-in started; `nil` for none. The sign-in ends with this session.
    package var sessionID: String?
    /// The number of the challenge whose approval is among the proofs; 0 for none.
    package var countedChallenge = 0
    /// The number of the challenge whose failure was reported to the client; 0 for none.
    package var reportedChallenge = 0
    /// The number of factors that the user enrolled in this sign-in.
    package var enrolledCount = 0
    /// Whether the user skipped the enrollment of optional factors.
    package var skipsOffer = false
    /// The ticket of the phone that is being enrolled; `nil` for none.
    package var phone: PhoneTicket?
    /// The id of the push method of the phone that was enrolled last; `nil` if the id was not announced.
    package var enrolledPhone: String?
    package var presentedDevice: PresentedDevice?
    /// The result of a sign-in on the hosted pages, or for a confirmed device; `nil` until all requirements are met.
    package var authentication: AuthenticationContext?
    package var authorization: Authorization?
    /// The digest of the user code of a waiting device (RFC 8628); `nil` for none.
    package var userCode: [UInt8]?
    /// The recovery that precedes the sign-in; `nil` for none, and after the recovery.
    package var recovery: Recovery?
    /// The challenge that a passkey must sign; `nil` for none.
    package var passkeyChallenge: PasskeyChallenge?
    /// The state that the protocol module keeps in the sign-in; `nil` for none.
    package var door: DoorState?

    package init(
        id: String, purpose: Purpose = .signIn, request: SignInRequest, now: Date, lifetime: TimeInterval = SignInTransaction.lifetime
    ) {
        self.id = id
        self.purpose = purpose
        applicationID = request.application.id
        server = request.server
        scopes = request.scopes
        presentable = request.presentable
        rules = request.rules
        contextClasses = request.contextClasses
        createdAt = now
        expiresAt = now.addingTimeInterval(lifetime)
    }
}

extension SignInTransaction {
    /// The stored user at this step, and the requirements for the user.
    package struct Subject: Sendable {
        package var user: User
        package var decision: SignOnDecision
        package var passwordPolicy: PasswordPolicy
        package var origin = RequestOrigin.unknown
        /// The factors that the user can present now as the second factor, sorted.
        package var secondFactors: [FactorKind]
        /// The second factors that prove more than possession, for a user who has already proved possession.
        var verifyingFactors: [FactorKind] = []
        /// Whether two factors are required regardless of the policy. A user with a second factor must prove it before enrolling another.
        var demandsTwoFactors = false
        /// Whether the user can set a new password during the sign-in. If not, an expired password refuses the sign-in.
        var canChangePassword = false
        /// Whether the user is warned of a password that expires soon, as the policy defines it.
        var warnsOfPassword = false
        /// Whether the user may enroll a second factor during the sign-in. A user with a suspended factor may not.
        package var canEnroll = false
        /// Whether the second factor that the user may enroll can be a passkey.
        var canEnrollPasskey = false
        /// Whether the pages can create a further passkey of the user.
        var canCreatePasskey = false
        /// The offers that the organization makes on the pages.
        var setupOffers: Set<SetupOffer> = []
        /// The offer to enroll further factors after all proofs, by the policy of the classic API.
        package var offer = FactorOffer.none
        /// The offer after a recovery code, to a user who gets no other offer.
        var offerAfterCode = FactorOffer.none
        package var enrollments = UserEnrollments()
    }

    /// An event in a sign-in.
    package enum Input: Sendable {
        /// A factor was judged. The subject is `nil` for an unknown user name.
        case judged(FactorKind, FactorClass, methods: [String], FactorVerdict, Subject?)
        /// The sign-in starts with the recent proofs of a session.
        case resumed([Proof], Subject)
        /// A factor was enrolled and confirmed. `after` is the subject after the enrollment, if it differs.
        case enrolled(FactorKind, FactorClass, methods: [String], Subject, after: Subject? = nil)
        /// A phone was enrolled with the ticket of this sign-in.
        case phoneEnrolled(_ enrollmentID: String, methods: [String], Subject)
        /// The user changed a password that has expired or expires soon. The hash is that of the new, accepted password.
        case passwordChanged(hash: String, Subject)
        /// The user keeps a password that expires soon.
        case passwordKept(Subject)
        /// A passkey was created and confirmed. The enrollment is stored with this step. `after` is the subject after the enrollment, if it
        /// differs.
        case passkeyEnrolled(Enrollment, isUserVerified: Bool, Subject, after: Subject? = nil)
        /// The user saved new recovery codes.
        case codesSaved(enrollmentID: String, Subject)
        /// The user declined an offer.
        case offerDeclined(SetupOffer, Subject)
        /// A challenge is about to be sent to the user's devices. It replaces an open one.
        case challenged(PushChallenge, Subject)
        /// A device answered the challenge.
        case answered(PushAnswer)
        /// The client polls. The subject is required once a device has approved.
        case polled(Subject?)
        /// The token or code of a recovery was correct.
        case recoveryProved(hasQuestion: Bool, Subject)
        /// The token or code of a recovery was wrong, or the user is unknown. Contains the reason for the log.
        case recoveryFailed(String)
        /// The user entered a wrong recovery code.
        case recoveryCodeWrong(Subject)
        /// The user answered the security question of a recovery.
        case recoveryAnswered(isRight: Bool, Subject)
        /// The user set a new password in a recovery. The hash is that of the new, accepted password.
        case passwordReset(hash: String, Subject)
        /// The client cancelled the sign-in.
        case cancelled
    }

    /// The result of a step.
    package enum Outcome: Sendable, Equatable {
        /// All requirements are met.
        case authenticated(AuthenticationContext)
        /// One of these factors is required next.
        case factorRequired([FactorKind])
        /// The user must enroll a second factor. The proofs of a session do not permit an enrollment.
        case enrollmentRequired
        /// All required factors are proved, and the user can enroll further factors. If `canSkip` is `false`, the user must.
        case enrollmentOffered(canSkip: Bool)
        /// All required factors are proved, but the password has expired or expires soon.
        case passwordDue(PasswordStanding)
        /// All required factors are proved, and the user can set this up.
        case setupOffered(SetupOffer)
        /// The attempt failed, and the user can try again.
        case tryAgain(Refusal)
        /// The sign-in was refused and has ended.
        case refused(Refusal)
        /// The challenge can be sent.
        case challenged
        /// No device has answered yet.
        case pending
        /// A device's answer was evaluated.
        case judged(PushChallenge.Verdict)
        /// A device's answer came too late and has no effect.
        case tooLate(PushChallenge.Lateness)
        /// The recovery continues.
        case recovering
        /// A recovery unlocked the account or, on the pages, set a new password. The user is not signed in.
        case unlocked
        /// The client cancelled the sign-in.
        case cancelled
    }

    /// A change besides the transaction. The effects of a step are committed with it, in order.
    package enum Effect: Sendable, Equatable {
        case writeUser(User)
        /// Replaces the enrollment that was read, because a code was consumed or a wrong one was counted.
        case writeEnrollment(Enrollment)
        case log(type: String, LogEvent.Outcome, reason: String)
    }

    /// Takes one step. Returns the next transaction, the result, and the other changes to commit.
    package func step(_ input: Input, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        switch input {
        case .judged(let factor, let factorClass, let methods, let verdict, let subject):
            let type = "user.authentication.\(factor.rawValue)"
            guard end == nil, now < expiresAt else { return refused(.overTransaction, type, []) }
            guard let subject else { return wrong("unknown user", type, []) }
            guard isAbout(subject.user) else { return refused(.overTransaction, type, []) }
            // A denial on a device ends the sign-in, regardless of other proofs.
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
        case .passkeyEnrolled(let enrollment, let isUserVerified, let subject, let after):
            var proof = Proof(factor: .passkey, factorClasses: [.possession], methods: ["pop"], time: now, enrollmentID: enrollment.id)
            if isUserVerified { proof.factorClasses.insert(.inherence) }
            proof.isHardwareProtected = enrollment.passkey?.isHardwareProtected
            return enrolled(proof, subject, after: after ?? subject, now: now)
        case .passwordChanged(let hash, let subject): return passwordChanged(hash, subject, now: now)
        case .passwordKept(let subject): return passwordKept(subject, now: now)
        case .codesSaved(let id, let subject): return codesSaved(id, subject, now: now)
        case .offerDeclined(let offer, let subject): return settled(offer, subject, isDeclined: true, now: now)
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

    /// Whether the sign-in belongs to this user, and the account has not changed. Before the sign-in is bound to a user, `true` for
    /// every user.
    package func isAbout(_ user: User) -> Bool {
        guard let account else { return (userID ?? user.id) == user.id }
        // A recovery token that was not exchanged yet is not a sign-in in progress, so ending all sessions does not invalidate it.
        let isUnderWay = recovery?.stage != .token
        return userID == user.id && account.hasPassword(of: user) && (!isUnderWay || sessionsEndedAt == user.sessionsEndedAt)
    }

    /// Binds the sign-in to a user.
    package mutating func meet(_ user: User) {
        userID = user.id
        account = .init(user)
        sessionsEndedAt = user.sessionsEndedAt
    }

    /// Starts the sign-in with the proofs of a session.
    private func resumed(_ proofs: [Proof], _ subject: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        let type = "user.authentication.session"
        guard end == nil, now < expiresAt, self.proofs.isEmpty, challenge == nil, !proofs.isEmpty, isAbout(subject.user),
            subject.user.status == .active
        else { return refused(.overTransaction, type, []) }
        var next = self
        next.meet(subject.user)
        next.proofs = proofs
        // An enrollment requires proofs of this sign-in, so it starts without those of the session.
        if next.requirement(for: subject) == .enrollment { return (self, .enrollmentRequired, []) }
        next.inherited = proofs.count
        return next.proved(subject, type, [])
    }

    /// Handles an enrollment that the sign-in required or offered. The factor counts as proved, unless it is only known, such as the answer
    /// to a security question.
    private func enrolled(_ proof: Proof, _ subject: Subject, after: Subject, now: Date) -> (SignInTransaction, Outcome, [Effect]) {
        let type = "user.authentication.\(proof.factor.rawValue)"
        guard end == nil, now < expiresAt, isAbout(subject.user) else { return refused(.overTransaction, type, []) }
        guard permitsEnrollment(of: proof.factor, for: subject) else { return refused(.overTransaction, type, []) }
        var next = self
        if !proof.factorClasses.isSubset(of: [.knowledge, .recollection]) { next.proofs.append(proof) }
        next.enrolledCount += 1
        return next.proved(after, type, [])
    }

    /// The classes of all proofs. The answer to a security question (`recollection`) counts only with the rule
    /// ``DoorRules/countsRecollection``, which only the classic API has. After a password and an answer there, an application whose policy
    /// requires two factors still asks for another one.
    package var factorClasses: Set<FactorClass> {
        let classes: Set<FactorClass> = proofs.reduce(into: []) { $0.formUnion($1.factorClasses) }
        return rules.contains(.countsRecollection) ? classes : classes.subtracting([.recollection])
    }

    /// The methods of all proofs without duplicates, and `mfa` if the proofs are of several classes.
    package var methods: [String] {
        var all: [String] = []
        for method in proofs.flatMap(\.methods) where !all.contains(method) { all.append(method) }
        return all + (factorClasses.count > 1 ? ["mfa"] : [])
    }

    func refused(_ refusal: Refusal, _ type: String, _ effects: [Effect]) -> (SignInTransaction, Outcome, [Effect]) {
        var next = self
        // The first end is final: a later refusal does not replace it.
        next.end = end ?? .refused
        let outcome: LogEvent.Outcome = refusal.code == .invalidGrant ? .failure : .denied
        return (next, .refused(refusal), effects + [.log(type: type, outcome, reason: refusal.reason)])
    }
}

extension SignInTransaction {
    /// Whether the user signs in to the organization itself, in the classic API or in a recovery.
    package var isForOrganization: Bool { applicationID == ClassicPolicy.applicationID }

    /// Returns the transaction with a later expiry; `nil` if the sign-in has ended, or the extension is too short for a write.
    package func extended(now: Date) -> SignInTransaction? {
        let latest = createdAt.addingTimeInterval(Self.longestLifetime)
        let wanted = min(now.addingTimeInterval(Self.idleLifetime), latest)
        guard end == nil, wanted.timeIntervalSince(expiresAt) >= Self.extensionStep else { return nil }
        var next = self
        next.expiresAt = wanted
        return next
    }

    /// Withdraws the open challenge, which still counts as sent.
    package mutating func withdrawChallenge(now: Date) {
        guard let challenge, challenge.isOpen(at: now) else { return }
        keepReplacedChallenge(now: now)
        self.challenge?.expiresAt = now
    }
}

/// A device token that a client presented (`deviceToken` of the classic API).
package struct PresentedDevice: Sendable, Equatable, Codable {
    /// The digest of the token.
    package var digest: [UInt8]
    /// Whether the device counts only if this server issued the token for this user. Another host can plant a cookie in a browser.
    package var mustBeIssued: Bool

    package init(digest: [UInt8], mustBeIssued: Bool) {
        (self.digest, self.mustBeIssued) = (digest, mustBeIssued)
    }
}

/// The authorization request that a sign-in answers, and its code.
package struct Authorization: Sendable, Equatable, Codable {
    package var request: AuthorizationRequest
    /// The digest of the last code; `nil` for none.
    package var code: [UInt8]?
    /// The time when the first code was issued; `nil` for none.
    package var firstCodeAt: Date?

    package init(_ request: AuthorizationRequest) { self.request = request }
}
