internal import Foundation
internal import Store

/// Checks HOTP codes. A verifier belongs to one read: its verdict contains the enrollment to write, with the consumed code and the version
/// that was read. Of two concurrent uses of one code, the second conflicts, reads again and is rejected.
package struct HOTPVerifier: FactorVerifier {
    package let environment: EngineEnvironment
    package let enrollment: Enrollment
    package let derivedKeys: DerivedKeys

    package init(environment: EngineEnvironment, enrollment: Enrollment, derivedKeys: DerivedKeys) {
        self.environment = environment
        self.enrollment = enrollment
        self.derivedKeys = derivedKeys
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
            hotp.sealedSecret, for: RecordReference(.enrollment, enrollment.id), masterKeys: environment.masterKeys)
        let match = hotp.match(code, secret: secret)
        var next = enrollment
        // Adds the name of the seed to older records, so that the next owner of the device starts at its current counter.
        next.hotp?.seed = hotp.seed ?? derivedKeys.name(ofSeed: secret)
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
