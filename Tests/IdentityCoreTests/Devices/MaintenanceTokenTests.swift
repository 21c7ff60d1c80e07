import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import Store

@Suite("Maintenance tokens")
struct MaintenanceTokenTests {
    @Test("A maintenance grant returns an access token, but no refresh token and no ID token")
    func token() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let answer = try await fixture.maintenanceToken(phone.assertion().signed()).get()
        #expect(answer.refreshToken == nil && answer.idToken == nil && answer.tokenType == "Bearer")
        #expect(answer.expiresIn == 3_600 && answer.scopes == [DeviceFixture.maintenanceManage])
        let claims = try claims(of: answer.accessToken)
        #expect(claims["iss"] == "https://id.test" && claims["aud"] == "https://id.test" && claims["cid"] == "phone-app")
        #expect(claims["uid"] == .string(phone.userID) && claims["sub"] == "jane.doe@example.com")
        #expect(claims["scp"] == [.string(DeviceFixture.maintenanceManage)] && claims["auth_time"] == nil)
        let line = try #require(try await fixture.organization.log().last)
        #expect(
            line.outcome == .success && line.userID == phone.userID && line.reason == "upkeep of a device; enrollment \(phone.enrollmentID)"
        )
        #expect(try await fixture.configuration(.bearer(answer.accessToken), at: 3).code == nil)
    }

    @Test(
        "A maintenance grant is issued only for one or both of the two maintenance scopes",
        arguments: [
            ("\(DeviceFixture.maintenanceManage) \(DeviceFixture.maintenanceRead)", nil), (DeviceFixture.maintenanceRead, nil),
            (DeviceFixture.manage, .invalidScope), ("\(DeviceFixture.maintenanceRead) openid", .invalidScope),
            ("\(DeviceFixture.maintenanceRead) offline_access", .invalidScope), (nil, .invalidScope), ("okta.users.read", .invalidScope),
        ] as [(String?, Refusal.Code?)])
    func scopes(scope: String?, refusal: Refusal.Code?) async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        #expect(try await fixture.maintenanceToken(phone.assertion().signed(), scope: scope).refused == refusal)
    }

    @Test("A maintenance assertion with a wrong claim, header or signature is rejected", arguments: Twin.allCases)
    func twins(twin: Twin) async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let forged = try await fixture.maintenanceToken(twin.token(for: phone.assertion()))
        #expect(forged.refused == .invalidGrant && forged.reason?.hasPrefix("assertion") == true)
        #expect(try await fixture.maintenanceToken(phone.assertion().signed()).refused == nil)
    }

    @Test("A maintenance assertion is valid once, even in concurrent requests")
    func replay() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let assertion = try phone.assertion().signed()
        let results = try await withThrowingTaskGroup(of: Refusal.Code?.self) { group in
            for _ in 0..<8 { group.addTask { try await fixture.maintenanceToken(assertion).refused } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == nil }.count == 1 && results.filter { $0 == .invalidGrant }.count == 7)
        let replayed = try await fixture.maintenanceToken(assertion)
        #expect(replayed.refused == .invalidGrant && replayed.reason == "assertion: used")
        #expect(try await fixture.organization.log().last?.reason == "assertion: used")
    }

    @Test("A maintenance assertion that is signed with the user verification key or the instance key is rejected")
    func otherKeys() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone(userVerification: true)
        for key in [phone.verificationKey, phone.instanceKey] {
            var draft = phone.assertion()
            draft.key = key
            #expect(try await fixture.maintenanceToken(draft.signed()).reason == "assertion: unknownKey")
        }
    }

    @Test("A maintenance assertion is accepted without typ, with an empty typ, and with a trailing slash in the audience")
    func tolerance() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        for type in [nil, "", "JWT"] as [JSONValue?] {
            var draft = phone.assertion()
            draft.header["typ"] = type
            #expect(try await fixture.maintenanceToken(draft.signed()).refused == nil)
        }
        #expect(try await fixture.maintenanceToken(phone.assertion().with("aud", "https://id.test/").signed()).refused == nil)
    }

    @Test("A maintenance assertion is rejected unless it contains the method id of its own enrollment")
    func method() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        for id in [nil, "opf00000000000000000", .string(phone.enrollmentID)] as [JSONValue?] {
            #expect(try await fixture.maintenanceToken(phone.assertion().with("methodEnrollmentId", id).signed()).refused == .invalidGrant)
        }
        let other = try await fixture.enrolledPhone()
        let crossed = try await fixture.maintenanceToken(
            phone.assertion().with("methodEnrollmentId", .string(other.methodID)).signed())
        #expect(crossed.reason == "assertion: unknownKey")
    }

    @Test("A maintenance grant is rejected for another client or without the grant type, and a rejected assertion is not consumed")
    func client() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let other = try await fixture.maintenanceToken(phone.assertion().signed(), client: "other-phone-app")
        #expect(other.refused == .invalidGrant && other.reason == "assertion: the client is not the authenticator's")
        #expect(try await fixture.maintenanceToken(phone.assertion().signed(), client: "password-app").refused == .unauthorizedClient)
        // A refused assertion is not consumed.
        let assertion = try phone.assertion().signed()
        #expect(try await fixture.maintenanceToken(assertion, client: "other-phone-app").refused == .invalidGrant)
        #expect(try await fixture.maintenanceToken(assertion).refused == nil)
    }

    @Test("A maintenance assertion is rejected at a custom authorization server, with an unknown issuer, or if push is disabled")
    func elsewhere() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        #expect(try await fixture.maintenanceToken(phone.assertion().signed(), server: "default").refused == .invalidGrant)
        #expect(try await fixture.maintenanceToken("x").refused == .invalidGrant)
        #expect(try await fixture.maintenanceToken("").refused == .invalidRequest)
        #expect(
            try await fixture.maintenanceToken(phone.assertion().with("iss", "https://elsewhere.test").signed()).reason
                == "assertion.issuer")
        try await fixture.reconfigure { $0.authenticators[0].isActive = false }
        #expect(try await fixture.maintenanceToken(phone.assertion().signed()).reason == "assertion: the authenticator is off")
    }

    @Test("After an enrollment is deleted, its maintenance token and its new maintenance assertions are rejected")
    func dies() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let token = try await fixture.maintenanceToken(phone.assertion().signed()).get().accessToken
        #expect(try await fixture.delete(phone, fixture.strongToken()).code == nil)
        #expect(try await fixture.update(phone, ["pushToken": "aa"], .bearer(token), at: 3).code == "E0000154")
        let assertion = try await fixture.maintenanceToken(phone.assertion(at: 3).signed(), at: 3)
        #expect(assertion.refused == .invalidGrant && assertion.reason == "assertion: no such push method")
    }

    @Test("A token of a maintenance grant in the older record format is accepted for its own enrollment only")
    func olderGrant() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let other = try await fixture.enrolledPhone()
        let token = DeviceAuthorization.bearer(try await fixture.maintenanceToken(phone.assertion().signed()).get().accessToken)
        let store = fixture.organization.store
        let record = try #require(
            try await store.read { try $0.records(.grant, after: nil, limit: 100) }.first { try Grant($0).enrollmentID != nil })
        var json = try JSONValue(parsing: record.payload)
        #expect(json["enrollment"] == .string(phone.enrollmentID) && json["rule"]?.stringValue?.contains(phone.enrollmentID) == false)
        json["enrollment"] = nil
        json["rule"] = .string("enrollment/\(phone.enrollmentID)")
        var older = record
        older.payload = json.serialized()
        #expect(try await store.commit([.put(older)]) == .committed)
        #expect(try await fixture.update(phone, ["pushToken": "aa"], token, at: 3).code == nil)
        let refused = try await fixture.update(other, ["pushToken": "aa"], token, at: 3)
        #expect(refused.code == "E0000006" && refused.why == "token of another enrollment")
        // In a grant of another server, type or scope, the rule is the name of a policy rule and not an enrollment.
        for (name, value) in [("server", "default"), ("type", "password")] as [(String, JSONValue)] {
            json[name] = value
            older.payload = json.serialized()
            #expect(try Grant(older).enrollmentID == nil)
            json[name] = name == "server" ? nil : .string(GrantType.jwtBearer)
        }
        json["scopes"] = ["openid"]
        older.payload = json.serialized()
        #expect(try Grant(older).enrollmentID == nil)
    }
}
