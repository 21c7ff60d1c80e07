internal import Foundation
internal import Store

/// The provider of an authenticator app in the classic API; a user can have one app of each provider.
package enum TOTPProvider: String, Sendable, Codable, CaseIterable {
    /// Any app that reads `otpauth` URIs.
    case google = "GOOGLE"
    /// The codes of the app that also receives pushes.
    case okta = "OKTA"
}

/// The stored state of an authenticator app.
package struct TOTPMethod: Sendable, Equatable, Codable {
    /// The shared secret, encrypted for its enrollment.
    var sealedSecret: [UInt8]
    /// The time step of the last consumed code; `nil` for none. Codes of this and of earlier steps are rejected (RFC 6238 section 5.2).
    var lastStep: Int64?
    /// The stored provider; `nil` for ``TOTPProvider/google``.
    private var vendor: TOTPProvider?

    var provider: TOTPProvider { vendor ?? .google }

    init(
        sealing secret: [UInt8], forEnrollment id: String, provider: TOTPProvider = .google, environment: EngineEnvironment
    ) throws {
        vendor = provider == .google ? nil : provider
        sealedSecret = try RecordCoding.seal(secret, for: RecordReference(.enrollment, id), environment: environment)
    }

    /// Decrypts the secret. Throws ``StoreError`` if it was sealed under another master key, or for another enrollment.
    package func secret(ofEnrollment id: String, environment: EngineEnvironment) throws -> [UInt8] {
        try RecordCoding.open(sealedSecret, for: RecordReference(.enrollment, id), masterKeys: environment.masterKeys)
    }
}

extension Enrollment {
    /// Returns the enrollment after a code was consumed; `nil` if the code is wrong or was used before.
    func using(code: String, environment: EngineEnvironment, now: Date) throws -> Enrollment? {
        guard let totp else { return nil }
        let secret = try totp.secret(ofEnrollment: id, environment: environment)
        guard let step = TimeBasedCode.step(ofTyped: code, secret: secret, now: now, after: totp.lastStep) else { return nil }
        var used = self
        used.totp?.lastStep = step
        return used
    }
}
