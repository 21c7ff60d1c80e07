package import Foundation
package import Store

/// Setting up an authenticator app: a secret that is shown once, and a code that shows that the app has it.
extension Engine {
    /// Begins to enrol an authenticator app. Nothing that the person has is replaced before it is confirmed.
    ///
    /// - Parameters:
    ///   - authentication: What the person just proved, at most 15 minutes ago; two factors, if they have a second one that is usable or
    ///     suspended.
    ///   - provider: Whose app it is.
    ///   - context: The request.
    /// - Returns: The secret, to be shown once; or `access_denied` with a sentence that says how to sign in.
    /// - Throws: ``StoreError`` if the store failed.
    package func beginTOTPEnrollment(
        _ authentication: AuthenticationContext, provider: TOTPProvider = .google, context: RequestContext
    ) async throws -> Result<TOTPEnrollmentOffer, Refusal> {
        try await transact(context, refusing: Refusal.self) { [self] reading in
            try AuthenticatorAppSetup(authentication, reading.view, reading.snapshot, environment, now: context.now)
        } decide: { setup in
            let (offer, writes) = try setup.offer(of: provider)
            return Plan(.success(offer), writes)
        }
    }

    /// Confirms an authenticator app by a code that it shows: from now on it is the person's, in place of the one that they had.
    ///
    /// The code is used up by it.
    ///
    /// - Parameters:
    ///   - id: The enrolment that was begun.
    ///   - code: The code as it was typed.
    ///   - authentication: What the person proved, as when it was begun.
    ///   - context: The request.
    /// - Returns: Nothing; or a refusal: `invalid_grant` for a wrong code, after which another can be tried, and for an enrolment that is
    ///   not known or no longer waits; `access_denied` as when it was begun.
    /// - Throws: ``StoreError`` if the store failed.
    package func confirmTOTPEnrollment(
        id: String, code: String, _ authentication: AuthenticationContext, context: RequestContext
    ) async throws -> Result<Void, Refusal> {
        try await transact(context, refusing: Refusal.self) { [self] reading in
            try AuthenticatorAppSetup(
                authentication, isBegun: true, reading.view, reading.snapshot, environment, now: context.now)
        } decide: { setup in
            Plan(.success(()), try setup.confirmation(id: id, code: code))
        }
    }

    /// Deletes a person's authenticator app.
    ///
    /// - Parameters:
    ///   - id: The enrolment.
    ///   - authentication: What the person just proved, at most 15 minutes ago: two factors, since they have a second one.
    ///   - context: The request.
    /// - Returns: Nothing; or `access_denied`, or `invalid_grant` if there is no such app of theirs.
    /// - Throws: ``StoreError`` if the store failed.
    package func deleteTOTPEnrollment(
        id: String, _ authentication: AuthenticationContext, context: RequestContext
    ) async throws -> Result<Void, Refusal> {
        try await transact(context, refusing: Refusal.self) { [self] reading in
            try AuthenticatorAppSetup(authentication, reading.view, reading.snapshot, environment, now: context.now)
        } decide: { setup in
            Plan(.success(()), try setup.deletion(id: id))
        }
    }

    /// A person's authenticator apps: none, or one.
    ///
    /// - Parameter userID: The person.
    /// - Returns: Those that are confirmed.
    /// - Throws: ``StoreError`` if the store failed.
    package func totpEnrollments(ofUser userID: String) async throws -> [TOTPEnrollmentSummary] {
        try await store.read { view in
            try view.enrollments(of: userID)
                .filter { $0.factor == .totp && $0.status == .active }
                .map { TOTPEnrollmentSummary(id: $0.id, createdAt: $0.createdAt) }
        }
    }
}

