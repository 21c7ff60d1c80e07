import Foundation

@testable import IdentityCore

/// An input of the exploration: an event in a sign-in, or a change of the time.
enum ExploredInput: Sendable, Equatable {
    /// The kind of an entered password.
    enum Password: Sendable, CaseIterable { case right, rightWithOldHash, wrong }
    /// The number that the user selected.
    enum Number: String, Sendable { case none, wrong = "17", right = "42" }
    /// The challenge that a device answers.
    enum Target: Sendable, Equatable {
        case current(ExploredDevice)
        case replaced(ExploredDevice)
        case foreign
    }
    struct Answer: Sendable, Equatable {
        var target: Target
        var consent: PushAnswer.Consent
        var key: PushMethod.KeyRole
        var number = Number.none
        var isSuspicious = false
    }

    /// An event of a recovery or an enrollment.
    enum Stray: Sendable, CaseIterable { case recoveryToken, recoveryCode, recoveryAnswer, recoveryPassword, enrollment }

    /// The proofs of an earlier session.
    enum Session: Sendable, CaseIterable {
        case password, code, passwordAndCode, push

        var proved: [SignInLedger.Proved] {
            switch self {
            case .password: [.init(kind: .password, time: -100)]
            case .code: [.init(kind: .code, time: -90)]
            case .passwordAndCode: Session.password.proved + Session.code.proved
            case .push: [.init(kind: .push(.first, userVerified: false), time: -80)]
            }
        }
    }

    case password(Password, ExploredPerson)
    /// The sign-in starts with the proofs of a session.
    case session(Session, ExploredPerson)
    case passwordOfNobody
    /// A code of an authenticator app.
    case code(isRight: Bool, ExploredPerson)
    case challenge(ExploredPerson)
    case answer(Answer)
    case poll(ExploredPerson?)
    /// The user sets an acceptable new password, even if none is due.
    case newPassword(ExploredPerson)
    /// The user keeps a password that expires soon.
    case keepPassword(ExploredPerson)
    /// An event of a recovery or an enrollment, even if none is in progress.
    case stray(Stray)
    case cancel
    /// Sets the clock to this second after the start.
    case wait(until: Int)

    static let newHash = "hash of the new password"

    /// The user verification methods that devices report. They count only if the approval includes user verification.
    static let unlocked = ["fpt"]

    /// The enrollment of the authenticator app after the use of a code.
    static let usedApp = Enrollment(
        id: "enr-app", userID: "00ujane", method: .unsupported(.totp), status: .active, createdAt: ExploredPolicy.time(-9))

    /// Returns the input of the transaction; `nil` for a change of the time.
    func input(
        _ policy: ExploredPolicy, _ subjects: [ExploredPerson: SignInTransaction.Subject], _ ledger: SignInLedger, at seconds: Int
    ) -> SignInTransaction.Input? {
        func subject(_ person: ExploredPerson) -> SignInTransaction.Subject { subjects[person] ?? policy.subject(person) }
        switch self {
        case .password(let password, let person):
            let verdict: FactorVerdict =
                switch password {
                case .right: .proved(passwordHash: nil)
                case .rightWithOldHash: .proved(passwordHash: "new hash")
                case .wrong: .failed
                }
            return .judged(.password, .knowledge, methods: ["pwd"], verdict, subject(person))
        case .passwordOfNobody: return .judged(.password, .knowledge, methods: ["pwd"], .failed, nil)
        case .code(let isRight, let person):
            return .judged(
                .totp, .possession, methods: ["otp"],
                isRight ? .proved(passwordHash: nil, enrollment: Self.usedApp) : .failed, subject(person))
        case .session(let session, let person):
            let proofs = session.proved.map { proved in
                SignInTransaction.Proof(
                    factor: proved.kind == .password ? .password : proved.kind == .code ? .totp : .push,
                    factorClasses: [proved.kind == .password ? .knowledge : .possession], methods: proved.methods,
                    time: ExploredPolicy.time(proved.time))
            }
            return .resumed(proofs, subject(person))
        case .challenge(let person): return .challenged(policy.challenge(ledger.challenges + 1, at: seconds), subject(person))
        case .answer(let answer):
            let target: String =
                switch answer.target {
                case .current(let device): device.target(of: ledger.challenges)
                case .replaced(let device): device.target(of: ledger.challenges - 1)
                case .foreign: "ft-of-another-transaction"
                }
            return .answered(
                PushAnswer(
                    targetID: target, consent: answer.consent, keyRole: answer.key,
                    selectedNumber: answer.number == .none ? nil : answer.number.rawValue, isSuspicious: answer.isSuspicious,
                    verificationMethods: Self.unlocked))
        case .poll(let person): return .polled(person.map(subject))
        case .newPassword(let person): return .passwordChanged(hash: Self.newHash, subject(person))
        case .keepPassword(let person): return .passwordKept(subject(person))
        case .stray(.recoveryToken): return .recoveryProved(hasQuestion: false, subject(.jane))
        case .stray(.recoveryCode): return .recoveryFailed("wrong")
        case .stray(.recoveryAnswer): return .recoveryAnswered(isRight: true, subject(.jane))
        case .stray(.recoveryPassword): return .passwordReset(hash: Self.newHash, subject(.jane))
        case .stray(.enrollment): return .enrolled(.totp, .possession, methods: ["otp"], subject(.jane))
        case .cancel: return .cancelled
        case .wait: return nil
        }
    }

