internal import Foundation

/// Setting up an authenticator app: a secret that is shown once, and a code that shows that the app has it.
extension IdentityEngine {
    /// Seconds in which a secret can be confirmed.
    static let totpEnrollmentLifetime: TimeInterval = 600
    /// Secrets that can wait to be confirmed: pages that were opened again, and nobody's way to fill the store.
    static let mostPendingTOTPEnrollments = 5

    /// Begins to enrol an authenticator app. Nothing that the person has is replaced before it is confirmed.
    ///
    /// - Parameters:
    ///   - authentication: What the person just proved, at most 15 minutes ago; two factors, if they have a second one that is usable or
    ///     suspended.
    ///   - provider: Whose app it is.
    ///   - context: The request.
    /// - Returns: The secret, to be shown once; or `access_denied` with a sentence that says how to sign in.
    /// - Throws: ``StoreError`` if the store failed.
    public func beginTOTPEnrollment(
        _ authentication: AuthenticationContext, provider: TOTPProvider = .google, context: RequestContext
    ) async throws -> Result<TOTPEnrollmentOffer, Refusal> {
        guard authentication.isFresh(at: context.now) else {
            return .failure(.staleSignIn)
        }
        for _ in 0..<Self.attempts {
            let found = try await store.read { [self] view in
                try TOTPHolder(authentication, snapshot: snapshot(view), view: view, now: context.now)
            }
            guard let holder = found else { return .failure(.unknownPerson) }
            if let refusal = holder.refusal { return .failure(refusal) }
            let secret = try environment.random.bytes(TimeBasedCode.secretLength)
            var enrollment = Enrollment(
                id: try environment.random.identifier(prefix: "enr"), userID: holder.user.value.id, factor: .totp, status: .pending,
                createdAt: context.now)
            enrollment.totp = try TOTPMethod(
                sealing: secret, forEnrollment: enrollment.id, provider: provider, environment: environment)
            let expiresAt = context.now.addingTimeInterval(Self.totpEnrollmentLifetime)
            enrollment.pendingUntil = expiresAt
            let crowded = holder.pending.sorted { $0.createdAt > $1.createdAt }.dropFirst(Self.mostPendingTOTPEnrollments - 1)
            let changes =
                crowded.map(\.removal) + [
                    .put(try enrollment.record()),
                    try logEntry("user.mfa.factor.begin", .success, reason: "totp", userID: enrollment.userID, context: context),
                ]
            if try await store.commit(changes) == .committed {
                return .success(
                    TOTPEnrollmentOffer(
                        id: enrollment.id, secret: secret, issuer: holder.organizationName, account: holder.user.value.login,
                        expiresAt: expiresAt))
            }
        }
        throw StoreError(.unavailable, "The enrolments changed on every attempt to write them. Try again.")
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
    public func confirmTOTPEnrollment(
        id: String, code: String, _ authentication: AuthenticationContext, context: RequestContext
    ) async throws -> Result<Void, Refusal> {
        for _ in 0..<Self.attempts {
            let plan = try await store.read { [self] view in
                try totpConfirmation(id: id, code: code, authentication, view: view, context: context)
            }
            switch plan {
            case .failure(let refusal): return .failure(refusal)
            case .success(let changes): if try await store.commit(changes) == .committed { return .success(()) }
            }
        }
        throw StoreError(.unavailable, "The enrolments changed on every attempt to write them. Try again.")
    }

    /// What confirming writes; for use inside `store.read`, and in a commit with what else the confirmation brings about.
    func totpConfirmation(
        id: String, code: String, _ authentication: AuthenticationContext, view: any StoreView, context: RequestContext
    ) throws -> Result<[Change], Refusal> {
        guard let holder = try TOTPHolder(authentication, snapshot: snapshot(view), view: view, now: context.now) else {
            return .failure(.unknownPerson)
        }
        if let refusal = holder.refusal { return .failure(refusal) }
        guard let pending = holder.pending.first(where: { $0.id == id }), let until = pending.pendingUntil, context.now < until else {
            return .failure(
                Refusal(
                    .invalidGrant, "The code came too late. Begin to set up the authenticator app again.", reason: "totp: nothing pending"))
        }
        guard var confirmed = try pending.using(code: code, environment: environment, now: context.now) else {
            return .failure(
                Refusal(
                    .invalidGrant, "The code is wrong. Enter the one that the app shows now; the phone's clock must be right.",
                    reason: "totp: wrong code at enrolment"))
        }
        confirmed.status = .active
        confirmed.pendingUntil = nil
        confirmed.updatedAt = context.now
        let others = (holder.confirmed + holder.pending).filter { $0.id != id && $0.totp?.provider == confirmed.totp?.provider }
        let isReplacing = others.contains { $0.status != .pending }
        return .success(
            try others.map(\.removal) + [
                .put(confirmed.record()),
                // Rewritten unchanged, so that two concurrent enrolments cause a version conflict.
                holder.user.renewing(.totp),
                logEntry(
                    "user.mfa.factor.activate", .success, reason: isReplacing ? "totp, replaced" : "totp",
                    userID: holder.user.value.id, context: context),
            ])
    }

    /// Deletes a person's authenticator app.
    ///
    /// - Parameters:
    ///   - id: The enrolment.
    ///   - authentication: What the person just proved, at most 15 minutes ago: two factors, since they have a second one.
    ///   - context: The request.
    /// - Returns: Nothing; or `access_denied`, or `invalid_grant` if there is no such app of theirs.
    /// - Throws: ``StoreError`` if the store failed.
    public func deleteTOTPEnrollment(
        id: String, _ authentication: AuthenticationContext, context: RequestContext
    ) async throws -> Result<Void, Refusal> {
        guard authentication.isFresh(at: context.now) else {
            return .failure(.staleSignIn)
        }
        for _ in 0..<Self.attempts {
            let found = try await store.read { [self] view in
                try TOTPHolder(authentication, snapshot: snapshot(view), view: view, now: context.now)
            }
            guard let holder = found else { return .failure(.unknownPerson) }
            if let refusal = holder.refusal { return .failure(refusal) }
            guard let enrollment = holder.confirmed.first(where: { $0.id == id }) else {
                return .failure(Refusal(.invalidGrant, "There is no such authenticator app.", reason: "totp: unknown enrolment"))
            }
            let log = try logEntry("user.mfa.factor.deactivate", .success, reason: "totp", userID: enrollment.userID, context: context)
            if try await store.commit([enrollment.removal, log]) == .committed { return .success(()) }
        }
        throw StoreError(.unavailable, "The enrolments changed on every attempt to write them. Try again.")
    }

    /// A person's authenticator apps: none, or one.
    ///
    /// - Parameter userID: The person.
    /// - Returns: Those that are confirmed.
    /// - Throws: ``StoreError`` if the store failed.
    public func totpEnrollments(ofUser userID: String) async throws -> [TOTPEnrollmentSummary] {
        try await store.read { view in
            try view.records(.enrollment, where: "user", is: userID, limit: 200).map(Enrollment.init)
                .filter { $0.factor == .totp && $0.status == .active }
                .map { TOTPEnrollmentSummary(id: $0.id, createdAt: $0.createdAt) }
        }
    }
}

/// A person who sets up an authenticator app, as one view of the store has them.
private struct TOTPHolder: Sendable {
    let user: StoredUser
    let organizationName: String
    /// The app that they have.
    let confirmed: [Enrollment]
    /// Secrets that were shown to them.
    let pending: [Enrollment]
    /// Why they may not; nil if they may.
    let refusal: Refusal?

