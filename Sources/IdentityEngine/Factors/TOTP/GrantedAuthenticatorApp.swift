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
        let secret = try environment.random.bytes(TimeBasedCode.secretLength)
        let enrollment = try Enrollment(authenticatorApp: secret, of: userID, environment: environment, now: context.now)
        return try await grantFactor(userID: userID, context: context) { user, own in
            try user.enrolling(enrollment, replacing: own.filter { $0.totp?.provider == .google }, reason: "totp")
        }.map { user, organization in
            TOTPEnrollmentOffer(
                id: enrollment.id, secret: secret, issuer: organization, account: user.login, expiresAt: .distantFuture)
        }
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
