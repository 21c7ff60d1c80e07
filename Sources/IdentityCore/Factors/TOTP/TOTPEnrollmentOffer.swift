package import Foundation
internal import JOSE

/// An unconfirmed secret for an authenticator app.
package struct TOTPEnrollmentOffer: Sendable {
    package let id: String
    /// The secret in Base32, for manual entry.
    package let secret: String
    /// The `otpauth` URI for the QR code.
    package let uri: String
    /// The time when the secret expires unless it is confirmed.
    package let expiresAt: Date

    /// Creates an offer with its URI. The URI states algorithm, digits and period, although they are the apps' defaults. A colon separates
    /// issuer and account in the URI, so the issuer's own colons are removed.
    package init(id: String, secret: [UInt8], issuer: String, account: String, expiresAt: Date) {
        self.id = id
        self.secret = Base32.encode(secret)
        self.expiresAt = expiresAt
        let issuer = Self.encoded(issuer.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " "))
        uri =
            "otpauth://totp/\(issuer):\(Self.encoded(account))?secret=\(self.secret)&issuer=\(issuer)&algorithm=SHA1"
            + "&digits=\(TimeBasedCode.digits)&period=\(Int(TimeBasedCode.period))"
    }

    /// Percent-encodes everything except the unreserved characters of RFC 3986, because apps parse other characters differently.
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
    /// Contains the enrollment's id, not the secret.
    package var description: String { "TOTPEnrollmentOffer(\(id))" }
}

/// An authenticator app as shown to users and administrators.
package struct TOTPEnrollmentSummary: Sendable, Equatable {
    package let id: String
    /// The time when the enrollment was started.
    package let createdAt: Date
}

extension Engine {
    /// Gives a user an authenticator app without verification, in place of an earlier app; for tests and the sandbox. Returns the app's
    /// secret; `nil` if there is no such user.
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
    /// Creates an authenticator app that needs no confirmation.
    init(authenticatorApp secret: [UInt8], of userID: String, environment: EngineEnvironment, now: Date) throws {
        let id = try environment.random.identifier(prefix: "enr")
        let method = try TOTPMethod(sealing: secret, forEnrollment: id, environment: environment)
        self.init(id: id, userID: userID, method: .totp(method), status: .active, createdAt: now)
    }
}
