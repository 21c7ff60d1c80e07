internal import Foundation

extension IdentityEngine {
    /// Gives a user an authenticator app without the ceremony that sets it up: for tests and the sandbox. It takes the place of the one
    /// that they had.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - context: The request.
    /// - Returns: What the app has, which needs no confirmation; nil if there is no such user.
    /// - Throws: ``StoreError`` if the store failed.
    package func grantAuthenticatorApp(userID: String, context: RequestContext) async throws -> TOTPEnrollmentOffer? {
        for _ in 0..<Self.attempts {
            let found = try await store.read { [self] view -> (StoredUser, String, [Enrollment])? in
                guard let user = try user(id: userID, in: view) else { return nil }
                let name = try snapshot(view).organization.name
                return (user, name, try view.records(.enrollment, where: "user", is: userID, limit: 200).map(Enrollment.init))
            }
            guard let (user, organization, enrollments) = found else { return nil }
            let secret = try environment.random.bytes(TimeBasedCode.secretLength)
            let enrollment = try Enrollment(authenticatorApp: secret, of: userID, environment: environment, now: context.now)
            let changes: [Change] =
                try enrollments.filter { $0.totp?.provider == .google }.map { .remove(.enrollment, id: $0.id, version: $0.version) } + [
                    .put(enrollment.record()), user.renewing(.totp),
                    logEntry("user.mfa.factor.activate", .success, reason: "totp", userID: userID, context: context),
                ]
            if try await store.commit(changes) == .committed {
                return TOTPEnrollmentOffer(
                    id: enrollment.id, secret: secret, issuer: organization, account: user.value.login, expiresAt: .distantFuture)
            }
        }
        throw StoreError(.unavailable, "The user \(userID) changed on every attempt to write them. Try again.")
    }
}

extension Enrollment {
    /// An authenticator app that nobody has to confirm.
    init(authenticatorApp secret: [UInt8], of userID: String, environment: EngineEnvironment, now: Date) throws {
        self.init(
            id: try environment.random.identifier(prefix: "enr"), userID: userID, factor: .totp, status: .active, createdAt: now)
        totp = try TOTPMethod(sealing: secret, forEnrollment: id, environment: environment)
    }
}
