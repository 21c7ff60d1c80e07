package import Foundation

/// Checks codes of authenticator apps. A verifier belongs to one read: its verdict contains the enrollment to write, with the consumed code
/// and the version that was read. Of two concurrent uses of one code, the second conflicts, reads again and is rejected.
package struct TOTPVerifier: FactorVerifier {
    package let environment: EngineEnvironment
    /// The user's usable enrollments; those of other factors are ignored.
    package let enrollments: [Enrollment]
    package let now: Date
    /// The enrollments against which the code is checked if the user has no app, so that the check takes the same time. If empty, one is
    /// generated. A match is always rejected.
    package var decoyApps: [Enrollment] = []

    package init(environment: EngineEnvironment, enrollments: [Enrollment], now: Date, decoyApps: [Enrollment] = []) {
        (self.environment, self.enrollments, self.now, self.decoyApps) = (environment, enrollments, now, decoyApps)
    }

    package var kind: FactorKind { .totp }
    package var factorClass: FactorClass { .possession }
    package var methods: [String] { ["otp"] }

    package func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) throws -> FactorVerdict {
        guard case .code(let code) = response else { return .failed }
        let own = enrollments.filter { $0.totp != nil && $0.userID == user?.id }
        guard !own.isEmpty else {
            // Does the same work as for a user with an app, so that the time does not reveal whether the user has one.
            for app in decoyApps { _ = try app.using(code: code, environment: environment, now: now) }
            guard decoyApps.isEmpty else { return .failed }
            let decoy = try TOTPMethod(sealing: [UInt8](repeating: 0, count: 20), forEnrollment: "", environment: environment)
            let secret = try decoy.secret(ofEnrollment: "", environment: environment)
            _ = TimeBasedCode.step(ofTyped: code, secret: secret, now: now, after: nil)
            return .failed
        }
        var used: Enrollment?
        for enrollment in own {
            let candidate = try enrollment.using(code: code, environment: environment, now: now)
            used = used ?? candidate
        }
        return used.map { .proved(passwordHash: nil, enrollment: $0) } ?? .failed
    }
}
