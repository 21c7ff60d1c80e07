internal import Foundation
internal import IdentityCore
internal import Store

/// A classic sign-in as one read finds it by its state token.
struct ClassicState: Sendable {
    /// The sign-in, or the recovery, with its user.
    let base: RecoveryState
    let token: String
    let environment: EngineEnvironment
    let policy: ClassicPolicy
    let application: Application
    /// The devices of those that are on one, by their ids.
    let devices: [String: Device]
    /// The enrolment whose device approved; written unchanged, so that closing it at the same moment conflicts.
    let approver: Enrollment?
    /// The remembered device of the sign-in; it may no longer count.
    let remembered: RememberedDevice?
    /// All of the person's that are remembered.
    let allRemembered: [RememberedDevice]
    /// What factors the person has, usable or not.
    let held: Set<ClassicPolicy.Factor>
    /// The factor that is being set up; nil if there is none, or it is too late.
    let pending: PendingFactor?

    var stored: StoredTransaction { base.stored }
    var transaction: SignInTransaction { base.transaction }
    var classic: ClassicSignIn { base.classic }
    var user: StoredUser { base.user }
    var context: RequestContext { base.context }
    var snapshot: OrgSnapshot { base.snapshot }
    var subject: SignInTransaction.Subject { base.subject }
    var isRepeated: Bool { base.isRepeated }
    /// What the person can present now.
    var enrollments: [Enrollment] { subject.enrollments.usable }
    /// All that the person has, those that wait among them.
    var allEnrollments: [Enrollment] { subject.enrollments.all }

    /// Finds the sign-in that a state token leads to; throws ``ClassicRefusal`` if it leads to none that is open.
    init(_ token: String, reading: Reading<some Sendable>, context: RequestContext) throws {
        let base = try ClassicRefusal.spelling(context) { try RecoveryState(token, reading, context: context) }
        try self.init(base, token: token, view: reading.view, environment: reading.engine.environment)
    }

    /// Reads what a sign-in that was found needs; throws ``ClassicRefusal`` if it is not open.
    init(_ base: RecoveryState, token: String, view: any StoreView, environment: EngineEnvironment) throws {
        let (snapshot, subject, classic, now) = (base.snapshot, base.subject, base.classic, base.context.now)
        guard let policy = snapshot.classicPolicy(for: base.user.value), let application = snapshot.classicApplication else {
            throw ClassicRefusal.notEnabled
        }
        guard !subject.isLocked(at: now) || base.recovery != nil else {
            throw ClassicRefusal.invalidToken("stateToken: the account is locked")
        }
        (self.base, self.token, self.environment, self.policy, self.application) = (base, token, environment, policy, application)
        devices = try subject.enrollments.usable.compactMap(\.push?.deviceID).reduce(into: [:]) { devices, id in
            devices[id] = try view.record(.device, id: id).map(Device.init)
        }
        approver = subject.enrollments.approver(of: base.transaction)
        allRemembered = try view.records(
            .rememberedDevice, where: "user", is: base.transaction.userID ?? "", limit: 2 * RememberedDevice.most
        ).map(RememberedDevice.init)
        remembered = allRemembered.first { $0.device == classic.device }
        held = Set(subject.enrollments.held.compactMap(ClassicPolicy.Factor.of))
        pending = try classic.enrolling.flatMap { try view.record(.enrollment, id: $0) }.map(Enrollment.init)
            .flatMap {
                try PendingFactor(
                    $0, of: base.user.value, in: base.transaction.id, organization: snapshot.organization.name, environment: environment,
                    now: now)
            }
    }

    /// The user's security question.
    var question: QuestionMethod? { base.question }

    /// What is asked for now, by policy and proofs.
    var asked: SignInTransaction.Requirement { transaction.requirement(for: subject) }

    /// The status of a transaction of this sign-in.
    func status(of transaction: SignInTransaction) -> ClassicTransaction.Status? {
        switch transaction.classic?.recovery?.stage {
        case .code?: return .recoveryChallenge
        case .question?: return .recovery
        case .reset?: return .passwordReset
        case .token?: return nil
        case nil: break
        }
        return switch transaction.requirement(for: subject) {
        case .factor: selected(in: transaction) == nil ? .factorRequired : .factorChallenge
        case .newPassword(.expired): .passwordExpired
        case .newPassword(.endsSoon): .passwordWarn
        case .enrollment, .enrollmentOffer: isEnrolling(transaction) ? .factorEnrollActivate : .factorEnroll
        default: nil
        }
    }

    private func isEnrolling(_ transaction: SignInTransaction) -> Bool {
        pending.map { $0.enrollment.id == transaction.classic?.enrolling } ?? false || transaction.classic?.phone != nil
    }

    /// What the person can present that is asked for.
    var presentable: [Enrollment] {
        guard case .factor(let grants) = asked else { return [] }
        return enrollments.filter { $0.factor.secondFactorGrantTypes.contains(where: grants.contains) }
    }

    /// The factor that was chosen, if it is still there.
    func selected(in transaction: SignInTransaction) -> Enrollment? {
        transaction.classic?.selected.flatMap { id in presentable.first { $0.classicID == id } }
    }

    /// What came of the challenge to a factor; nil if that is not asked by a challenge.
    func result(of enrollment: Enrollment, in transaction: SignInTransaction) -> ClassicTransaction.FactorResult? {
        guard enrollment.push != nil, let challenge = transaction.challenge,
            challenge.targets.contains(where: { $0.enrollmentID == enrollment.id })
        else { return nil }
        switch challenge.state {
        case .denied, .failed: return .rejected
        case .pending, .approved: return context.now < challenge.expiresAt ? .waiting : .timeout
        }
    }
}

extension Enrollment {
    /// What the classic API calls it.
    var classicID: String { push?.id ?? id }
}
