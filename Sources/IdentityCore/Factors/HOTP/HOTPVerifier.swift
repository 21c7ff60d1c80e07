internal import Foundation
internal import Store

/// Checks codes that follow a counter.
///
/// Made for one reading of the store: the verdict names the enrolment as it must be written, with the code used up, in the version
/// that was read. Of two who use one code at the same moment the second meets another version, reads again, and is refused.
package struct HOTPVerifier: FactorVerifier {
    package let environment: EngineEnvironment
    /// The person's device.
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

    /// The verdict, and what the code was.
    package func judge(_ response: FactorResponse, of user: User?) throws -> (verdict: FactorVerdict, match: HOTPMethod.Match) {
        guard case .code(let code) = response, let hotp = enrollment.hotp, enrollment.userID == user?.id else { return (.failed, .wrong) }
        let secret = try RecordCoding.open(
            hotp.sealedSecret, for: RecordReference(.enrollment, enrollment.id), masterKey: environment.masterKey)
        let match = hotp.match(code, secret: secret)
        var next = enrollment
        // What came from before seeds had names gets one: whoever is given the device next begins where it stands.
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
