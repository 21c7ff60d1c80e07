import Foundation
import JOSE
import TestSupport

/// A token that differs from a valid one in one respect, so that the server must refuse it.
enum Twin: String, CaseIterable, Sendable {
    case expired, notYetValid, issuedInTheFuture, livesTooLong, withoutEnd, withoutStart, withoutIssueTime, withoutID, emptyID
    case forAnotherAudience, forSeveralAudiences, withoutAudience, ofAnotherIssuer, aboutSomebodyElse, withoutSubject
    case ofAnotherType, ofAChallengeType, withUnknownKeyID, withoutKeyID, ofAStrangersKey, withThePublicKeyAsSecret, unsigned, tampered, cut

    /// Returns the invalid token that is made from a valid draft.
    func token(for draft: TokenDraft) throws -> String {
        var draft = draft
        func time(_ name: String) -> Int64 { draft.claims[name]?.integerValue ?? 0 }
        switch self {
        case .expired:
            for name in ["exp", "iat", "nbf"] { draft.claims[name] = .integer(time(name) - 361) }
        case .notYetValid: draft.claims["nbf"] = .integer(time("iat") + 62)
        case .issuedInTheFuture: draft.claims["iat"] = .integer(time("iat") + 62)
        case .livesTooLong: draft.claims["exp"] = .integer(time("iat") + 601)
        case .withoutEnd: draft.claims["exp"] = nil
        case .withoutStart: draft.claims["nbf"] = nil
        case .withoutIssueTime: draft.claims["iat"] = nil
        case .withoutID: draft.claims["jti"] = nil
        case .emptyID: draft.claims["jti"] = ""
        case .forAnotherAudience: draft.claims["aud"] = "https://elsewhere.test"
        case .forSeveralAudiences: draft.claims["aud"] = [draft.claims["aud"] ?? "", "https://elsewhere.test"]
        case .withoutAudience: draft.claims["aud"] = nil
        case .ofAnotherIssuer: draft.claims["iss"] = "pfd00000000000000000"
        case .aboutSomebodyElse: draft.claims["sub"] = "00u00000000000000000"
        case .withoutSubject: draft.claims["sub"] = nil
        case .ofAnotherType: draft.header["typ"] = "okta-devicebind+jwt"
        case .ofAChallengeType: draft.header["typ"] = draft.header["typ"] == "okta-pushbind+jwt" ? "JWT" : "okta-pushbind+jwt"
        case .withUnknownKeyID: draft.key = try Self.key(of: draft.key, named: "another")
        case .withoutKeyID: draft.key = try Self.key(of: draft.key, named: nil)
        case .ofAStrangersKey: draft.key = try .generate(.es256, keyID: draft.key.keyID)
        case .withThePublicKeyAsSecret:
            let secret = draft.key.publicKey?.json().serialized() ?? []
            draft.key = try .secret(secret, algorithm: .hs256, keyID: draft.key.keyID)
        case .unsigned:
            let header: JSONValue = ["alg": "none", "typ": draft.header["typ"] ?? "", "kid": .string(draft.key.keyID ?? "")]
            return Base64URL.encode(header.serialized()) + "." + Base64URL.encode(draft.claims.serialized()) + "."
        case .tampered:
            let parts = try draft.signed().split(separator: ".")
            let other = Base64URL.encode(draft.with("jti", "another").claims.serialized())
            return "\(parts[0]).\(other).\(parts[2])"
        case .cut: return String(try draft.signed().dropLast(20))
        }
        return try draft.signed()
    }

    private static func key(of key: SigningKey, named name: String?) throws -> SigningKey {
        try SigningKey(pem: key.privatePEM ?? "", algorithm: key.algorithm, keyID: name)
    }
}
