internal import Foundation

/// A classic sign-in as one read finds it by its state token.
struct ClassicState: Sendable {
    let stored: StoredTransaction
    let classic: ClassicSignIn
    let token: String
    let environment: EngineEnvironment
    /// The secret of the browser that it goes on in, on the hosted pages; nil at the API.
    let browser: String?
    let snapshot: OrgSnapshot
    let policy: ClassicPolicy
    let application: Application
    let user: StoredUser
    let subject: SignInTransaction.Subject
    /// What the person can present now.
    let enrollments: [Enrollment]
    /// The devices of those that are on one, by their ids.
    let devices: [String: Device]
    /// The enrolment whose device approved; written as it was, so that nobody closes it at the same moment unseen.
    let approver: Enrollment?
    /// The device that it goes on, if that was remembered once; it need not count any more.
    let remembered: RememberedDevice?
    /// All of the person's that are remembered.
    let allRemembered: [RememberedDevice]
    /// All that the person has, those that wait among them.
    let allEnrollments: [Enrollment]
    /// What factors the person has, usable or not.
    let held: Set<ClassicPolicy.Factor>
    /// The factor that is being set up; nil if there is none, or it is too late.
    let pending: PendingFactor?
    let context: RequestContext
    /// Whether the request was read before.
    var isRepeated = false

    var transaction: SignInTransaction { stored.value }

    /// The same for the read of a request.
    init(_ token: String, browser: String? = nil, reading: Reading<some Sendable>, context: RequestContext) throws {
        try self.init(
            token, browser: browser, snapshot: reading.snapshot, view: reading.view, environment: reading.engine.environment,
            context: context)
        isRepeated = reading.isRepeated
    }

    /// Finds the sign-in that a state token leads to; throws ``ClassicRefusal`` if it leads to none that is open. What goes on on a page
    /// goes on there only, in the browser that it began in.
    init(
        _ token: String, browser: String? = nil, snapshot: OrgSnapshot, view: any StoreView, environment: EngineEnvironment,
        context: RequestContext
    ) throws {
        let now = context.now
        guard token.utf8.count <= 64, case (let stored, .fresh)? = try view.transaction(.stateToken, secret: token, now: now),
            let classic = stored.value.classic, classic.isOpen(to: browser)
        else { throw ClassicRefusal.invalidToken("stateToken: unknown, closed or of a page") }
        try self.init(
            stored, token: token, browser: browser, snapshot: snapshot, view: view, environment: environment, context: context)
    }

    /// Reads what a sign-in that was found needs; throws ``ClassicRefusal`` if it is not open.
    init(
        _ stored: StoredTransaction, token: String, browser: String? = nil, snapshot: OrgSnapshot, view: any StoreView,
        environment: EngineEnvironment, context: RequestContext
    ) throws {
        let now = context.now
        guard var policy = snapshot.organization.classic, let application = snapshot.classicApplication else {
            throw ClassicRefusal.notEnabled
        }
        guard let classic = stored.value.classic else { throw ClassicRefusal.invalidToken("stateToken: of a page") }
        guard stored.value.end == nil, now < stored.value.expiresAt else { throw ClassicRefusal.invalidToken("stateToken: expired") }
        // A recovery for a name of nobody's goes on like any other, as far as that gets without the code.
        let nobody = classic.recovery?.stage == .code && stored.value.userID == nil ? StoredUser.nobody : nil
        let id = stored.value.userID ?? ""
        guard let user = try view.record(.user, id: id).map(StoredUser.init) ?? nobody,
            stored.value.isAbout(user.value), stored.value.isRecoveryOpen(to: user.value),
            let subject = try view.subject(user.value, of: stored.value, snapshot: snapshot, from: context)
        else { throw ClassicRefusal.invalidToken("stateToken: the account changed") }
        guard !subject.isLocked(at: now) || classic.recovery != nil else {
            throw ClassicRefusal.invalidToken("stateToken: the account is locked")
        }
        (self.environment, self.context) = (environment, context)
        policy = snapshot.classicPolicy(for: user.value) ?? policy
        (self.stored, self.classic, self.token, self.browser, self.snapshot) = (stored, classic, token, browser, snapshot)
        (self.policy, self.application, self.user, self.subject) = (policy, application, user, subject)
        enrollments = subject.enrollments.usable
        devices = try enrollments.compactMap(\.push?.deviceID).reduce(into: [:]) { devices, id in
            devices[id] = try view.record(.device, id: id).map(Device.init)
        }
        approver = subject.enrollments.approver(of: stored.value)
        allRemembered = try view.records(.rememberedDevice, where: "user", is: id, limit: 2 * RememberedDevice.most)
            .map(RememberedDevice.init)
        remembered = allRemembered.first { $0.device == classic.device }
        allEnrollments = subject.enrollments.all
        held = Set(subject.enrollments.held.compactMap(ClassicPolicy.Factor.of))
        pending = try classic.enrolling.flatMap { try view.record(.enrollment, id: $0) }.map(Enrollment.init)
            .flatMap {
                try PendingFactor(
                    $0, of: user.value, in: stored.value.id, organization: snapshot.organization.name, environment: environment, now: now)
            }
    }

    /// What is asked for now, by policy and proofs.
    var asked: SignInTransaction.Outcome { transaction.proved(subject, "", []).1 }

    /// The status of a transaction of this sign-in.
    func status(of transaction: SignInTransaction) -> ClassicTransaction.Status? {
        switch transaction.classic?.recovery?.stage {
        case .code?: return .recoveryChallenge
        case .question?: return .recovery
        case .reset?: return .passwordReset
        case .token?: return nil
        case nil: break
        }
        return switch transaction.proved(subject, "", []).1 {
        case .factorRequired: selected(in: transaction) == nil ? .factorRequired : .factorChallenge
        case .passwordDue(.expired): .passwordExpired
        case .passwordDue(.endsSoon): .passwordWarn
        case .enrollmentRequired, .enrollmentOffered: isEnrolling(transaction) ? .factorEnrollActivate : .factorEnroll
        default: nil
        }
    }

    private func isEnrolling(_ transaction: SignInTransaction) -> Bool {
        pending.map { $0.enrollment.id == transaction.classic?.enrolling } ?? false || transaction.classic?.phone != nil
    }

    /// What the person can present that is asked for.
    var presentable: [Enrollment] {
        guard case .factorRequired(let grants) = asked else { return [] }
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

extension ClassicSignIn {
    /// Whether a caller may continue: on a page only with the secret of the browser, at the API without a secret.
    fileprivate func isOpen(to browser: String?) -> Bool {
        guard let page else { return browser == nil }
        return browser.map(page.browser.isBound) ?? false
    }
}

extension StoredUser {
    /// Stands for whose name is nobody's; never stored.
    fileprivate static let nobody = StoredUser(new: User(id: "", login: "", createdAt: .distantPast), origin: .api)
}

extension Enrollment {
    /// What the classic API calls it.
    var classicID: String { push?.id ?? id }
}
