import DeviceAPI
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Device API")
struct DeviceEnrollmentTests {
    private static let invalidToken = "The token is invalid or expired. Get a new one."

    @Test("The organization endpoint requires neither authorization nor an API version, and returns the organization ID")
    func organization() async throws {
        try await DeviceServer.with { server in
            let response = try await server.wire.get("/.well-known/okta-organization", headers: [("Content-Type", "application/json")])
            #expect(response.status == 200 && response["Content-Type"] == "application/json")
            let id = try await server.running.engine.snapshot().id
            #expect(id.hasPrefix("00o"))
            #expect(
                try response.json == ["id": .string(id), "_links": ["organization": ["href": .string(RunningServer.origin)]]])
            #expect(response["x-rate-limit-limit"] != nil)
        }
    }

    @Test(
        "The authenticator configuration endpoint returns an array with the client's authenticator, or an empty array if push is disabled")
    func configuration() async throws {
        try await DeviceServer.with { server in
            let path = "/.well-known/app-authenticator-configuration?oauthClientId=phone-app"
            let token = try await server.accessToken()
            let response = try await server.call("GET", path, token: token)
            #expect(response.status == 200 && response["Content-Type"] == "application/json")
            let id = try await server.running.engine.snapshot().id
            #expect(
                try response.json == [
                    [
                        "authenticatorId": "autphone", "orgId": .string(id), "key": "custom_app", "name": "Acme Push",
                        "settings": ["userVerification": "PREFERRED", "oauthClientId": "phone-app"],
                        "supportedMethods": [
                            [
                                "type": "push", "status": "ACTIVE",
                                "settings": [
                                    "algorithms": ["ES256", "RS256"], "keyProtection": "ANY", "transactionTypes": ["LOGIN", "CIBA"],
                                ],
                            ]
                        ],
                        "appAuthenticatorEnrollEndpoint": .string(RunningServer.origin + DeviceServer.api),
                    ]
                ])
            let path2 = "/.well-known/app-authenticator-configuration"
            try expectDeviceError(
                await server.call("GET", path2, token: token), 400, "E0000001", "Api validation failed: oauthClientId",
                causes: ["The query needs oauthClientId, the app's client id."])
            try await server.configure { $0.authenticators[0].isActive = false }
            let off = try await server.call("GET", path, token: token)
            #expect(off.status == 200 && off.body == "[]")
        }
    }

    @Test("A phone enrolls, updates and deletes its enrollment, and later requests report the deletion")
    func wholeLife() async throws {
        try await DeviceServer.with { server in
            let token = try await server.accessToken()
            var phone = try EnrollingPhone(now: server.running.clock.now)
            let enrolled = try await server.enroll(phone.enrollment(), token: token)
            #expect(enrolled.status == 200 && enrolled["Content-Type"] == "application/json")
            #expect(enrolled["Cache-Control"] == "no-cache, no-store" && enrolled["x-rate-limit-remaining"] != nil)
            try phone.remember(enrolled.json)
            let own = RunningServer.origin + DeviceServer.api + "/" + phone.enrollmentID
            let expected: JSONValue = [
                "id": .string(phone.enrollmentID), "authenticatorId": "autphone", "createdDate": "2027-01-15T08:00:00.000Z",
                "lastUpdated": "2027-01-15T08:00:00.000Z", "user": ["id": .string(phone.userID), "username": "jane.doe@example.com"],
                "device": ["id": .string(phone.deviceID), "status": "ACTIVE", "clientInstanceId": .string(phone.clientInstanceID)],
                "methods": [
                    "push": [
                        "id": .string(phone.methodID),
                        "links": ["pending": ["href": .string(own + "/push/notifications"), "hints": ["allow": ["GET"]]]],
                    ]
                ],
                "links": ["self": ["href": .string(own), "hints": ["allow": ["PATCH", "DELETE"]]]],
            ]
            #expect(try enrolled.json == expected)

            let patched = try await server.patch(phone.enrollmentID, ["pushToken": "AB"], token: token)
            #expect(patched.status == 200)
            #expect(try patched.json == expected)

            let pending = try await server.call("GET", DeviceServer.api + "/\(phone.enrollmentID)/push/notifications", token: token)
            #expect(pending.status == 200 && pending.body == "[]")

            let deleted = try await server.delete(phone.enrollmentID, token: token)
            #expect(deleted.status == 204 && deleted.body.isEmpty && deleted["Content-Length"] == nil)

            let summary = "The enrollment was deleted. Remove the account from the app, then enroll again."
            try expectDeviceError(await server.delete(phone.enrollmentID, token: token), 410, "E0000154", summary)
            try expectDeviceError(
                await server.patch(phone.enrollmentID, ["pushToken": "AB"], token: token), 410, "E0000154", summary)
            try expectDeviceError(
                await server.call("GET", DeviceServer.api + "/\(phone.enrollmentID)/push/notifications", token: token), 410, "E0000154",
                summary)
        }
    }

    @Test("A JWT that the device signed is accepted once in an Authorization header with the scheme SSWS")
    func signed() async throws {
        try await DeviceServer.with { server in
            let phone = try await server.enrolledPhone()
            let authorization = try phone.authorization()
            #expect(try await server.patch(phone.enrollmentID, ["pushToken": "AB"], token: authorization, scheme: "SSWS").status == 200)
            try expectDeviceError(
                await server.patch(phone.enrollmentID, ["pushToken": "AB"], token: authorization, scheme: "ssws"), 401, "E0000011",
                Self.invalidToken)
        }
    }

    @Test(
        "A JWT that the device signed is accepted after the scheme SSWS with or without a space",
        arguments: ["SSWS", "ssws", "SSWS ", "SSWS  "])
    func signedWithoutSpace(scheme: String) async throws {
        try await DeviceServer.with { server in
            let phone = try await server.enrolledPhone()
            let response = try await server.running.wire.call(
                "GET", DeviceServer.api + "/\(phone.enrollmentID)/push/notifications",
                headers: [DeviceServer.version, ("Authorization", scheme + (try phone.authorization()))])
            #expect(response.status == 200, "\(response.body)")
        }
    }

    @Test("A maintenance token can update the push token but no keys, and the assertion that obtains the token is accepted once")
    func maintenance() async throws {
        try await DeviceServer.with { server in
            let phone = try await server.enrolledPhone()
            let form =
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&client_id=phone-app"
                + "&scope=okta.myAccount.appAuthenticator.maintenance.manage&assertion="
            let assertion = try phone.assertion()
            let response = try await server.wire.post("/oauth2/v1/token", form + assertion)
            #expect(response.status == 200)
            let answer = try response.json
            #expect(answer["token_type"] == "Bearer" && answer["expires_in"] == 3_600)
            #expect(answer["scope"] == "okta.myAccount.appAuthenticator.maintenance.manage")
            #expect(answer["refresh_token"] == nil && answer["id_token"] == nil)
            let token = try #require(answer["access_token"]?.stringValue)
            #expect(try await server.patch(phone.enrollmentID, ["pushToken": "AB"], token: token).status == 200)
            try expectDeviceError(
                await server.patch(phone.enrollmentID, ["keys": ["userVerification": .null]], token: token), 403, "E0000006",
                "The access token does not permit this. It needs one of the scopes: \(DeviceServer.manage).")
            try expectOAuthError(
                await server.wire.post("/oauth2/v1/token", form + assertion), 400, "invalid_grant", "The assertion is invalid or expired.")
            let wide = form.replacing("maintenance.manage", with: "manage") + (try phone.assertion())
            try expectOAuthError(
                await server.wire.post("/oauth2/v1/token", wide), 400, "invalid_scope",
                "A maintenance token can only have the scopes okta.myAccount.appAuthenticator.maintenance.manage, okta.myAccount.appAuthenticator.maintenance.read."
            )
        }
    }

    // MARK: - Errors

    @Test(
        "Device API requests other than the organization request must name the API version in the Accept header",
        arguments: [nil, "application/json", "application/json; okta-version=2.0.0", "text/html; okta-version=1.0.0", "okta-version=1.0.0"])
    func version(accept: String?) async throws {
        try await DeviceServer.with { server in
            let requests = [
                ("GET", "/.well-known/app-authenticator-configuration?oauthClientId=phone-app"), ("POST", DeviceServer.api),
                ("PATCH", DeviceServer.api + "/pfd1"), ("DELETE", DeviceServer.api + "/pfd1"),
                ("GET", DeviceServer.api + "/pfd1/push/notifications"), ("POST", DeviceServer.api + "/challenge/ft1/verify"),
            ]
            for (method, path) in requests {
                let body: [UInt8] = method == "POST" || method == "PATCH" ? Array("{}".utf8) : []
                let response = try await server.call(method, path, accept: accept.map { ("Accept", $0) }, body: body)
                try expectDeviceError(
                    response, 406, "E0000149",
                    "The Accept header must name the version of the API. Send: application/json; okta-version=1.0.0")
            }
        }
    }

    @Test(
        "The API version is recognized in all spellings of the Accept header that clients use",
        arguments: [
            "application/json; okta-version=1.0.0", "application/json;okta-version=1.0.0", "application/json, okta-version=1.0.0",
            "application/merge-patch+json; okta-version=1.0.0", "text/html, Application/JSON; q=0.9; okta-version=\"1.0.0\"",
            "*/*; okta-version=1.0.0",
        ])
    func versionSpellings(accept: String) async throws {
        try await DeviceServer.with { server in
            let response = try await server.call("DELETE", DeviceServer.api + "/pfd1", accept: ("Accept", accept))
            #expect(response.status == 401)
        }
    }

    @Test("Every device API endpoint that requires a token returns 401 if the token is missing or invalid")
    func unauthorized() async throws {
        try await DeviceServer.with { server in
            let requests = [
                ("GET", "/.well-known/app-authenticator-configuration?oauthClientId=phone-app"), ("POST", DeviceServer.api),
                ("PATCH", DeviceServer.api + "/pfd1"), ("DELETE", DeviceServer.api + "/pfd1"),
                ("GET", DeviceServer.api + "/pfd1/push/notifications"),
            ]
            for (method, path) in requests {
                let body: [UInt8] = method == "POST" || method == "PATCH" ? Array("{}".utf8) : []
                for (scheme, token) in [("Bearer", nil), ("Bearer", "x"), ("SSWS", "x.y.z"), ("OTDT", "x"), ("Basic", "")]
                    as [(String, String?)]
                {
                    let response = try await server.call(method, path, token: token, scheme: scheme, body: body)
                    try expectDeviceError(response, 401, "E0000011", Self.invalidToken)
                }
            }
        }
    }

    @Test("A device API request whose body is not valid JSON, is a form or is larger than 64 KiB returns E0000003")
    func malformed() async throws {
        try await DeviceServer.with { server in
            let token = try await server.accessToken()
            let summary = "The request body was not well-formed. Send a JSON object of at most 64 KiB."
            let tooLong = Array((#"{"authenticatorId":""# + String(repeating: "x", count: 70_000) + "\"}").utf8)
            for (path, method) in [
                (DeviceServer.api, "POST"), (DeviceServer.api + "/pfd1", "PATCH"), (DeviceServer.api + "/challenge/ft1/verify", "POST"),
            ] {
                for (type, body) in [
                    ("application/json", Array("{".utf8)), ("application/json", Array(#"{"a":1,"a":2}"#.utf8)),
                    ("application/x-www-form-urlencoded", Array("{}".utf8)), ("application/json", tooLong),
                ] {
                    let response = try await server.call(method, path, token: token, contentType: type, body: body)
                    try expectDeviceError(response, 400, "E0000003", summary)
                }
            }
            try expectDeviceError(await server.enroll([], token: token), 400, "E0000003", summary)
        }
    }

    @Test("An invalid phone enrollment request returns the documented error code for its defect (Documentation/Protocol/Devices.md §2.12)")
    func enrollmentErrors() async throws {
        try await DeviceServer.with { server in
            let token = try await server.accessToken()
            let phone = try EnrollingPhone(now: server.running.clock.now)
            var unnamed = phone.enrollment()
            unnamed["authenticatorId"] = nil
            try expectDeviceError(
                await server.enroll(unnamed, token: token), 400, "E0000001", "Api validation failed: authenticatorId",
                causes: ["authenticatorId is missing; take it from the authenticator's configuration."])
            var elsewhere = phone.enrollment()
            elsewhere["authenticatorId"] = "autother"
            try expectDeviceError(
                await server.enroll(elsewhere, token: token), 404, "E0000007", "Not found: there is no such authenticator.")
            try expectDeviceError(
                await server.enroll(
                    phone.enrollment(), token: server.accessToken(scope: "okta.myAccount.appAuthenticator.maintenance.read")),
                403, "E0000006", "The access token does not permit this. It needs one of the scopes: \(DeviceServer.manage).")
            try await server.configure { $0.authenticators[0].userVerification = .required }
            try expectDeviceError(
                await server.enroll(phone.enrollment(), token: token), 400, "E0000158",
                "The authenticator requires a user verification key. Turn user verification on in the app and try again.")
            try await server.configure { $0.authenticators[0].isActive = false }
            try expectDeviceError(
                await server.enroll(phone.enrollment(), token: token), 404, "E0000007", "Not found: there is no such authenticator.")
        }
    }

    @Test("After a phone is enrolled, a token for managing enrollments requires a sign-in with two factors")
    func stolenPassword() async throws {
        try await DeviceServer.with { server in
            let phone = try await server.enrolledPhone()
            // The password alone gets no token for managing enrollments.
            let form =
                "client_id=phone-app&grant_type=password&username=jane.doe@example.com&password=Correct-Horse-7&scope=\(DeviceServer.manage)"
            let refused = try await server.wire.post("/oauth2/v1/token", form)
            #expect(refused.status == 403)
            #expect(try refused.json["error"] == "mfa_required")
            // With two factors, the user can enroll and delete phones.
            let second = try EnrollingPhone(now: server.running.clock.now)
            #expect(try await server.enroll(second.enrollment(), token: server.strongToken()).status == 200)
            #expect(try await server.delete(phone.enrollmentID, token: server.strongToken()).status == 204)
        }
    }

    @Test("A password-only token from before the first enrollment cannot enroll, change or delete a phone")
    func tokenFromBefore() async throws {
        try await DeviceServer.with { server in
            let early = try await server.accessToken()
            let phone = try await server.enrolledPhone()
            let summary = "Another factor is enrolled for this account. Sign in again with it, then try again."
            let second = try EnrollingPhone(now: server.running.clock.now)
            try expectDeviceError(await server.enroll(second.enrollment(), token: early), 403, "E0000006", summary)
            try expectDeviceError(await server.delete(phone.enrollmentID, token: early), 403, "E0000006", summary)
            let key = try SigningPhone.jwk(.generate(.es256, keyID: "mine"))
            try expectDeviceError(
                await server.patch(phone.enrollmentID, ["keys": ["userVerification": key]], token: early), 403, "E0000006", summary)
        }
    }

    @Test("A phone enrollment is rejected if the sign-in of the access token is older than 15 minutes")
    func oldSignIn() async throws {
        try await DeviceServer.with { server in
            let token = try await server.accessToken()
            server.running.clock.advance(by: 901)
            let phone = try EnrollingPhone(now: server.running.clock.now)
            try expectDeviceError(
                await server.enroll(phone.enrollment(), token: token), 403, "E0000006",
                "The sign-in is longer ago than 15 minutes. Sign in again.")
        }
    }

    @Test("Device API requests for suspended and deleted devices, enrollments and accounts return different errors")
    func lifecycle() async throws {
        try await DeviceServer.with { server in
            let phone = try await server.enrolledPhone()
            let token = try await server.strongToken()
            let engine = server.running.engine
            let patch: JSONValue = ["pushToken": "AB"]
            try await engine.suspendEnrollment(phone.enrollmentID, context: server.context)
            try expectDeviceError(
                await server.patch(phone.enrollmentID, patch, token: token), 423, "E0000180",
                "The enrollment is suspended. Ask an administrator to open it.")
            try expectDeviceError(
                await server.delete(phone.enrollmentID, token: token), 423, "E0000180",
                "The enrollment is suspended. Ask an administrator to open it.")
            try await engine.suspendEnrollment(phone.enrollmentID, false, context: server.context)
            try await engine.suspendDevice(phone.deviceID, context: server.context)
            try expectDeviceError(
                await server.patch(phone.enrollmentID, patch, token: token), 403, "E0000152",
                "The device is suspended. Ask an administrator to open it.")
            try await engine.deleteDevice(phone.deviceID, context: server.context)
            let deleted = "The device was deleted. Remove the account from the app, then enroll again."
            try expectDeviceError(await server.patch(phone.enrollmentID, patch, token: token), 410, "E0000153", deleted)
            try expectDeviceError(
                await server.enroll(phone.enrollment(attestation: phone.attestation()), token: token), 410, "E0000153", deleted)
            _ = try await engine.setStatus(userID: phone.userID, to: .suspended, context: server.context)
            try expectDeviceError(
                await server.patch(phone.enrollmentID, patch, token: token), 423, "E0000155",
                "The account is suspended. Ask an administrator to open it.")
            _ = try await engine.setStatus(userID: phone.userID, to: .deactivated, context: server.context)
            try expectDeviceError(
                await server.patch(phone.enrollmentID, patch, token: token), 410, "E0000156",
                "The account was deleted. Remove it from the app.")
        }
    }

    @Test("An enrollment request with a forged device attestation returns 401, and a valid attestation returns the existing enrollment")
    func attestation() async throws {
        try await DeviceServer.with { server in
            let phone = try await server.enrolledPhone()
            let token = try await server.strongToken()
            let forged = try phone.attestation(by: phone.possessionKey)
            try expectDeviceError(
                await server.enroll(phone.enrollment(attestation: forged), token: token), 401, "E0000011", Self.invalidToken)
            let again = try await server.enroll(phone.enrollment(attestation: phone.attestation()), token: token)
            #expect(again.status == 200)
            #expect(try again.json["id"] == .string(phone.enrollmentID))
        }
    }

    @Test("The device API rejects a patch of a read-only member and a patch of an unknown enrollment")
    func patchErrors() async throws {
        try await DeviceServer.with { server in
            let phone = try await server.enrolledPhone()
            let token = try await server.strongToken()
            try expectDeviceError(
                await server.patch(phone.enrollmentID, ["id": "opf1"], token: token), 400, "E0000001",
                "Api validation failed: methods.push", causes: ["These members can not be changed: methods.push.id."])
            try expectDeviceError(
                await server.patch("pfd00000000000000000", ["pushToken": "AB"], token: token), 404, "E0000007",
                "Not found: there is no such enrollment.")
        }
    }
}
