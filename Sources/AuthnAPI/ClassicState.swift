internal import Foundation
internal import IdentityCore
internal import Store

/// A classic sign-in, with the data of one read.
struct ClassicState: Sendable {
    /// The sign-in, or the recovery, with its user.
    let base: RecoveryState
    let token: String
    let environment: EngineEnvironment
    let policy: ClassicPolicy
    let application: Application
    /// The devices of push factors, by id.
    let devices: [String: Device]
    /// The enrollment of the device that approved the challenge; `nil` for none. It is written unchanged, so that a concurrent revocation
    /// causes a version conflict.
    let approver: Enrollment?
    /// The remembered device of the sign-in; `nil` for none. It may be too old to replace a factor.
    let remembered: RememberedDevice?
    /// All remembered devices of the user.
    let allRemembered: [RememberedDevice]
    /// The user's factors, usable or not.
    let held: Set<ClassicPolicy.Factor>
    /// The factor that awaits its confirmation; `nil` for none, and after its expiry.
    let pending: PendingFactor?

    var stored: StoredTransaction { base.stored }
    var transaction: SignInTransaction { base.transaction }
    let classic: ClassicSignIn
    var user: StoredUser { base.user }
    var context: RequestContext { base.context }
    var snapshot: OrgSnapshot { base.snapshot }
    var subject: SignInTransaction.Subject { base.subject }
    var isRepeated: Bool { base.isRepeated }
    /// The factors that the user can present now.
    var enrollments: [Enrollment] { subject.enrollments.usable }
    /// All factors of the user, including pending ones.
    var allEnrollments: [Enrollment] { subject.enrollments.all }

    /// Reads the open sign-in of a state token; throws ``ClassicRefusal`` for an invalid token.
    init(_ token: String, reading: Reading<some Sendable>, context: RequestContext) throws {
        let base = try ClassicRefusal.spelling(context) { try RecoveryState(token, reading, context: context) }
        try self.init(base, token: token, view: reading.view, environment: reading.engine.environment)
    }

    /// Reads the state of a sign-in; throws ``ClassicRefusal`` if it is not open.
    init(_ base: RecoveryState, token: String, view: any StoreView, environment: EngineEnvironment) throws {
        let (snapshot, subject, now) = (base.snapshot, base.subject, base.context.now)
        classic = base.transaction.classic ?? ClassicSignIn()
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
        allRemembered = try view.rememberedDevices(of: base.transaction.userID ?? "")
        remembered = allRemembered.first { $0.device == base.transaction.presentedDevice?.digest }
        held = Set(subject.enrollments.held.compactMap(ClassicPolicy.Factor.of))
        pending = try classic.enrolling.flatMap { try view.record(.enrollment, id: $0) }.map(Enrollment.init)
            .flatMap {
                try PendingFactor(
                    $0, of: base.user.value, in: base.transaction.id, organization: snapshot.organization.name, environment: environment,
                    now: now)
            }
    }

    var question: QuestionMethod? { base.question }

    /// The current requirement, by the policy and the proofs.
    var asked: SignInTransaction.Requirement { transaction.requirement(for: subject) }

    /// Returns the status of a state of this sign-in; `nil` if the state requires no input.
    func status(of transaction: SignInTransaction) -> ClassicTransaction.Status? {
        switch transaction.recovery?.stage {
        case .code?: return .recoveryChallenge
        case .question?: return .recovery
        case .reset?: return .passwordReset
        case .token?: return nil
        case nil: break
        }
        return switch transaction.requirement(for: subject) {
        case .factor: selected(in: transaction) == nil && !hasSelectedByType(in: transaction) ? .factorRequired : .factorChallenge
        case .newPassword(.expired): .passwordExpired
        case .newPassword(.endsSoon): .passwordWarn
        case .enrollment, .enrollmentOffer: isEnrolling(transaction) ? .factorEnrollActivate : .factorEnroll
        default: nil
        }
    }

    private func isEnrolling(_ transaction: SignInTransaction) -> Bool {
        pending.map { $0.enrollment.id == transaction.classic?.enrolling } ?? false || transaction.phone != nil
            || pendingPasskey(in: transaction) != nil
    }

    /// The user's factors that meet the current requirement.
    var presentable: [Enrollment] {
        guard case .factor(let kinds) = asked else { return [] }
        return enrollments.filter { kinds.contains($0.factor) }
    }

    /// Returns the factor that the user selected; `nil` for none, and if the factor can no longer be presented.
    func selected(in transaction: SignInTransaction) -> Enrollment? {
        transaction.classic?.selected.flatMap { id in presentable.first { $0.classicID == id } }
    }

    /// Returns the result of the pending or last push to a factor; `nil` without a push.
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
    /// The id of the enrollment in the classic API.
    var classicID: String { push?.id ?? id }
}
