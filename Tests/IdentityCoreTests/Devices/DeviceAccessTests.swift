import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore
@testable import Store

@Suite("Authorization of device API requests")
struct DeviceAccessTests {
    @Test(
        "Each device API scope permits only the requests that Devices.md §1.2 lists for the scope",
        arguments: [
            (DeviceFixture.manage, [true, true, true, true, true]), (DeviceFixture.read, [true, false, false, false, false]),
            (DeviceFixture.maintenanceManage, [true, false, true, false, false]),
            (DeviceFixture.maintenanceRead, [true, false, false, false, false]), ("openid", [false, false, false, false, false]),
        ])
    func scopes(scope: String, expected: [Bool]) async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone(userVerification: true)
        let token = DeviceAuthorization.bearer(try await fixture.accessToken([scope], methods: ["pwd", "swk", "mfa"]))
        let newKey = try Phone.jwk(.generate(.es256, keyID: "new"))
        let codes = [
            try await fixture.configuration(token).code,
            try await fixture.enroll(Phone(userID: phone.userID).enrollment(), token, at: 2).code,
            try await fixture.update(phone, ["pushToken": "aa"], token).code,
            try await fixture.update(phone, ["keys": ["userVerification": newKey]], token).code,
            try await fixture.delete(phone, token).code,
        ]
        #expect(codes.map { $0 == nil } == expected)
        #expect(codes.allSatisfy { $0 == nil || $0 == "E0000006" })
    }

    @Test("The authenticator metadata endpoint rejects a missing token, an invalid token and a token of another kind with 401")
    func noToken() async throws {
        let fixture = try await DeviceFixture()
        let tokens = try await fixture.organization.signIn("openid offline_access", client: "phone-app", server: nil).get()
        for authorization in [
            DeviceAuthorization.none, .bearer("x"), .bearer(tokens.idToken ?? ""), .bearer(tokens.refreshToken ?? ""), .ssws("x"),
            .ssws(tokens.accessToken),
        ] {
            let refused = try await fixture.configuration(authorization)
            #expect(refused.code == "E0000011" && refused.status == 401)
        }
    }

    @Test("The device API accepts only tokens of the org authorization server")
    func otherServer() async throws {
        let fixture = try await DeviceFixture()
        let token = try await fixture.accessToken(server: "default")
        #expect(try await fixture.configuration(.bearer(token)).code == "E0000011")
    }

    @Test("The device API rejects an expired token, a revoked token, and a token that was issued before a password change")
    func deadTokens() async throws {
        let fixture = try await DeviceFixture()
        let token = try await fixture.accessToken()
        #expect(try await fixture.configuration(.bearer(token), at: 3_599).code == nil)
        #expect(try await fixture.configuration(.bearer(token), at: 3_600).code == "E0000011")
        let revoked = try await fixture.accessToken()
        try await fixture.organization.revoke(revoked, client: "phone-app", server: nil)
        #expect(try await fixture.configuration(.bearer(revoked)).code == "E0000011")
        _ = try await fixture.engine.setPassword(
            userID: try await fixture.userID(), to: "Another-Horse-8", context: DeviceFixture.context(1))
        let closed = try await fixture.configuration(.bearer(token), at: 2)
        #expect(closed.code == "E0000011" && closed.why == "access token: user.password_changed")
    }

    @Test("The device API rejects a client's own access token, which has no user")
    func clientsToken() async throws {
        let fixture = try await DeviceFixture()
        let snapshot = try await fixture.engine.snapshot()
        let grant = Grant(
            id: "gra00000000000000000", clientID: "phone-app", server: nil, userID: nil, scopes: DeviceFixture.allScopes,
            grantType: "client_credentials", rule: "test", createdAt: TestOrganization.start, accessTokenLifetime: 3_600,
            expiresAt: TestOrganization.time(3_600))
        #expect(try await fixture.organization.store.commit([.put(grant.record)]) == .committed)
        let issuer = TokenIssuer(
            snapshot: snapshot, server: try #require(snapshot.server(nil)), application: try #require(snapshot.application("phone-app")),
            random: fixture.engine.environment.random, now: TestOrganization.start)
        let token = try issuer.response(for: grant, user: nil, scopes: grant.scopes, refreshToken: nil).accessToken
        #expect(try await fixture.configuration(.bearer(token)).code == "E0000006")
    }

    @Test(
        "A device of a suspended or deactivated account gets the error codes of Devices.md §2.12"
    )
    func accounts() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let token = try await fixture.strongToken(at: 1)
        let id = phone.userID
        for (status, code, number) in [(User.Status.suspended, "E0000155", 423), (.deactivated, "E0000156", 410)] {
            _ = try await fixture.engine.setStatus(userID: id, to: status, context: DeviceFixture.context(2))
            for authorization in [token, .ssws(try phone.authorization(at: 3).signed())] {
                let refused = try await fixture.update(phone, ["pushToken": "aa"], authorization, at: 3)
                #expect(refused.code == code && refused.status == number)
            }
            let assertion = try phone.assertion(at: 3).signed()
            #expect(try await fixture.maintenanceToken(assertion, at: 3).refused == .invalidGrant)
        }
    }

    @Test("Changing or deleting another user's enrollment is rejected with the error of an unknown enrollment, E0000007")
    func othersEnrollment() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let johns = try await fixture.strongToken(of: DeviceFixture.john)
        let others = try await fixture.update(phone, ["pushToken": "aa"], johns)
        #expect(others.code == "E0000007" && others.status == 404)
        #expect(try await fixture.delete(phone, johns).code == "E0000007")
        var nobodys = phone
        for id in ["pfd00000000000000000", "", String(repeating: "x", count: 5_000)] {
            nobodys.enrollmentID = id
            #expect(try await fixture.delete(nobodys, fixture.strongToken()).code == "E0000007")
        }
        #expect(try await fixture.stored(phone).push?.pushToken == "00ff12")
    }

    @Test("The server logs a rejected device API request if its token identifies a user, and otherwise does not")
    func log() async throws {
        let fixture = try await DeviceFixture()
        let token = try await fixture.accessToken(["openid"])
        let before = try await fixture.organization.log().count
        #expect(try await fixture.configuration(.bearer("x")).code == "E0000011")
        #expect(try await fixture.organization.log().count == before)
        #expect(try await fixture.configuration(.bearer(token)).code == "E0000006")
        let line = try #require(try await fixture.organization.log().last)
        #expect(line.type == "device.authenticator.read" && line.outcome == .denied && line.reason == "E0000006: scope is missing")
        #expect(line.userID != nil && line.clientID == "phone-app")
    }

    @Test("Neither the system log nor the description of a device authorization contains a token or a key")
    func nothingSecret() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let token = try phone.authorization().signed()
        #expect(try await fixture.update(phone, ["pushToken": "abcdef0123"], .ssws(token)).code == nil)
        _ = try await fixture.update(phone, ["id": "x"], fixture.strongToken())
        let lines = try await fixture.organization.log().map { "\($0)" }.joined()
        #expect(!lines.contains("abcdef0123") && !lines.contains("eyJ") && !lines.contains(phone.possessionKey.keyID ?? "-"))
        for authorization in [DeviceAuthorization.bearer(token), .ssws(token)] {
            var dumped = ""
            dump(authorization, to: &dumped)
            #expect(!dumped.contains(token) && !"\(authorization)".contains(token))
        }
    }

    // MARK: - Signed by the device

    @Test(
        "With an authorization signed by its own key, a device can read the authenticator metadata, and change and delete its own enrollment"
    )
    func signed() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        func ssws() throws -> DeviceAuthorization { .ssws(try phone.authorization().signed()) }
        #expect(try await fixture.configuration(ssws(), at: 2).code == nil)
        #expect(try await fixture.update(phone, ["pushToken": "aa"], ssws()).code == nil)
        #expect(try await fixture.stored(phone).push?.pushToken == "aa")
        #expect(try await fixture.delete(phone, ssws()).code == nil)
        #expect(try await fixture.enrollments().isEmpty)
    }

    @Test("A device-signed authorization cannot enroll a phone, register a key, or change or delete another enrollment")
    func signedIsNotEnough() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone(userVerification: true)
        let other = try await fixture.enrolledPhone()
        func ssws(_ key: SigningKey? = nil) throws -> DeviceAuthorization { .ssws(try phone.authorization(with: key).signed()) }
        #expect(try await fixture.enroll(Phone(userID: phone.userID).enrollment(), ssws(), at: 2).why == "key: no interactive sign-in")
        let key = try Phone.jwk(.generate(.es256, keyID: "new"))
        #expect(try await fixture.update(phone, ["keys": ["userVerification": key]], ssws()).why == "key: no interactive sign-in")
        #expect(try await fixture.update(other, ["pushToken": "aa"], ssws()).code == "E0000006")
        #expect(try await fixture.delete(other, ssws()).code == "E0000006")
        // Only a signature of the user verification key itself removes that key.
        let removal: JSONValue = ["keys": ["userVerification": .null]]
        #expect(try await fixture.update(phone, removal, ssws()).why == "key: signed by another key")
        #expect(try await fixture.update(phone, removal, ssws(phone.verificationKey)).code == nil)
        #expect(try await fixture.stored(phone).push?.userVerification == nil)
    }

    @Test("A device-signed authorization with a wrong claim, header or signature is rejected with 401 E0000011", arguments: Twin.allCases)
    func signedTwins(twin: Twin) async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        let forged = try await fixture.configuration(.ssws(twin.token(for: phone.authorization())), at: 2)
        #expect(forged.code == "E0000011" && forged.status == 401)
        #expect(forged.why?.hasPrefix("signed authorization: ") == true)
        #expect(try await fixture.configuration(.ssws(phone.authorization().signed()), at: 2).code == nil)
    }

    @Test("A device-signed authorization must name its key in the header and in the claims, and is valid only once")
    func signedDetails() async throws {
        let fixture = try await DeviceFixture()
        let phone = try await fixture.enrolledPhone()
        for kid in [nil, "another"] as [JSONValue?] {
            let refused = try await fixture.configuration(.ssws(phone.authorization().with("kid", kid).signed()), at: 2)
            #expect(refused.why == "signed authorization: another key in its payload")
        }
        let token = try phone.authorization().signed()
        #expect(try await fixture.configuration(.ssws(token), at: 2).code == nil)
        #expect(try await fixture.configuration(.ssws(token), at: 2).why == "signed authorization: used")
        // A signature of the installation key, or an answer to a challenge, is no authorization.
        let instance = try await fixture.configuration(.ssws(phone.authorization(with: phone.instanceKey).signed()), at: 2)
        #expect(instance.why == "signed authorization: unknownKey")
    }

    // MARK: - Metadata

    @Test("The authenticator metadata is an array of one element with the members that the official client decodes")
    func metadata() async throws {
        let fixture = try await DeviceFixture()
        let answer = try await fixture.configuration(fixture.weakToken()).get()
        #expect(
            answer == [
                [
                    "authenticatorId": "autphone", "orgId": "00o0000000000000test", "key": "custom_app", "name": "Acme Push",
                    "settings": ["userVerification": "PREFERRED", "oauthClientId": "phone-app"],
                    "supportedMethods": [
                        [
                            "type": "push", "status": "ACTIVE",
                            "settings": [
                                "algorithms": ["ES256", "RS256"], "keyProtection": "ANY", "transactionTypes": ["LOGIN", "CIBA"],
                            ],
                        ]
                    ],
                    "appAuthenticatorEnrollEndpoint": "https://id.test/idp/myaccount/app-authenticators",
                ]
            ])
    }

    @Test(
        "The authenticator metadata is empty if the client has no authenticator or push is disabled, and a request without a client is rejected"
    )
    func noMetadata() async throws {
        let fixture = try await DeviceFixture()
        let token = try await fixture.weakToken()
        #expect(try await fixture.configuration(token, client: "other-phone-app").get() == [])
        #expect(try await fixture.configuration(token, client: "unknown").get() == [])
        #expect(try await fixture.configuration(token, client: nil).code == "E0000001")
        #expect(try await fixture.configuration(token, client: "").code == "E0000001")
        try await fixture.reconfigure { $0.authenticators[0].isActive = false }
        #expect(try await fixture.configuration(token).get() == [])
    }
}
