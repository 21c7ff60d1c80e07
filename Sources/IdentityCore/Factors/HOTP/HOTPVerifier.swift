internal import Foundation
internal import Store

/// Checks HOTP codes. It belongs to one read: the verdict contains the enrolment to write, with the code consumed, and the version that was
/// read. Of two concurrent uses of one code, the second conflicts, reads again and is rejected.
package struct HOTPVerifier: FactorVerifier {
    package let environment: EngineEnvironment
    package let enrollment: Enrollment

    package init(environment: EngineEnvironment, enrollment: Enrollment) {
        self.environment = environment
        self.enrollment = enrollment
    }

    package var kind: FactorKind { .hotp }
    package var factorClass: FactorClass { .possession }
    package var methods: [String] { ["otp"] }

    package func verify(_ response: FactorResponse, of user: User?, policy: PasswordPolicy) throws -> FactorVerdict {
        try judge(response, of: user).verdict
    }

    /// Returns the verdict and the classification of the code.
    package func judge(_ response: FactorResponse, of user: User?) throws -> (verdict: FactorVerdict, match: HOTPMethod.Match) {
        guard case .code(let code) = response, let hotp = enrollment.hotp, enrollment.userID == user?.id else { return (.failed, .wrong) }
        let secret = try RecordCoding.open(
            hotp.sealedSecret, for: RecordReference(.enrollment, enrollment.id), masterKey: environment.masterKey)
        let match = hotp.match(code, secret: secret)
        var next = enrollment
        // Adds the name of the seed to older records, so that the next owner of the device starts at its current counter.
        next.hotp?.seed = hotp.seed ?? DeviceCounters.name(ofSeed: secret, environment: environment)
        switch match {
        case .right(let counter):
            next.hotp?.counter = counter
            next.hotp?.aheadCounter = nil
            return (.proved(passwordHash: nil, enrollment: next), match)
        case .ahead(let counter):
            next.hotp?.aheadCounter = counter
            return (.wrong(next), match)
        case .used, .wrong: return (.failed, match)
        }
    }
}
