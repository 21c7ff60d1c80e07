import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore

@Suite("Enrolling a device")
struct EnrollingDevicesTests {
    @Test("An enrollment response has every member that the official client decodes")
    func enrolls() async throws {
        let fixture = try await DeviceFixture()
        var phone = try Phone(userID: try await fixture.userID())
        let answer = try await fixture.enroll(phone.enrollment(), fixture.weakToken()).get()
        try phone.remember(answer)
        #expect(phone.enrollmentID.hasPrefix("pfd") && phone.methodID.hasPrefix("opf"))
        #expect(phone.deviceID.hasPrefix("guo") && phone.clientInstanceID.hasPrefix("cli"))
        let own = "https://id.test/idp/myaccount/app-authenticators/\(phone.enrollmentID)"
        #expect(
            answer == [
                "id": .string(phone.enrollmentID), "authenticatorId": "autphone",
                "createdDate": "2023-11-14T22:13:21.250Z", "lastUpdated": "2023-11-14T22:13:21.250Z",
                "user": ["id": .string(phone.userID), "username": "jane.doe@example.com"],
                "device": ["id": .string(phone.deviceID), "status": "ACTIVE", "clientInstanceId": .string(phone.clientInstanceID)],
                "methods": [
                    "push": [
                        "id": .string(phone.methodID),
                        "links": ["pending": ["href": .string(own + "/push/notifications"), "hints": ["allow": ["GET"]]]],
                    ]
                ],
                "links": ["self": ["href": .string(own), "hints": ["allow": ["PATCH", "DELETE"]]]],
            ])
        let stored = try await fixture.stored(phone)
        let method = try #require(stored.push)
        #expect(stored.status == .active && stored.factor == .push)
        #expect(method.pushToken == "00ff12" && method.environment == .development && method.transactionTypes == [.login])
        #expect(!method.answersNumbers && method.userVerification == nil)
        #expect(method.key(id: phone.possessionKey.keyID ?? "")?.role == .proofOfPossession)
        let device = try await fixture.storedDevice(phone)
        #expect(device.profile["displayName"] == "Ada's phone" && device.profile["secureHardwarePresent"] == "true")
        #expect(device.profile["somethingNew"] == nil)
        let line = try #require(try await fixture.organization.log().last)
        #expect(line.type == "device.enrollment.create" && line.outcome == .success && line.clientID == "phone-app")
        #expect(line.reason == "\(phone.enrollmentID) on \(phone.deviceID), new device")
    }

    @Test("An enrollment stores the capabilities, the user verification key and the push environment from the request")
    func capabilities() async throws {
        let fixture = try await DeviceFixture()
        var phone = try Phone(userID: try await fixture.userID())
        var body = phone.enrollment(userVerification: true)
        var push = try #require(body["methods"]?["push"])
        push["capabilities"] = ["transactionTypes": ["LOGIN", "CIBA"], "numberChallenge": true]
        push["apsEnvironment"] = "PRODUCTION"
        push["pushToken"] = ""
        body["methods"] = ["push": push]
        try phone.remember(await fixture.enroll(body, fixture.weakToken()).get())
        let method = try #require(try await fixture.stored(phone).push)
        #expect(method.transactionTypes == [.login, .ciba] && method.answersNumbers && method.environment == .production)
        #expect(method.pushToken.isEmpty)
        #expect(method.key(id: phone.verificationKey.keyID ?? "")?.role == .userVerification)
        let summary = try #require(try await fixture.enrollments().first)
        #expect(summary.authenticatorName == "Acme Push" && summary.deviceName == "Ada's phone" && summary.status == "active")
        #expect(summary.hasUserVerification && summary.answersCIBA && summary.id == phone.enrollmentID)
    }

    @Test("An enrollment request with null as the user verification key stores no such key")
    func nullKey() async throws {
        let fixture = try await DeviceFixture()
        var phone = try Phone(userID: try await fixture.userID())
        var body = phone.enrollment()
        body["methods"] = ["push": try push(of: body, key: "userVerification", .null)]
        try phone.remember(await fixture.enroll(body, fixture.weakToken()).get())
        #expect(try await fixture.stored(phone).push?.userVerification == nil)
    }

    @Test("An RSA key can be enrolled, and its signatures are checked with RS256 only")
    func rsaKey() async throws {
        let fixture = try await DeviceFixture()
        var phone = try Phone(userID: try await fixture.userID())
        let pem = try #require(TestOrganization.key(.rs256).privatePEM)
        phone.possessionKey = try SigningKey(pem: pem, algorithm: .rs256, keyID: "rsa")
        try phone.remember(await fixture.enroll(phone.enrollment(), fixture.weakToken()).get())
        #expect(try await fixture.maintenanceToken(phone.assertion().signed()).refused == nil)
        phone.possessionKey = try SigningKey(pem: pem, algorithm: .rs384, keyID: "rsa")
        #expect(try await fixture.maintenanceToken(phone.assertion().signed()).refused == .invalidGrant)
    }

    // MARK: - Repeated enrollment

    @Test("Enrolling the same user and device again keeps the enrollment id and replaces the keys and the push method")
    func replaces() async throws {
        let fixture = try await DeviceFixture()
        let first = try await fixture.enrolledPhone()
        var second = try first.again()
        let answer = try await fixture.enroll(
            second.enrollment(attestation: first.attestation().signed()), fixture.weakToken(at: 1), at: 2
        ).get()
        try second.remember(answer)
        #expect(second.enrollmentID == first.enrollmentID && second.deviceID == first.deviceID && second.methodID != first.methodID)
        #expect(answer["createdDate"] == "2023-11-14T22:13:21.250Z" && answer["lastUpdated"] == "2023-11-14T22:13:22.250Z")
        let method = try #require(try await fixture.stored(second).push)
        #expect(method.key(id: first.possessionKey.keyID ?? "") == nil && method.key(id: second.possessionKey.keyID ?? "") != nil)
        #expect(try await fixture.enrollments().count == 1)
        #expect(try await fixture.organization.log().last?.reason == "\(first.enrollmentID) on \(first.deviceID), replaced")
        // The old key is no longer accepted.
        #expect(try await fixture.maintenanceToken(first.assertion(at: 3).signed(), at: 3).refused == .invalidGrant)
        #expect(try await fixture.maintenanceToken(second.assertion(at: 3).signed(), at: 3).refused == nil)
    }

    @Test("A second user who enrolls on the same phone gets a separate enrollment on the same device")
    func secondPerson() async throws {
        let fixture = try await DeviceFixture()
        let janes = try await fixture.enrolledPhone()
        var johns = try janes.again(for: try await fixture.userID(DeviceFixture.john))
        try johns.remember(
            await fixture.enroll(
                johns.enrollment(attestation: janes.attestation().signed()), fixture.weakToken(of: DeviceFixture.john), at: 2
            ).get())
        #expect(johns.deviceID == janes.deviceID && johns.clientInstanceID == janes.clientInstanceID)
        #expect(johns.enrollmentID != janes.enrollmentID)
        #expect(try await fixture.enrollments().count == 1)
        #expect(try await fixture.enrollments(of: DeviceFixture.john).count == 1)
    }

    @Test("A device attestation with a wrong claim, header or signature is rejected", arguments: Twin.allCases)
    func attestationTwins(twin: Twin) async throws {
        let fixture = try await DeviceFixture()
        let first = try await fixture.enrolledPhone()
        let second = try first.again()
        let forged = try await fixture.enroll(
            second.enrollment(attestation: twin.token(for: first.attestation())), fixture.strongToken(at: 1), at: 2)
        #expect(forged.code == "E0000011" && forged.status == 401)
        #expect(forged.why?.hasPrefix("attestation: ") == true)
        let good = try await fixture.enroll(
            second.enrollment(attestation: first.attestation().signed()), fixture.strongToken(at: 1), at: 2)
        #expect(good.code == nil)
    }

    @Test("A device attestation is valid only once")
    func attestationReplay() async throws {
        let fixture = try await DeviceFixture()
        let first = try await fixture.enrolledPhone()
        let attestation = try first.attestation().signed()
        #expect(try await fixture.enroll(first.again().enrollment(attestation: attestation), fixture.strongToken(), at: 2).code == nil)
        let replayed = try await fixture.enroll(first.again().enrollment(attestation: attestation), fixture.strongToken(), at: 3)
        #expect(replayed.code == "E0000011" && replayed.why == "attestation: used")
    }

    @Test("Of eight concurrent enrollments with the same device attestation, exactly one succeeds")
    func attestationRace() async throws {
        let fixture = try await DeviceFixture()
        let first = try await fixture.enrolledPhone()
        let attestation = try first.attestation().signed()
        let token = try await fixture.strongToken()
        let codes = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<8 {
                let body = try first.again().enrollment(attestation: attestation)
                group.addTask { try await fixture.enroll(body, token, at: 2).code }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.filter { $0 == nil }.count == 1 && codes.filter { $0 == "E0000011" }.count == 7)
    }

    @Test(
        "Enrolling an existing device is rejected with E0000011 if the device id or instance id is wrong, or if the attestation is missing")
    func unknownDevice() async throws {
        let fixture = try await DeviceFixture()
        let first = try await fixture.enrolledPhone()
        let token = try await fixture.strongToken()
        var stranger = try first.again()
        stranger.deviceID = "guo00000000000000000"
        #expect(
            try await fixture.enroll(stranger.enrollment(attestation: stranger.attestation().signed()), token, at: 2).code == "E0000011")
        var other = try first.again()
        other.clientInstanceID = "cli00000000000000000"
        #expect(try await fixture.enroll(other.enrollment(attestation: other.attestation().signed()), token, at: 2).code == "E0000011")
        var renamed = try first.again().enrollment(attestation: first.attestation().signed())
        try setDevice(&renamed, "clientInstanceId", "cli00000000000000000")
        #expect(try await fixture.enroll(renamed, token, at: 2).why == "attestation: no such device")
        for member in ["deviceAttestation", "clientInstanceId"] {
            var body = try first.again().enrollment(attestation: first.attestation().signed())
            var device = try #require(body["device"])
            device[member] = nil
            body["device"] = device
            #expect(try await fixture.enroll(body, token, at: 2).code == "E0000011")
        }
    }

    // MARK: - Refused

    @Test("Enrolling with an authenticator that is unknown, inactive or of another client is rejected with E0000007")
    func authenticator() async throws {
        let fixture = try await DeviceFixture()
        let phone = try Phone(userID: try await fixture.userID())
        let token = try await fixture.weakToken()
        #expect(try await fixture.enroll(phone.enrollment(authenticator: "autother"), token).code == "E0000007")
        let foreign = DeviceAuthorization.bearer(try await fixture.accessToken(client: "other-phone-app"))
        #expect(try await fixture.enroll(phone.enrollment(), foreign).code == "E0000007")
        try await fixture.reconfigure { $0.authenticators[0].isActive = false }
        let off = try await fixture.enroll(phone.enrollment(), token)
        #expect(off.code == "E0000007" && off.status == 404)
        #expect(try await fixture.enrollments().isEmpty)
        let line = try #require(try await fixture.organization.log().last)
        #expect(line.type == "device.enrollment.create" && line.outcome == .denied && line.reason?.hasPrefix("E0000007: ") == true)
    }

    @Test("If user verification is required, an enrollment without a user verification key is rejected")
    func userVerificationRequired() async throws {
        let fixture = try await DeviceFixture { $0.authenticators[0].userVerification = .required }
        var phone = try Phone(userID: try await fixture.userID())
        let refused = try await fixture.enroll(phone.enrollment(), fixture.weakToken())
        #expect(refused.code == "E0000158" && refused.status == 400)
        #expect(try await fixture.enrollments().isEmpty)
        try phone.remember(await fixture.enroll(phone.enrollment(userVerification: true), fixture.weakToken()).get())
    }

    @Test("A user's 21st device enrollment is rejected, but one of the 20 enrollments can be renewed")
    func limit() async throws {
        let fixture = try await DeviceFixture()
        var phones: [Phone] = []
        for index in 0..<20 { phones.append(try await fixture.enrolledPhone(at: Double(index))) }
        let token = try await fixture.strongToken(at: 21)
        let refused = try await fixture.enroll(Phone(userID: phones[0].userID).enrollment(), token, at: 22)
        #expect(refused.code == "E0000001" && refused.why?.contains("20 enrollments") == true)
        let again = try await fixture.enroll(
            phones[7].again().enrollment(attestation: phones[7].attestation(at: 22).signed()), token, at: 22)
        #expect(again.code == nil)
        #expect(try await fixture.enrollments().count == 20)
    }

    struct Flaw: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var code = "E0000001"
        let change: @Sendable (inout JSONValue) throws -> Void
    }

    @Test(
        "An enrollment request with a missing or malformed member is rejected, and nothing is enrolled",
        arguments: [
            Flaw(testDescription: "no object", code: "E0000003") { $0 = [] },
            Flaw(testDescription: "no authenticator") { $0["authenticatorId"] = nil },
            Flaw(testDescription: "no device") { $0["device"] = nil },
            Flaw(testDescription: "a device that is a text") { $0["device"] = "phone" },
            Flaw(testDescription: "no name of the device") { try setDevice(&$0, "displayName", nil) },
            Flaw(testDescription: "no platform") { try setDevice(&$0, "platform", nil) },
            Flaw(testDescription: "no version of the system") { try setDevice(&$0, "osVersion", nil) },
            Flaw(testDescription: "no client instance key") { try setDevice(&$0, "clientInstanceKey", nil) },
            Flaw(testDescription: "no methods") { $0["methods"] = nil },
            Flaw(testDescription: "no push token") { try setPush(&$0, "pushToken", nil) },
            Flaw(testDescription: "a push token that is a path") { try setPush(&$0, "pushToken", "../3/device") },
            Flaw(testDescription: "a push token of half a byte") { try setPush(&$0, "pushToken", "abc") },
            Flaw(testDescription: "an endless push token") { try setPush(&$0, "pushToken", .string(String(repeating: "ab", count: 257))) },
            Flaw(testDescription: "no environment") { try setPush(&$0, "apsEnvironment", nil) },
            Flaw(testDescription: "an unknown environment") { try setPush(&$0, "apsEnvironment", "staging") },
            Flaw(testDescription: "an unknown transaction type") {
                try setPush(&$0, "capabilities", ["transactionTypes": ["LOGIN", "PAY"]])
            },
            Flaw(testDescription: "no sign-ins") { try setPush(&$0, "capabilities", ["transactionTypes": ["CIBA"]]) },
            Flaw(testDescription: "numbers answered perhaps") { try setPush(&$0, "capabilities", ["numberChallenge": "maybe"]) },
            Flaw(testDescription: "no keys") { try setPush(&$0, "keys", nil) },
            Flaw(testDescription: "no proof of possession") { try setKey(&$0, "proofOfPossession", nil) },
            Flaw(testDescription: "a key without id") { try changeKey(&$0) { $0["kid"] = nil } },
            Flaw(testDescription: "a key of another curve") {
                try setKey(&$0, "proofOfPossession", SigningKey.generate(.es384, keyID: "k").publicKey?.json())
            },
            Flaw(testDescription: "a point off the curve") { try changeKey(&$0) { $0["y"] = $0["x"] } },
            Flaw(testDescription: "a secret") {
                try setKey(&$0, "proofOfPossession", ["kty": "oct", "kid": "k", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTMy"])
            },
            Flaw(testDescription: "a private key") {
                let key = try SigningKey.generate(.es256, keyID: "k").privateJWK
                try setKey(&$0, "proofOfPossession", key.json(includingPrivateMembers: true))
            },
            Flaw(testDescription: "a key for encryption") { try changeKey(&$0) { $0["use"] = "enc" } },
            Flaw(testDescription: "one key in two roles") {
                let key = $0["methods"]?["push"]?["keys"]?["proofOfPossession"]
                try setKey(&$0, "userVerification", key)
            },
            Flaw(testDescription: "one key in two roles by two names") {
                var key = $0["methods"]?["push"]?["keys"]?["proofOfPossession"] ?? .null
                key["kid"] = "another"
                try setKey(&$0, "userVerification", key)
            },
            Flaw(testDescription: "the installation's key as proof of possession") {
                let key = $0["device"]?["clientInstanceKey"]
                try setKey(&$0, "proofOfPossession", key)
            },
            Flaw(testDescription: "a key of a role that is not served") {
                let key = try SigningKey.generate(.es256, keyID: "k").publicKey?.json()
                try setKey(&$0, "userVerificationBioOrPin", key)
            },
        ])
    func flaws(flaw: Flaw) async throws {
        let fixture = try await DeviceFixture()
        var body = try Phone(userID: try await fixture.userID()).enrollment()
        try flaw.change(&body)
        let refused = try await fixture.enroll(body, fixture.weakToken())
        #expect(refused.code == flaw.code && refused.status == 400)
        #expect(try await fixture.enrollments().isEmpty)
    }

    @Test("Control characters are removed from a device's name, and the name is cut at 200 characters")
    func profile() async throws {
        let fixture = try await DeviceFixture()
        var phone = try Phone(userID: try await fixture.userID())
        var body = phone.enrollment()
        try setDevice(&body, "displayName", .string("Ada\u{202E}'s\n" + String(repeating: "x", count: 300)))
        try phone.remember(await fixture.enroll(body, fixture.weakToken()).get())
        #expect(try await fixture.storedDevice(phone).profile["displayName"] == "Ada's" + String(repeating: "x", count: 195))
    }
}

private func push(of body: JSONValue, key name: String, _ value: JSONValue?) throws -> JSONValue {
    var push = try #require(body["methods"]?["push"])
    var keys = try #require(push["keys"])
    keys[name] = value
    push["keys"] = keys
    return push
}

private func setKey(_ body: inout JSONValue, _ name: String, _ value: JSONValue?) throws {
    body["methods"] = ["push": try push(of: body, key: name, value)]
}

private func changeKey(_ body: inout JSONValue, _ change: (inout JSONValue) -> Void) throws {
    var key = try #require(body["methods"]?["push"]?["keys"]?["proofOfPossession"])
    change(&key)
    try setKey(&body, "proofOfPossession", key)
}

private func setPush(_ body: inout JSONValue, _ name: String, _ value: JSONValue?) throws {
    var push = try #require(body["methods"]?["push"])
    push[name] = value
    body["methods"] = ["push": push]
}

private func setDevice(_ body: inout JSONValue, _ name: String, _ value: JSONValue?) throws {
    var device = try #require(body["device"])
    device[name] = value
    body["device"] = device
}
