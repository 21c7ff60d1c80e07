import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore

@Suite("Changes of a device enrollment")
struct ChangingEnrollmentsTests {
    private static func key(_ id: String = "new") throws -> JSONValue { try Phone.jwk(.generate(.es256, keyID: id)) }

    @Test(
        "A request with a maintenance token changes the push token, which is stored in lower case, and the response contains the enrollment"
    )
    func pushToken() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let token = try await fixture.maintenanceToken(phone.assertion().signed()).get().accessToken
        let answer = try await fixture.update(phone, ["pushToken": "00AB"], .bearer(token), at: 3).get()
        #expect(answer["id"] == .string(phone.enrollmentID) && answer["methods"]?["push"]?["id"] == .string(phone.methodID))
        #expect(answer["lastUpdated"] == "2023-11-14T22:13:23.250Z" && answer["createdDate"] == "2023-11-14T22:13:21.250Z")
        #expect(answer["methods"]?["push"]?["links"]?["pending"]?["href"] != nil)
        #expect(try await fixture.stored(phone).push?.pushToken == "00ab")
        let line = try #require(try await fixture.organization.log().last)
        #expect(line.type == "device.enrollment.update" && line.reason == "\(phone.enrollmentID): pushToken")
    }

    @Test("A patch leaves absent members of the enrollment unchanged, and an empty patch writes nothing")
    func absent() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone(userVerification: true)
        let before = try await fixture.stored(phone)
        let lines = try await fixture.organization.log().count
        for patch in [[:], ["methods": ["push": [:]]], ["methods": ["push": ["keys": [:], "capabilities": [:]]]]] as [JSONValue] {
            let answer = try await fixture.engine.updateDeviceEnrollment(
                id: phone.enrollmentID, patch: patch, authorization: fixture.strongToken(), context: DeviceFixture.context(2))
            #expect(answer.code == nil)
        }
        #expect(try await fixture.stored(phone) == before)
        #expect(try await fixture.organization.log().count == lines)
    }

    @Test("A patch of an enrollment can turn CIBA on and off, and can turn number challenges on")
    func capabilities() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let token = try await fixture.weakToken()
        #expect(try await fixture.update(phone, ["capabilities": ["transactionTypes": ["LOGIN", "CIBA"]]], token).code == nil)
        #expect(try await fixture.stored(phone).push?.transactionTypes == [.login, .ciba])
        #expect(try await fixture.update(phone, ["capabilities": ["numberChallenge": true]], token).code == nil)
        let method = try #require(try await fixture.stored(phone).push)
        #expect(method.answersNumbers && method.transactionTypes == [.login, .ciba])
        #expect(try await fixture.update(phone, ["capabilities": ["transactionTypes": ["LOGIN"]]], token).code == nil)
        let withoutCIBA = try #require(try await fixture.stored(phone).push)
        #expect(withoutCIBA.answersNumbers && withoutCIBA.transactionTypes == [.login])
        #expect(try await fixture.update(phone, ["capabilities": ["numberChallenge": false]], token).code == nil)
        let plain = try #require(try await fixture.stored(phone).push)
        #expect(!plain.answersNumbers && plain.transactionTypes == [.login])
    }

    @Test("A user verification key can be registered, sent again without effect, replaced and removed")
    func userVerification() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let token = try await fixture.strongToken()
        let key = try Self.key()
        #expect(try await fixture.update(phone, ["keys": ["userVerification": key]], token).code == nil)
        #expect(try await fixture.stored(phone).push?.key(id: "new")?.role == .userVerification)
        // The registered key needs no fresh sign-in, because the request registers nothing new.
        #expect(try await fixture.update(phone, ["keys": ["userVerification": key]], token, at: 1_000).code == nil)
        #expect(try await fixture.update(phone, ["keys": ["userVerification": Self.key("next")]], token).code == nil)
        let method = try #require(try await fixture.stored(phone).push)
        #expect(method.key(id: "new") == nil && method.key(id: "next")?.role == .userVerification)
        #expect(try await fixture.update(phone, ["keys": ["userVerification": .null]], token).code == nil)
        #expect(try await fixture.stored(phone).push?.userVerification == nil)
        #expect(try await fixture.organization.log().contains { $0.reason == "\(phone.enrollmentID): userVerification removed" })
        #expect(try await fixture.update(phone, ["keys": ["userVerification": .null]], token).code == nil)
    }

    @Test("A patch with a push token and a key is applied completely, or not at all if the key is rejected")
    func combined() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let patch: JSONValue = ["pushToken": "bb", "keys": ["userVerification": try Self.key()]]
        #expect(try await fixture.update(phone, patch, fixture.weakToken()).code == "E0000006")
        #expect(try await fixture.stored(phone).push?.pushToken == "00ff12")
        #expect(try await fixture.update(phone, patch, fixture.strongToken()).code == nil)
        let method = try #require(try await fixture.stored(phone).push)
        #expect(method.pushToken == "bb" && method.userVerification != nil)
    }

    @Test("A user verification key that the authenticator requires cannot be removed")
    func required() async throws {
        let fixture = try await DeviceFixture { $0.authenticators[0].userVerification = .required }
        let phone = try await fixture.enrolledPhone(userVerification: true)
        let refused = try await fixture.update(phone, ["keys": ["userVerification": .null]], fixture.strongToken())
        #expect(refused.code == "E0000158" && refused.status == 400)
        #expect(try await fixture.stored(phone).push?.userVerification != nil)
    }

    // MARK: - Authorization

    @Test("A maintenance token cannot register or remove a key, change another enrollment, or delete its own enrollment")
    func maintenance() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone(userVerification: true)
        let other = try await fixture.enrolledPhone()
        let scope = "\(DeviceFixture.maintenanceManage) \(DeviceFixture.maintenanceRead)"
        let token = DeviceAuthorization.bearer(
            try await fixture.maintenanceToken(phone.assertion().signed(), scope: scope).get().accessToken)
        for key in [try Self.key(), .null] {
            let refused = try await fixture.update(phone, ["keys": ["userVerification": key]], token)
            #expect(refused.code == "E0000006" && refused.status == 403)
        }
        let foreign = try await fixture.update(other, ["pushToken": "aa"], token)
        #expect(foreign.code == "E0000006" && foreign.why == "token of another enrollment")
        #expect(try await fixture.delete(phone, token).code == "E0000006")
        #expect(try await fixture.stored(other).push?.pushToken == "00ff12")
    }

    @Test("Registering a user verification key requires a recent sign-in with a second factor")
    func strength() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let patch: JSONValue = ["keys": ["userVerification": try Self.key()]]
        #expect(try await fixture.update(phone, patch, fixture.weakToken()).why == "second factor is not proved")
        #expect(try await fixture.update(phone, patch, fixture.strongToken(), at: 901).why == "key: sign-in is too old")
        let foreign = try await fixture.accessToken(client: "other-phone-app", methods: ["pwd", "mfa"])
        #expect(try await fixture.update(phone, patch, .bearer(foreign)).code == "E0000007")
        #expect(try await fixture.stored(phone).push?.userVerification == nil)
        #expect(try await fixture.update(phone, patch, fixture.strongToken()).code == nil)
        // A sign-in with a password alone does not permit the removal either.
        #expect(try await fixture.update(phone, ["keys": ["userVerification": .null]], fixture.weakToken()).code == "E0000006")
    }

    @Test(
        "The one-factor sign-in that enrolled the first phone can register and remove the phone's user verification key and delete the enrollment"
    )
    func sameSignIn() async throws {
        let fixture = try await DeviceFixture()
        let token = try await fixture.weakToken()
        let phone = try await fixture.enrolledPhone(by: token)
        #expect(try await fixture.update(phone, ["keys": ["userVerification": Self.key()]], token).code == nil)
        #expect(try await fixture.update(phone, ["keys": ["userVerification": .null]], token).code == nil)
        #expect(try await fixture.delete(phone, token).code == nil)
    }

    // MARK: - Refused

    struct Flaw: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let patch: JSONValue
        var code = "E0000001"
    }

    @Test(
        "A patch of an enrollment with an unknown, read-only or malformed member is rejected, and nothing changes",
        arguments: [
            Flaw(testDescription: "no object", patch: [], code: "E0000003"),
            Flaw(testDescription: "the status", patch: ["status": "ACTIVE"]),
            Flaw(testDescription: "the user", patch: ["user": ["id": "00u1"]]),
            Flaw(testDescription: "another method", patch: ["methods": ["totp": [:], "push": [:]]]),
            Flaw(testDescription: "methods removed", patch: ["methods": .null]),
            Flaw(testDescription: "push removed", patch: ["methods": ["push": .null]]),
            Flaw(testDescription: "the method's id", patch: ["methods": ["push": ["id": "opf1"]]]),
            Flaw(testDescription: "the environment", patch: ["methods": ["push": ["apsEnvironment": "production"]]]),
            Flaw(testDescription: "proof of possession", patch: ["methods": ["push": ["keys": ["proofOfPossession": [:]]]]]),
            Flaw(testDescription: "a key that is none", patch: ["methods": ["push": ["keys": ["userVerification": ["kty": "EC"]]]]]),
            Flaw(testDescription: "keys removed", patch: ["methods": ["push": ["keys": .null]]]),
            Flaw(testDescription: "token removed", patch: ["methods": ["push": ["pushToken": .null]]]),
            Flaw(testDescription: "no transaction types", patch: ["methods": ["push": ["capabilities": ["transactionTypes": []]]]]),
            Flaw(testDescription: "another capability", patch: ["methods": ["push": ["capabilities": ["fax": true]]]]),
        ])
    func flaws(flaw: Flaw) async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let before = try await fixture.stored(phone)
        let refused = try await fixture.engine.updateDeviceEnrollment(
            id: phone.enrollmentID, patch: flaw.patch, authorization: fixture.strongToken(), context: DeviceFixture.context(2))
        #expect(refused.code == flaw.code && refused.status == 400)
        #expect(try await fixture.stored(phone) == before)
    }

    @Test("A user verification key is rejected if its ID is that of another enrolled key, or if the phone uses the key in another role")
    func sameKeys() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone(userVerification: true)
        let token = try await fixture.strongToken()
        var possession = Phone.jwk(phone.possessionKey)
        possession["kid"] = "another"
        var instance = Phone.jwk(phone.instanceKey)
        instance["kid"] = "another"
        let sameID = try Self.key(phone.verificationKey.keyID ?? "")
        let possessionsID = try Self.key(phone.possessionKey.keyID ?? "")
        for key in [possession, instance, sameID, possessionsID] {
            #expect(try await fixture.update(phone, ["keys": ["userVerification": key]], token).code == "E0000001")
        }
        #expect(try await fixture.stored(phone).push?.key(id: phone.verificationKey.keyID ?? "") != nil)
    }

    @Test("If push is disabled, an enrollment can still change its push token, but cannot register a key")
    func pushOff() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        try await fixture.reconfigure { $0.authenticators[0].isActive = false }
        let token = try await fixture.strongToken()
        #expect(try await fixture.update(phone, ["keys": ["userVerification": Self.key()]], token).code == "E0000007")
        #expect(try await fixture.update(phone, ["pushToken": "cc"], token).code == nil)
    }
}