    init?(_ authentication: AuthenticationContext, snapshot: OrgSnapshot, view: any StoreView, now: Date) throws {
        guard let record = try view.record(.user, id: authentication.userID) else { return nil }
        user = try StoredUser(record)
        organizationName = snapshot.organization.name
        let directory = DeviceDirectory(snapshot: snapshot, view: view, now: now)
        let own = try directory.enrollments(ofUser: authentication.userID).filter { $0.factor == .totp }
        confirmed = own.filter { $0.status == .active || $0.status == .suspended }
        pending = own.filter { $0.status == .pending }
        // As for phones: a password that was stolen must never do it.
        let factors = try EnrollmentPermission.factors(ofUser: authentication.userID, directory)
        if user.value.status != .active {
            refusal = .unknownPerson
        } else if !factors.isEmpty && !authentication.methods.contains("mfa") {
            refusal = Refusal(
                .accessDenied, "Another factor is enrolled for this account. Sign in again with it, then try once more.",
                reason: "second factor is not proved")
        } else {
            refusal = nil
        }
    }
}

extension AuthenticationContext {
    /// Whether all of it was proved just now: a second factor that a session remembers, with a password typed since, is what somebody has
    /// who stole the password and found the browser open.
    fileprivate func isFresh(at now: Date) -> Bool {
        now.timeIntervalSince(earliestTime ?? time) <= EnrollmentPermission.freshness
    }
}

extension Refusal {
    fileprivate static let staleSignIn = Refusal(
        .accessDenied, "The sign-in is longer ago than \(Int(EnrollmentPermission.freshness / 60)) minutes. Sign in again.",
        reason: "factor: sign-in is too old")
    fileprivate static let unknownPerson = Refusal(
        .accessDenied, "The account cannot be changed. Sign in again.", reason: "factor: no active account")
}
