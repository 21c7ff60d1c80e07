import AuthFoundation
import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAuthenticator

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The maintenance token (D7, Documentation/Protocol/Devices.md §2.10 and §3.8)")
struct MaintenanceTokenTests {
    @Test("A maintenance token request has the fields of Devices.md §2.10 in order, and each value is escaped once")
    func form() async throws {
        let phone = try TestPhone()
        let enrollment: any AuthenticatorEnrollmentProtocol = try await phone.enroll()
        let credential = try await enrollment.retrieveMaintenanceToken()
        #expect(credential.access_token == "maintenance-secret" && credential.token_type == "Bearer" && credential.expires_in == 3600)
        let request = try #require(phone.org.requests(.token).first)
        #expect(request.httpMethod == "POST")
        #expect(request.url?.absoluteString == "https://id.example.com/oauth2/v1/token")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/json")
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
        let body = String(decoding: try #require(request.httpBody), as: UTF8.self)
        let start =
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&client_id=client-1&scope=okta.myAccount.appAuthenticator.maintenance.manage&assertion="
        #expect(body.hasPrefix(start))
        let (header, claims) = try TestOrg.opened(String(body.dropFirst(start.count)), with: phone.org.registeredKeys())
        #expect(header["typ"] == "JWT")
        #expect(header["kid"] == (try phone.org.bodies(.enroll)[0]["methods"]?["push"]?["keys"]?["proofOfPossession"]?["kid"]))
        var json = claims.json
        json["jti"] = nil
        #expect(
            json == [
                "iss": "urn:okta:devices:app:authenticator", "aud": "https://id.example.com", "sub": "00u1", "methodEnrollmentId": "opf1",
                "iat": 1_800_000_000, "exp": 1_800_000_300, "nbf": 1_799_999_700,
            ])
    }

    @Test("A maintenance token request separates scopes by an escaped space, and each request has a new assertion")
    func scopes() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        for _ in 0..<2 { _ = try await enrollment.retrieveMaintenanceToken(scopes: ["a.manage", "b.read"]) }
        let bodies = phone.org.requests(.token).map { String(decoding: $0.httpBody ?? Data(), as: UTF8.self) }
        #expect(bodies.allSatisfy { $0.contains("&scope=a.manage%20b.read&") })
        #expect(bodies[0] != bodies[1])
        #expect(phone.verifier?.requests.isEmpty == true)
    }

    @Test("A rejected maintenance token request throws the OAuth error, and the error for an invalid response does not contain the token")
    func refusal() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        phone.org.answer(
            .token, .json(["error": "invalid_grant", "error_description": "The assertion was used."], status: 400),
            .text(#"{"access_token":"secret-token"}"#))
        let refused = await failure { try await enrollment.retrieveMaintenanceToken() }
        guard case .serverAPIError(let result, let model?)? = refused else {
            Issue.record("unexpected: \(String(describing: refused))")
            return
        }
        #expect(model.errorCode == nil && model.errorSummary == "invalid_grant: The assertion was used.")
        #expect(result.response?.statusCode == 400 && result.request?.httpBody == nil)
        let unreadable = await failure { try await enrollment.retrieveMaintenanceToken() }
        #expect(unreadable == .internalError("") && unreadable?.debugDescription.contains("secret-token") == false)
    }

    @Test(
        "A maintenance token whose lifetime is not an integer is rejected, and an integer lifetime is returned unchanged",
        arguments: [
            ("-1", -1), ("0", 0), ("9223372036854775807", Int.max), ("9223372036854775808", nil), ("1e300", nil), ("-1e300", nil),
            ("0.5", nil),
            ("1e400", nil), (#""NaN""#, nil), (#""3600""#, nil), ("true", nil), ("[1]", nil),
        ] as [(String, Int?)])
    func lifetime(written: String, value: Int?) async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        phone.org.answer(.token, .text(#"{"access_token":"secret-token","token_type":"Bearer","expires_in":\#(written)}"#))
        guard let value else {
            let error = await failure { try await enrollment.retrieveMaintenanceToken() }
            #expect(error == .internalError("") && error?.debugDescription.contains("secret-token") == false)
            return
        }
        #expect(try await enrollment.retrieveMaintenanceToken().expires_in == value)
    }

    @Test("If the enrollment's key is missing, retrieving a maintenance token fails without a request")
    func keyMissing() async throws {
        let phone = try TestPhone()
        let enrollment = try await phone.enroll()
        try FileDeviceKeyStore(directory: phone.folder.url).deleteKey(tag: enrollment.record.possessionKeyTag)
        #expect(await failure { try await enrollment.retrieveMaintenanceToken() }?.reason == .keyMissing)
        #expect(phone.org.requests(.token).isEmpty)
    }

    @Test("The app can retrieve a maintenance token and pull challenges with this token")
    func chained() async throws {
        let phone = try TestPhone()
        try await phone.enroll()
        phone.org.wait(with: try phone.org.challenge())
        let enrollment = try #require(try phone.authenticator.allEnrollments().first)
        let challenges = await withCheckedContinuation { (continuation: CheckedContinuation<[any PushChallengeProtocol], Never>) in
            enrollment.retrieveMaintenanceToken { result in
                guard case .success(let credential) = result else { return continuation.resume(returning: []) }
                enrollment.retrievePushChallenges(authenticationToken: .bearer(credential.access_token)) { result in
                    continuation.resume(returning: (try? result.get()) ?? [])
                }
            }
        }
        #expect(challenges.map(\.transactionId) == ["ft1"])
        #expect(phone.org.requests(.pending).first?.value(forHTTPHeaderField: "Authorization") == "Bearer maintenance-secret")
    }
}