/// A user who sets up an authenticator app, as one read finds them.
package struct AuthenticatorAppSetup: Sendable {
    /// Seconds in which a secret can be confirmed.
    static let lifetime: TimeInterval = 600
    /// The maximum number of unconfirmed secrets of a user. Each start of the setup creates one.
    static let mostPending = 5

    private let user: StoredUser
    private let organizationName: String
    private let confirmed: [Enrollment]
    private let pending: [Enrollment]
    private let environment: EngineEnvironment
    private let now: Date

    /// Reads the user's apps.
    ///
    /// - Parameters:
    ///   - authentication: The methods that the user proved, and when.
    ///   - isBegun: Whether the setup was started before; only the start requires a fresh sign-in.
    ///   - view: The view that the user and the enrolments are read from.
    ///   - snapshot: The configuration of the same view.
    ///   - environment: The random source, and the master key that seals secrets.
    ///   - now: The time, for the age of the sign-in and expired setups.
    /// - Throws: ``Refusal`` if the user may not set an app up; ``StoreError``.
    package init(
        _ authentication: AuthenticationContext, isBegun: Bool = false, _ view: any StoreView, _ snapshot: OrgSnapshot,
        _ environment: EngineEnvironment, now: Date
    ) throws {
        guard isBegun || authentication.isFresh(at: now) else { throw Refusal.staleSignIn }
        guard let user = try view.record(.user, id: authentication.userID).map(StoredUser.init), user.value.status == .active else {
            throw Refusal.unknownPerson
        }
        let own = try view.enrollments(of: user.value.id)
        let directory = DeviceDirectory(snapshot: snapshot, view: view, now: now)
        // As for phones, a stolen password must not suffice.
        guard try directory.factors(among: own).isEmpty || authentication.methods.contains("mfa") else {
            throw Refusal(
                .accessDenied, "Another factor is enrolled for this account. Sign in again with it, then try once more.",
                reason: "second factor is not proved")
        }
        (self.user, self.environment, self.now) = (user, environment, now)
        organizationName = snapshot.organization.name
        confirmed = own.filter { $0.factor == .totp && $0.isHeld }
        pending = own.filter { $0.factor == .totp && $0.status == .pending }
    }

    /// Offers a new secret.
    package func offer(of provider: TOTPProvider) throws -> (TOTPEnrollmentOffer, Writes) {
        let secret = try environment.random.bytes(TimeBasedCode.secretLength)
        let expiresAt = now.addingTimeInterval(Self.lifetime)
        var enrollment = Enrollment(
            id: try environment.random.identifier(prefix: "enr"), userID: user.value.id, factor: .totp, status: .pending, createdAt: now)
        enrollment.totp = try TOTPMethod(sealing: secret, forEnrollment: enrollment.id, provider: provider, environment: environment)
        enrollment.pendingUntil = expiresAt
        let crowded = pending.sorted { $0.createdAt > $1.createdAt }.dropFirst(Self.mostPending - 1)
        var writes = Writes(crowded.map(\.removal) + [.put(try enrollment.record())])
        writes.log("user.mfa.factor.begin", .success, reason: "totp", userID: user.value.id)
        let offer = TOTPEnrollmentOffer(
            id: enrollment.id, secret: secret, issuer: organizationName, account: user.value.login, expiresAt: expiresAt)
        return (offer, writes)
    }

    /// Confirms an app by a code, in place of the user's other one of the same provider.
    package func confirmation(id: String, code: String) throws -> Writes {
        guard let pending = pending.first(where: { $0.id == id }), let until = pending.pendingUntil, now < until else {
            throw Refusal(
                .invalidGrant, "The code came too late. Begin to set up the authenticator app again.", reason: "totp: nothing pending")
        }
        guard var confirmed = try pending.using(code: code, environment: environment, now: now) else {
            throw Refusal(
                .invalidGrant, "The code is wrong. Enter the one that the app shows now; the phone's clock must be right.",
                reason: "totp: wrong code at enrolment")
        }
        confirmed.status = .active
        confirmed.pendingUntil = nil
        confirmed.updatedAt = now
        let others = (self.confirmed + self.pending).filter { $0.id != id && $0.totp?.provider == confirmed.totp?.provider }
        let isReplacing = others.contains { $0.status != .pending }
        return try user.enrolling(confirmed, replacing: others, reason: isReplacing ? "totp, replaced" : "totp")
    }

    /// Deletes an app.
    func deletion(id: String) throws -> Writes {
        guard let enrollment = confirmed.first(where: { $0.id == id }) else {
            throw Refusal(.invalidGrant, "There is no such authenticator app.", reason: "totp: unknown enrolment")
        }
        var writes = Writes([enrollment.removal])
        writes.log("user.mfa.factor.deactivate", .success, reason: "totp", userID: enrollment.userID)
        return writes
    }
}

extension AuthenticationContext {
    /// Whether all of it was proved just now: a second factor that a session remembers, with a password typed since, is what somebody has
    /// who stole the password and found the browser open.
    fileprivate func isFresh(at now: Date) -> Bool {
        now.timeIntervalSince(earliestTime ?? time) <= Enrollment.freshness
    }
}

extension Refusal {
    fileprivate static let staleSignIn = Refusal(
        .accessDenied, "The sign-in is longer ago than \(Int(Enrollment.freshness / 60)) minutes. Sign in again.",
        reason: "factor: sign-in is too old")
    fileprivate static let unknownPerson = Refusal(
        .accessDenied, "The account cannot be changed. Sign in again.", reason: "factor: no active account")
}
