internal import Foundation
internal import Store

/// Whose an authenticator app is, as the classic API tells them apart; a person can have one of each.
package enum TOTPProvider: String, Sendable, Codable, CaseIterable {
    /// Any app that reads `otpauth` addresses.
    case google = "GOOGLE"
    /// The codes of the app that takes pushes too.
    case okta = "OKTA"
}

/// What the server keeps of an authenticator app.
package struct TOTPMethod: Sendable, Equatable, Codable {
    /// The shared secret, sealed for its enrolment.
    var sealedSecret: [UInt8]
    /// The step of the last code that was used: neither that nor an earlier one is accepted again (RFC 6238 section 5.2).
    var lastStep: Int64?
    /// Nil for any app.
    private var vendor: TOTPProvider?

    /// Whose app it is.
    var provider: TOTPProvider { vendor ?? .google }

    /// Seals a secret for an enrolment.
    init(
        sealing secret: [UInt8], forEnrollment id: String, provider: TOTPProvider = .google, environment: EngineEnvironment
    ) throws {
        vendor = provider == .google ? nil : provider
        sealedSecret = try RecordCoding.seal(secret, for: RecordReference(.enrollment, id), environment: environment)
    }

    /// The secret.
    /// - Throws: ``StoreError`` if it was sealed under another master key, or for another enrolment.
    package func secret(ofEnrollment id: String, environment: EngineEnvironment) throws -> [UInt8] {
        try RecordCoding.open(sealedSecret, for: RecordReference(.enrollment, id), masterKey: environment.masterKey)
    }
}

extension Enrollment {
    /// The enrolment as it is once a code was used; nil if the code is wrong, or was used before.
    func using(code: String, environment: EngineEnvironment, now: Date) throws -> Enrollment? {
        guard let totp else { return nil }
        let secret = try totp.secret(ofEnrollment: id, environment: environment)
        guard let step = TimeBasedCode.step(ofTyped: code, secret: secret, now: now, after: totp.lastStep) else { return nil }
        var used = self
        used.totp?.lastStep = step
        return used
    }
}