    /// The user whose account the step reads; `nil` for none.
    var person: ExploredPerson? {
        switch self {
        case .password(_, let person), .session(_, let person), .code(_, let person), .challenge(let person), .newPassword(let person),
            .keepPassword(let person):
            person
        case .poll(let person): person
        case .stray(.recoveryCode), .passwordOfNobody, .answer, .cancel, .wait: nil
        case .stray: .jane
        }
    }

    /// Returns all inputs for a state. For a sign-in that has ended, these are only inputs that could have been accepted before.
    static func all(_ policy: ExploredPolicy, _ ledger: SignInLedger, at seconds: Int) -> [ExploredInput] {
        if ledger.end != nil { return atTheEnd }
        let isOpen = ledger.decision == nil && ledger.deadline.map { seconds < $0 } ?? false
        return steps + strays + (policy.isHosted ? sessions : []) + (policy.passwordsEnd || policy.warnsOfPassword ? changes : [changes[0]])
            + (isOpen ? (policy.hasNumbers ? numberAnswers : answers) : lateAnswers)
            + waits(policy, ledger, at: seconds)
    }

    private static let steps: [ExploredInput] =
        ExploredPerson.allCases.flatMap { person in [.password(.right, person), .challenge(person), .poll(person)] } + [
            .code(isRight: true, .jane), .code(isRight: false, .jane), .code(isRight: true, .janeSinceNewPassword),
            .code(isRight: true, .janeLocked), .code(isRight: false, .janeReactivated), .code(isRight: true, .janeUnassigned),
            .code(isRight: true, .bob), .code(isRight: true, .janeWithClosedApp), .code(isRight: false, .janeWithClosedApp),
            .code(isRight: true, .janeAtHome), .code(isRight: false, .janeAtHome), .password(.wrong, .janeAtHome),
            .password(.rightWithOldHash, .jane), .password(.wrong, .jane), .password(.wrong, .janeLocked),
            .password(.wrong, .janeLockOver),
            .password(.wrong, .janeSuspended), .password(.wrong, .janeReactivated), .password(.wrong, .bob), .passwordOfNobody, .poll(nil),
            .cancel,
        ]

    private static let strays: [ExploredInput] = Stray.allCases.map { .stray($0) }

    private static let sessions: [ExploredInput] =
        Session.allCases.flatMap { [.session($0, .jane), .session($0, .bob)] }
        + [ExploredPerson.janeSinceNewPassword, .janeDeactivated, .janeReactivated, .janeSuspended, .janeLocked, .janeUnassigned].map {
            .session(.passwordAndCode, $0)
        }

    private static let changes: [ExploredInput] =
        [
            ExploredPerson.jane, .janeSinceNewPassword, .janeSuspended, .janeReactivated, .janeLocked, .janeLockOver, .janeAtHome,
            .janeUnassigned, .bob,
        ]
        .map { .newPassword($0) } + [.keepPassword(.jane)]

    private static let atTheEnd: [ExploredInput] =
        [ExploredPerson.jane, .janeSinceNewPassword, .bob].flatMap { person in
            [.password(.right, person), .challenge(person), .poll(person)]
        } + [
            .password(.wrong, .jane), .code(isRight: true, .jane), .code(isRight: false, .jane), .passwordOfNobody, .poll(nil), .cancel,
            .newPassword(.jane),
        ]
        + lateAnswers

    private static let answers = answers(numbers: [.none])
    private static let numberAnswers = answers(numbers: [.none, .wrong, .right])

    private static func answers(numbers: [Number]) -> [ExploredInput] {
        var answers = lateAnswers
        for key in [PushMethod.KeyRole.proofOfPossession, .userVerification] {
            for consent in consents {
                for number in numbers {
                    for device in ExploredDevice.allCases {
                        answers.append(.answer(Answer(target: .current(device), consent: consent, key: key, number: number)))
                    }
                }
            }
        }
        return answers
    }

    /// Approvals and reports of the last challenge, of the challenge before it, and of a challenge of another sign-in.
    private static let lateAnswers: [ExploredInput] =
        [Target.current(.first), .replaced(.first), .replaced(.second), .foreign].flatMap { (target: Target) -> [ExploredInput] in
            [
                .answer(Answer(target: target, consent: .approved, key: .proofOfPossession, number: .right)),
                .answer(Answer(target: target, consent: .approvedByUserVerification, key: .userVerification, number: .right)),
                .answer(Answer(target: target, consent: .denied, key: .proofOfPossession, isSuspicious: true)),
            ]
        }

    static let consents: [PushAnswer.Consent] = [
        .approved, .approvedByUserVerification, .denied, .cancelledUserVerification, .verificationTemporarilyUnavailable,
        .verificationPermanentlyUnavailable, .none, .abandoned,
    ]

    /// Returns times for the clock: some seconds, and the second before and the second of the expiry of the challenge and of the
    /// transaction.
    private static func waits(_ policy: ExploredPolicy, _ ledger: SignInLedger, at seconds: Int) -> [ExploredInput] {
        let ends = [ledger.deadline, policy.lifetime].compactMap { $0 }
        let times = Set([20] + ends + ends.map { $0 - 1 })
        return times.filter { $0 > seconds && $0 <= policy.lifetime }.sorted().map { .wait(until: $0) }
    }
}
