package import Foundation
package import Store

/// Enrolls authenticator apps: the secret is shown once, and a code of the app confirms it.
extension Engine {
    /// Starts to enroll an authenticator app. Existing factors stay until the confirmation. The authentication must be at most 15 minutes
    /// old. If the user has an active or suspended second factor, the authentication must have two factors. Returns the secret, to be shown
    /// once; or `access_denied` with a sentence that says how to sign in.
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

    /// Confirms an authenticator app by its current code, which is consumed. The app replaces the user's earlier app of the same provider.
    /// Fails with `invalid_grant` if the code is wrong, which can be retried, or if the enrollment is unknown or has expired. Fails with
    /// `access_denied` if a required second factor was not proved, or the account is not active.
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

    /// Deletes the user's authenticator app. The authentication must be at most 15 minutes old and have two factors. Fails with
    /// `access_denied`, or with `invalid_grant` if the user has no such app.
    package func deleteTOTPEnrollment(
        id: String, _ authentication: AuthenticationContext, context: RequestContext
    ) async throws -> Result<Void, Refusal> {
        try await transact(context, refusing: Refusal.self) { [self] reading in
            try AuthenticatorAppSetup(authentication, reading.view, reading.snapshot, environment, now: context.now)
        } decide: { setup in
            Plan(.success(()), try setup.deletion(id: id))
        }
    }

    /// Returns the user's confirmed authenticator apps.
    package func totpEnrollments(ofUser userID: String) async throws -> [TOTPEnrollmentSummary] {
        try await store.read { view in
            try view.enrollments(of: userID)
                .filter { $0.factor == .totp && $0.status == .active }
                .map { TOTPEnrollmentSummary(id: $0.id, createdAt: $0.createdAt) }
        }
    }
}

/// A user who enrolls an authenticator app, from one read.
package struct AuthenticatorAppSetup: Sendable {
    /// Seconds for which a new secret can be confirmed.
    static let lifetime: TimeInterval = 600
    /// The maximum number of unconfirmed secrets of a user. Each start creates one.
    static let mostPending = 5

    private let user: StoredUser
    private let organizationName: String
    private let confirmed: [Enrollment]
    private let pending: [Enrollment]
    private let environment: EngineEnvironment
    private let now: Date

    /// Reads the user's apps. `isBegun` says whether the enrollment was started before; only the start requires a recent sign-in. Throws
    /// ``Refusal`` if the user may not enroll an app.
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
        // A stolen password alone must not suffice.
        guard try directory.factors(among: own).isEmpty || authentication.methods.contains("mfa") else {
            throw Refusal(
                .accessDenied, "Another factor is enrolled for this account. Sign in again with it, then try again.",
                reason: "second factor is not proved")
        }
        (self.user, self.environment, self.now) = (user, environment, now)
        organizationName = snapshot.organization.name
        confirmed = own.filter { $0.factor == .totp && $0.isHeld }
        pending = own.filter { $0.factor == .totp && $0.status == .pending }
    }

    package func offer(of provider: TOTPProvider) throws -> (TOTPEnrollmentOffer, Writes) {
        let secret = try environment.random.bytes(TimeBasedCode.secretLength)
        let expiresAt = now.addingTimeInterval(Self.lifetime)
        let id = try environment.random.identifier(prefix: "enr")
        let method = try TOTPMethod(sealing: secret, forEnrollment: id, provider: provider, environment: environment)
        var enrollment = Enrollment(id: id, userID: user.value.id, method: .totp(method), status: .pending, createdAt: now)
        enrollment.pendingUntil = expiresAt
        let crowded = pending.sorted { $0.createdAt > $1.createdAt }.dropFirst(Self.mostPending - 1)
        var writes = Writes(crowded.map(\.removal) + [.put(try enrollment.record())])
        writes.log("user.mfa.factor.begin", .success, reason: "totp", userID: user.value.id)
        let offer = TOTPEnrollmentOffer(
            id: enrollment.id, secret: secret, issuer: organizationName, account: user.value.login, expiresAt: expiresAt)
        return (offer, writes)
    }

    /// Returns the writes that confirm an app by a code. The app replaces the user's earlier app of the same provider.
    package func confirmation(id: String, code: String) throws -> Writes {
        guard let pending = pending.first(where: { $0.id == id }), let until = pending.pendingUntil, now < until else {
            throw Refusal(
                .invalidGrant, "The code came too late. Begin to set up the authenticator app again.", reason: "totp: nothing pending")
        }
        guard var confirmed = try pending.using(code: code, environment: environment, now: now) else {
            throw Refusal(
                .invalidGrant, "The code is wrong. Enter the one that the app shows now; the phone's clock must be right.",
                reason: "totp: wrong code at enrollment")
        }
        confirmed.status = .active
        confirmed.pendingUntil = nil
        confirmed.updatedAt = now
        let others = (self.confirmed + self.pending).filter { $0.id != id && $0.totp?.provider == confirmed.totp?.provider }
        let isReplacing = others.contains { $0.status != .pending }
        return try user.enrolling(confirmed, replacing: others, reason: isReplacing ? "totp, replaced" : "totp")
    }

    func deletion(id: String) throws -> Writes {
        guard let enrollment = confirmed.first(where: { $0.id == id }) else {
            throw Refusal(.invalidGrant, "There is no such authenticator app.", reason: "totp: unknown enrollment")
        }
        var writes = Writes([enrollment.removal])
        writes.log("user.mfa.factor.deactivate", .success, reason: "totp", userID: enrollment.userID)
        return writes
    }
}

extension AuthenticationContext {
    /// Whether all factors were proved recently. A recent password with an older second factor of a session is not enough: an attacker with
    /// the password may have found the browser open.
    fileprivate func isFresh(at now: Date) -> Bool {
        Enrollment.isFresh(earliestTime ?? time, at: now)
    }
}

extension Refusal {
    fileprivate static let staleSignIn = Refusal(
        .accessDenied, "The sign-in is longer ago than \(Int(Enrollment.freshness / 60)) minutes. Sign in again.",
        reason: "factor: sign-in is too old")
    fileprivate static let unknownPerson = Refusal(
        .accessDenied, "The account cannot be changed. Sign in again.", reason: "factor: no active account")
}
