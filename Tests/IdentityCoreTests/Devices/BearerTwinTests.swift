import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore

/// The server accepts an access token only with a valid signature of its own (RFC 8725, sections 3.1 to 3.9; RFC 9068, section 4).
@Suite("Altered access tokens at the device endpoints")
struct BearerTwinTests {
    /// The respect in which a token differs from a valid one.
    enum Almost: CaseIterable, Sendable {
        case tampered, cut, signatureOfAnother, ofAStrangersKey, withUnknownKeyID, unsigned, withThePublicKeyAsSecret
        case forAnotherAudience, forSeveralAudiences, withoutAudience, ofAnotherIssuer, expired, withoutEnd, withoutID
        case ofAGrantThatNeverWas

        /// Returns the invalid token.
        ///
        /// - Parameters:
        ///   - good: A valid token.
        ///   - key: The key that signed the valid token.
        func token(from good: String, signedBy key: SigningKey) throws -> String {
            let parts = good.split(separator: ".")
            var draft = TokenDraft(
                key: key, header: ["typ": "application/okta-internal-at+jwt"],
                claims: try JSONWebSignature(parsing: good).unverifiedClaims().json)
            switch self {
            case .tampered:
                return "\(parts[0]).\(Base64URL.encode(draft.with("scp", ["x"]).claims.serialized())).\(parts[2])"
            case .cut: return String(good.dropLast(20))
            case .signatureOfAnother:
                let other = try draft.with("sub", "other").signed().split(separator: ".")
                return "\(parts[0]).\(parts[1]).\(other[2])"
            case .ofAStrangersKey:
                draft.key = try .generate(key.algorithm, keyID: key.keyID)
            case .withUnknownKeyID: draft.key = try .generate(key.algorithm, keyID: "another")
            case .unsigned:
                let header: JSONValue = ["alg": "none", "kid": .string(key.keyID ?? "")]
                return "\(Base64URL.encode(header.serialized())).\(parts[1])."
            case .withThePublicKeyAsSecret:
                draft.key = try .secret(key.publicKey?.json().serialized() ?? [], algorithm: .hs256, keyID: key.keyID)
            case .forAnotherAudience: draft.claims["aud"] = "api://default"
            case .forSeveralAudiences: draft.claims["aud"] = [draft.claims["aud"] ?? "", "api://default"]
            case .withoutAudience: draft.claims["aud"] = nil
            case .ofAnotherIssuer: draft.claims["iss"] = .string(TestOrganization.origin + "/oauth2/default")
            case .expired: draft.claims["exp"] = draft.claims["iat"]
            case .withoutEnd: draft.claims["exp"] = nil
            case .withoutID: draft.claims["jti"] = nil
            case .ofAGrantThatNeverWas:
                draft.claims["jti"] = .string("AT." + String(repeating: "x", count: 40))
            }
            return try draft.signed()
        }
    }

    @Test(
        "The device API rejects an altered access token with 401 E0000011 at every endpoint, without a log event",
        arguments: Almost.allCases)
    func refused(almost: Almost) async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let good = try await fixture.accessToken(methods: ["pwd", "swk", "mfa"])
        let snapshot = try await fixture.engine.snapshot()
        let keyID = try JSONWebSignature(parsing: good).keyID
        let key = try #require(snapshot.keyRing.lines.values.joined().first { $0.signer.keyID == keyID }?.signer)
        let token = DeviceAuthorization.bearer(try almost.token(from: good, signedBy: key))
        let before = try await fixture.organization.log().count
        let pending = try await fixture.engine.pendingChallenges(
            enrollmentID: phone.enrollmentID, authorization: token, context: DeviceFixture.context(2))
        let answers = [
            try await fixture.configuration(token, at: 2), try await fixture.enroll(Phone(userID: phone.userID).enrollment(), token, at: 2),
            try await fixture.update(phone, ["pushToken": "aa"], token), pending,
        ]
        for answer in answers { #expect(answer.code == "E0000011" && answer.status == 401) }
        let deleted = try await fixture.delete(phone, token)
        #expect(deleted.code == "E0000011" && deleted.status == 401)
        #expect(try await fixture.organization.log().count == before)
        #expect(try await fixture.stored(phone).push?.pushToken == "00ff12")
    }

    @Test("The device API accepts an access token that is signed again with the same key and claims")
    func unchanged() async throws {
        let fixture = try await DeviceFixture()
        let good = try await fixture.accessToken()
        let snapshot = try await fixture.engine.snapshot()
        let parsed = try JSONWebSignature(parsing: good)
        let key = try #require(snapshot.keyRing.lines.values.joined().first { $0.signer.keyID == parsed.keyID }?.signer)
        let again = try TokenDraft(
            key: key, header: ["typ": "application/okta-internal-at+jwt"], claims: parsed.unverifiedClaims().json
        ).signed()
        #expect(try await fixture.configuration(.bearer(again)).code == nil)
    }
}
