import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Enrolling (D3, Documentation/Protocol/Devices.md §2.5)")
struct EnrollmentTests {
    @Test("An enrollment fetches the org and the authenticator metadata, sends the enrollment request, and then fetches the challenge keys")
    func order() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        #expect(phone.org.routes == [.organization, .metadata, .enroll, .discovery, .keys])
        #expect(enrollment.enrollmentId == "pfd1")
        #expect(enrollment.organization == Organization(id: "00o1", url: try url("https://id.example.com")))
        #expect(enrollment.user == User(id: "00u1", name: "ada1@example.com"))
        #expect(!enrollment.userVerificationEnabled)
        #expect(!enrollment.isCIBAEnabled)
        #expect(enrollment.enrollmentState == .active)
        #expect(enrollment.userVerificationPolicy == .preferred)
    }

    @Test("Each enrollment request has the headers of Devices.md §2.2, and only requests that require the access token contain it")
    func headers() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let organization = try #require(phone.org.requests(.organization).first)
        #expect(organization.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(organization.value(forHTTPHeaderField: "Authorization") == nil)
        let metadata = try #require(phone.org.requests(.metadata).first)
        #expect(metadata.url?.absoluteString == "https://id.example.com/.well-known/app-authenticator-configuration?oauthClientId=client-1")
        #expect(metadata.value(forHTTPHeaderField: "Accept") == "application/json; okta-version=1.0.0")
        #expect(metadata.value(forHTTPHeaderField: "Authorization") == "Bearer manage-secret")
        let enroll = try #require(phone.org.requests(.enroll).first)
        #expect(enroll.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(enroll.value(forHTTPHeaderField: "Accept") == "application/json; okta-version=1.0.0")
        #expect(enroll.value(forHTTPHeaderField: "Authorization") == "Bearer manage-secret")
        for route in [TestOrg.Route.discovery, .keys] {
            let request = try #require(phone.org.requests(route).first)
            #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
            #expect(request.timeoutInterval == 5)
        }
        #expect(
            enroll.value(forHTTPHeaderField: "User-Agent")
                == "AcmeApp/3.0 DeviceAuthenticator/1.1.0 Linux/6.1.0 Unknown/x1")
    }

    @Test("The enrollment request body has exactly the members of Devices.md §2.5.1 and §2.5.2")
    func body() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let body = try #require(try phone.org.bodies(.enroll).first)
        let instance = try #require(body["device"]?["clientInstanceKey"])
        let possession = try #require(body["methods"]?["push"]?["keys"]?["proofOfPossession"])
        #expect(
            body == [
                "authenticatorId": "aut1",
                "device": [
                    "displayName": "Ada's phone", "platform": "LINUX", "manufacturer": "ACME", "model": "x1", "osVersion": "6.1.0",
                    "secureHardwarePresent": false, "screenLockType": "PASSCODE", "clientInstanceBundleId": "AcmeApp",
                    "clientInstanceVersion": "3.0", "clientInstanceDeviceSdkVersion": "DeviceAuthenticator 1.1.0",
                    "clientInstanceKey": instance,
                ],
                "methods": [
                    "push": [
                        "pushToken": "00ff12", "apsEnvironment": "development",
                        "capabilities": ["transactionTypes": ["LOGIN"], "numberChallenge": true],
                        "keys": ["proofOfPossession": possession],
                    ]
                ],
            ])
        for key in [instance, possession] {
            #expect(key.objectValue?.keys.sorted() == ["crv", "kid", "kty", "okta:kpr", "x", "y"])
            #expect(key["okta:kpr"] == "SOFTWARE")
            let kid = try #require(key["kid"]?.stringValue)
            #expect(UUID(uuidString: kid) != nil && kid == kid.uppercased())
            _ = try VerificationKey(JSONWebKey(key), algorithm: .es256)
        }
        #expect(instance["kid"] != possession["kid"] && instance["x"] != possession["x"])
    }

    @Test(
        "The enrollment request has no user verification key by default, null if the app disables it, and a key if the app enables it")
    func userVerification() async throws {
        let unasked = try TestPhone()
        try await unasked.enroll()
        let refused = try TestPhone()
        try await refused.enroll(verification: false)
        let wanted = try TestPhone()
        let enrollment = try await wanted.enroll(verification: true)
        let keys = try [unasked, refused, wanted].map { try $0.org.bodies(.enroll)[0]["methods"]?["push"]?["keys"] }
        #expect(keys[0]?["userVerification"] == nil)
        #expect(keys[1]?["userVerification"] == .null)
        _ = try VerificationKey(JSONWebKey(try #require(keys[2]?["userVerification"])), algorithm: .es256)
        #expect(enrollment.userVerificationEnabled)
        #expect(try wanted.authenticator.allEnrollments()[0].userVerificationEnabled)
        #expect(wanted.verifier?.requests.map(\.purpose) == [.makeKey])
    }

    @Test(
        "The older enrollment parameters send the push token in hexadecimal, and a user verification key or null",
        arguments: [false, true])
    func olderForm(isWanted: Bool) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(
            EnrollmentParameters(deviceToken: Data([0x00, 0x0A, 0xBC, 0xFF]), enableUserVerification: isWanted))
        let push = try #require(try phone.org.bodies(.enroll)[0]["methods"]?["push"])
        #expect(push["pushToken"] == "000abcff")
        #expect(push["capabilities"]?["transactionTypes"] == ["LOGIN"])
        let key = try #require(push["keys"]?["userVerification"])
        if isWanted {
            _ = try VerificationKey(JSONWebKey(key), algorithm: .es256)
            #expect(key["kid"] != push["keys"]?["proofOfPossession"]?["kid"])
        } else {
            #expect(key.isNull)
        }
        #expect(enrollment.userVerificationEnabled == isWanted)
        #expect(phone.verifier?.requests.count == (isWanted ? 1 : 0))
    }

    @Test("A push token that the app passes as text is sent unchanged", arguments: ["0A-Bc:dev/α", "ABCDEF", ""])
    func tokenString(text: String) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(EnrollmentParameters(deviceToken: .tokenString(text)))
        let push = try #require(try phone.org.bodies(.enroll)[0]["methods"]?["push"])
        #expect(push["pushToken"] == .string(text))
        // The call does not specify user verification, so the request has no key for it.
        #expect(push["keys"]?.objectValue?.keys.sorted() == ["proofOfPossession"])
        #expect(!enrollment.userVerificationEnabled)
    }

    @Test("An enrollment with CIBA enabled requests the transaction types LOGIN and CIBA")
    func ciba() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll(push: .empty, ciba: true)
        let push = try #require(try phone.org.bodies(.enroll)[0]["methods"]?["push"])
        #expect(push["capabilities"]?["transactionTypes"] == ["LOGIN", "CIBA"])
        #expect(push["pushToken"] == "")
        #expect(enrollment.isCIBAEnabled)
    }

    @Test("When a second user enrolls on the device, the first enrollment's client instance key attests the device")
    func knownDevice() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        try await phone.enroll()
        let device = try #require(try phone.org.bodies(.enroll)[1]["device"])
        #expect(device["id"] == "guo1")
        #expect(device["clientInstanceId"] == "cli-guo1")
        #expect(device["clientInstanceKey"] == nil)
        let attestation = try #require(device["deviceAttestation"]?["clientInstanceKeyAttestation"]?.stringValue)
        let (header, claims) = try TestOrg.opened(attestation, with: phone.org.registeredKeys())
        #expect(header["typ"] == "")
        #expect(header["kid"] == (try phone.org.bodies(.enroll)[0]["device"]?["clientInstanceKey"]?["kid"]))
        #expect(claims.issuer == "cli-guo1" && claims.subject == "guo1" && claims.audience == ["https://id.example.com"])
        #expect(claims.names.sorted() == ["aud", "exp", "iat", "iss", "jti", "nbf", "sub"])
        #expect(claims.issuedAt == 1_800_000_000 && claims.expiresAt == 1_800_000_300 && claims.notBefore == 1_799_999_700)
        #expect(try phone.folder.names(of: "device").count == 1)
        #expect(try phone.authenticator.allEnrollments().map(\.enrollmentId) == ["pfd1", "pfd2"])
    }

    @Test(
        "If the server no longer knows the device, the enrollment request is repeated for a new device",
        arguments: [("E0000153", 410), ("E0000011", 401)])
    func forgottenDevice(code: String, status: Int) async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.answer(.enroll, .failure(code, status: status))
        try await phone.enroll()
        let bodies = try phone.org.bodies(.enroll)
        #expect(bodies.count == 3)
        #expect(bodies[1]["device"]?["deviceAttestation"] != nil)
        #expect(bodies[2]["device"]?["deviceAttestation"] == nil && bodies[2]["device"]?["id"] == nil)
        let fresh = try #require(bodies[2]["device"]?["clientInstanceKey"]?["kid"])
        #expect(fresh != bodies[0]["device"]?["clientInstanceKey"]?["kid"])
        // Both enrollments have the same device, so one client instance key and two proof-of-possession keys remain.
        #expect(try phone.folder.names(of: "key").count == 3)
        phone.org.wait(with: try phone.org.challenge())
        let first = try #require(try phone.authenticator.allEnrollments().first)
        let challenge = try #require(try await first.retrievePushChallenges(authenticationToken: TestPhone.token).first)
        try await challenge.resolve(onRemediation: approving)
        #expect(try phone.org.answers().last?.claims["deviceSignals"]?["id"] == "guo1")
    }

    @Test("An enrollment request is repeated at most once, and if it fails again, the device is kept and the new keys are deleted")
    func oneRepeat() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let keys = try phone.folder.names(of: "key")
        phone.org.answer(.enroll, .failure("E0000011", status: 401), .failure("E0000011", status: 401))
        let error = await failure { try await phone.enroll(verification: true) }
        #expect(error?.reason == .tokenRefused)
        #expect(phone.org.requests(.enroll).count == 3)
        #expect(try phone.folder.names(of: "key") == keys)
        try await phone.enroll()
        #expect(try phone.org.bodies(.enroll).last?["device"]?["id"] == "guo1")
    }

    @Test("If the enrollment of a new device is rejected, the request is not repeated")
    func noRepeatForNewDevice() async throws {
        let phone = try TestPhone()
        phone.org.answer(.enroll, .failure("E0000011", status: 401))
        #expect(await failure { try await phone.enroll() }?.reason == .tokenRefused)
        #expect(phone.org.requests(.enroll).count == 1)
    }

    @Test(
        "If an enrollment fails, the phone deletes the new keys and stores nothing",
        arguments: [
            (TestOrg.Reply.failure("E0000158", status: 400), DeviceAuthenticatorError.Reason.userVerificationRequired),
            (.failure("E0000006", status: 403), .notPermitted), (.offline, .network), (.text("<html>"), .other),
            (.json(["id": "pfd1"]), .other), (.failure("E0000007", status: 404), .notFound),
        ])
    func rollback(reply: TestOrg.Reply, reason: DeviceAuthenticatorError.Reason) async throws {
        let phone = try TestPhone()
        phone.org.answer(.enroll, reply)
        #expect(await failure { try await phone.enroll(verification: true) }?.reason == reason)
        #expect(try phone.folder.names(of: "key").isEmpty)
        #expect(try phone.folder.names(of: "enrollment").isEmpty)
        #expect(try phone.authenticator.allEnrollments().isEmpty)
    }

    @Test("An enrollment at an org whose metadata has no id fails before a key is created")
    func organizationWithoutID() async throws {
        let phone = try TestPhone()
        phone.org.answer(.organization, .json(["id": 7]))
        let error = await failure { try await phone.enroll() }
        guard case .genericError("Failed to fetch organization data")? = error else {
            Issue.record("unexpected: \(String(describing: error))")
            return
        }
        #expect(phone.org.routes == [.organization])
        #expect(try phone.folder.names(of: "key").isEmpty)
    }

    @Test("Authenticator metadata without an authenticator or a push method causes the published error")
    func metadata() async throws {
        let phone = try TestPhone()
        phone.org.answer(.metadata, .json([]))
        guard case .genericError("Authenticator policy not found")? = await failure({ try await phone.enroll() }) else {
            Issue.record("an empty list is no authenticator")
            return
        }
        var totp = phone.org.metadata
        totp["supportedMethods"] = [["type": "totp", "status": "ACTIVE"]]
        phone.org.answer(.metadata, .json([totp]))
        #expect(await failure { try await phone.enroll() } == .noVerificationMethodsToEnroll)
        var future = phone.org.metadata
        future["supportedMethods"] = [["type": "hologram"], ["type": "push", "status": "NEW", "settings": ["algorithms": ["PQ1"]]]]
        phone.org.answer(.metadata, .json([future, ["broken": true]]))
        #expect(try await phone.enroll().enrollmentId == "pfd1")
    }

    @Test(
        "An enrollment fails if the endpoint in the metadata is not an https URL of the org, and no request is sent to it",
        arguments: ["https://evil.example/idp", "http://id.example.com/idp", "ftp://id.example.com/", "not a url"])
    func foreignEndpoint(endpoint: String) async throws {
        let phone = try TestPhone()
        var metadata = phone.org.metadata
        metadata["appAuthenticatorEnrollEndpoint"] = .string(endpoint)
        phone.org.answer(.metadata, .json([metadata]))
        guard case .internalError? = await failure({ try await phone.enroll() }) else {
            Issue.record("the endpoint was accepted")
            return
        }
        #expect(phone.org.routes == [.organization, .metadata])
    }

    @Test("Enrolling the same user again replaces the earlier enrollment and its keys")
    func again() async throws {
        let phone = try TestPhone()
        try await phone.enroll(verification: true)
        phone.org.answer(.enroll, .json(phone.org.enrollment(7, user: "00u1")))
        try await phone.enroll()
        #expect(try phone.authenticator.allEnrollments().map(\.enrollmentId) == ["pfd7"])
        // The client instance key and one proof-of-possession key.
        #expect(try phone.folder.names(of: "key").count == 2)
    }

    @Test("The same user's enrollment in another app of the org is a separate enrollment with a separate policy")
    func anotherClient() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        let other = try TestPhone(org: phone.org, folder: phone.folder, clock: phone.clock, client: "client-2")
        var strict = phone.org.metadata
        strict["settings"] = ["userVerification": "required"]
        phone.org.answer(.metadata, .json([strict]))
        phone.org.answer(.enroll, .json(phone.org.enrollment(2, user: "00u1")))
        try await other.enroll()
        let enrollments = try phone.authenticator.allEnrollments().compactMap { $0 as? AuthenticatorEnrollment }
        #expect(enrollments.map(\.oidcClientId) == ["client-1", "client-2"])
        #expect(enrollments.map(\.userVerificationPolicy) == [.preferred, .required])
    }

    @Test("The app can fetch an authenticator's policy before an enrollment, and the phone stores nothing")
    func downloadPolicy() async throws {
        let phone = try TestPhone()
        var metadata = phone.org.metadata
        metadata["settings"] = ["userVerification": "Required"]
        phone.org.answer(.metadata, .json([metadata]))
        let policy = try await phone.authenticator.downloadPolicy(authenticationToken: TestPhone.token, authenticatorConfig: phone.config)
        #expect(policy.userVerificationSetting == .required)
        metadata["settings"] = nil
        phone.org.answer(.metadata, .json([metadata]))
        let silent = try await phone.authenticator.downloadPolicy(authenticationToken: TestPhone.token, authenticatorConfig: phone.config)
        #expect(silent.userVerificationSetting == .preferred)
        #expect(try phone.folder.names.isEmpty)
    }

    @Test("An enrollment is kept even if the org's challenge keys cannot be fetched")
    func withoutChallengeKeys() async throws {
        let phone = try TestPhone()
        phone.org.answer(.discovery, .offline)
        #expect(try await phone.enroll().enrollmentId == "pfd1")
    }

    @Test("If the app has no user verifier, an enrollment with user verification fails without an enrollment request")
    func withoutVerifier() async throws {
        let phone = try TestPhone(verifier: nil)
        #expect(await failure { try await phone.enroll(verification: true) }?.reason == .userVerificationUnavailable)
        #expect(phone.org.requests(.enroll).isEmpty)
        #expect(try phone.folder.names(of: "key").isEmpty)
    }

    @Test(
        "Server times are decoded with and without fractional seconds, and invalid times are ignored",
        arguments: [
            ("2027-01-15T08:00:00.000Z", 1_800_000_000), ("2027-01-15T08:00:00.250Z", 1_800_000_000.25),
            ("2027-01-15T08:00:00Z", 1_800_000_000), ("2027-01-15T09:00:00.000+01:00", 1_800_000_000), ("yesterday", nil), ("", nil),
        ] as [(String, Double?)])
    func dates(text: String, seconds: Double?) {
        #expect(EnrollmentAnswer.date(text)?.timeIntervalSince1970 == seconds)
    }
}
