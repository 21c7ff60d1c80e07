package import Foundation
internal import JOSE

/// A secret for an authenticator app that was not confirmed yet.
package struct TOTPEnrollmentOffer: Sendable {
    /// The enrolment's id, to confirm it by.
    package let id: String
    /// The secret in Base32, for who types it.
    package let secret: String
    /// The `otpauth` URI that apps read from a QR code.
    package let uri: String
    /// When it can no longer be confirmed.
    package let expiresAt: Date

    /// Describes a secret.
    ///
    /// Algorithm, digits and period are the apps' defaults, and named all the same. Issuer and account stand in the label, parted by a
    /// colon, so the issuer can have none.
    package init(id: String, secret: [UInt8], issuer: String, account: String, expiresAt: Date) {
        self.id = id
        self.secret = Base32.encode(secret)
        self.expiresAt = expiresAt
        let issuer = Self.encoded(issuer.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " "))
        uri =
            "otpauth://totp/\(issuer):\(Self.encoded(account))?secret=\(self.secret)&issuer=\(issuer)&algorithm=SHA1"
            + "&digits=\(TimeBasedCode.digits)&period=\(Int(TimeBasedCode.period))"
    }

    /// Everything but the unreserved characters of RFC 3986: apps differ in what else they read.
    private static func encoded(_ text: String) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension TOTPEnrollmentOffer: Redacted {
    /// The enrolment's id; never the secret.
    package var description: String { "TOTPEnrollmentOffer(\(id))" }
}

/// What people and consoles see of an authenticator app.
package struct TOTPEnrollmentSummary: Sendable, Equatable {
    /// The enrolment's id.
    package let id: String
    /// When it was confirmed.
    package let createdAt: Date
}

extension Engine {
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
