public import Foundation
public import JOSE

/// A secret for an authenticator app that was not confirmed yet.
public struct TOTPEnrollmentOffer: Sendable {
    /// The enrolment's id, to confirm it by.
    public let id: String
    /// The secret in Base32, for who types it.
    public let secret: String
    /// The `otpauth` URI that apps read from a QR code.
    public let uri: String
    /// When it can no longer be confirmed.
    public let expiresAt: Date

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
    public var description: String { "TOTPEnrollmentOffer(\(id))" }
}

/// What people and consoles see of an authenticator app.
public struct TOTPEnrollmentSummary: Sendable, Equatable {
    /// The enrolment's id.
    public let id: String
    /// When it was confirmed.
    public let createdAt: Date
}
