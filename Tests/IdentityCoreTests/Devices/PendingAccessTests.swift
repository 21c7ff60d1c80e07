import Foundation
import JOSE
import TestSupport
import Testing

@testable import DeviceAPI
@testable import IdentityCore

@Suite("Access to the pending challenges of a phone")
struct PendingAccessTests {
    private let org: PushFixture
    private let phone: Phone

    init() async throws {
        org = try await PushFixture()
        phone = try await org.enroll()
        _ = try await org.waiting()
    }

    private func list(
        _ authorization: DeviceAuthorization, of id: String? = nil, at seconds: TimeInterval = 15
    ) async throws -> Result<JSONValue, DeviceRefusal> {
        try await org.engine.pendingChallenges(
            enrollmentID: id ?? phone.enrollmentID, authorization: authorization, context: PushFixture.context(seconds))
    }

    private func token(_ scope: String, of login: String = PushFixture.jane) async throws -> DeviceAuthorization {
        .bearer(try await org.signIn(login, scope: scope, client: "phone-app", server: nil, at: 12).get().accessToken)
    }

    private func maintenanceToken(_ phone: Phone, _ scope: String) async throws -> DeviceAuthorization {
        let parameters = [
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "scope": scope, "assertion": try phone.assertion(at: 13).signed(),
        ]
        return .bearer(try await org.token(parameters, client: "phone-app", server: nil, at: 13).get().accessToken)
    }

    @Test(
        "The pending challenges of a phone can be listed with the phone's signature, its maintenance token or an access token of its user",
        arguments: DeviceFixture.allScopes)
    func permitted(scope: String) async throws {
        #expect(try await list(.ssws(phone.authorization(at: 14).signed())).get().arrayValue?.count == 1)
        if scope.contains("maintenance") {
            #expect(try await list(maintenanceToken(phone, scope)).get().arrayValue?.count == 1)
        } else if scope == DeviceFixture.read {
            #expect(try await list(token("openid \(scope)")).get().arrayValue?.count == 1)
        } else {
            // A token with this scope needs a second factor.
            let mfaToken = try await org.mfaToken(scope: "openid \(scope)", client: "phone-app", server: nil, at: 12)
            let code = try await org.challenge(mfaToken, client: "phone-app", server: nil, at: 12).get().secret()
            #expect(try await org.answer(phone, at: 13).get() == .approved)
            let tokens = try await org.poll(mfaToken, code, client: "phone-app", server: nil, at: 14).get()
            #expect(tokens.scopes == ["openid", scope])
            #expect(try await list(.bearer(tokens.accessToken)).get().arrayValue?.count == 1)
        }
    }

    @Test("Listing the pending challenges of another user's enrollment gets the same 404 as for an unknown enrollment")
    func others() async throws {
        let johns = try await token("openid \(DeviceFixture.read)", of: PushFixture.john)
        for id in [phone.enrollmentID, "pfd00000000000000000", "", String(repeating: "x", count: 5_000)] {
            let refused = try await list(johns, of: id)
            #expect(refused.code == "E0000007" && refused.status == 404)
            #expect(refused.why == "enrollment is unknown, or another user's")
        }
        let johnsPhone = try await org.enroll(PushFixture.john, at: 13)
        let signed = try await list(.ssws(johnsPhone.authorization(at: 14).signed()))
        #expect(signed.code == "E0000007" && signed.status == 404)
    }

    @Test(
        "Listing pending challenges with a token that lacks the required scope is rejected with 403",
        arguments: ["openid", "openid profile email"])
    func scopes(scope: String) async throws {
        let refused = try await list(token(scope))
        #expect(refused.code == "E0000006" && refused.status == 403)
        let line = try #require(try await org.log("device.challenge.list").last)
        #expect(line.outcome == .denied && line.reason == "E0000006: scope is missing" && line.userID == phone.userID)
    }

    @Test(
        "The server rejects with 403 a phone's request for the pending challenges of another phone of the same user",
        arguments: [DeviceFixture.maintenanceManage, DeviceFixture.maintenanceRead])
    func otherPhone(scope: String) async throws {
        let answered = try await org.answer(phone, at: 12).get()
        #expect(answered == .approved)
        let second = try await org.enroll(existing: phone, at: 13)
        let maintenance = try await maintenanceToken(second, scope)
        for authorization in [maintenance, .ssws(try second.authorization(at: 14).signed())] {
            let refused = try await list(authorization)
            #expect(refused.code == "E0000006" && refused.status == 403)
            #expect(refused.why == "token of another enrollment")
        }
        #expect(try await list(maintenance, of: second.enrollmentID).get().arrayValue?.isEmpty == true)
    }

    @Test("Listing pending challenges without a token, or with a token that is not an access token, is rejected with 401")
    func noToken() async throws {
        let tokens = try await org.signIn(scope: "openid offline_access", client: "phone-app", server: nil, at: 12).get()
        for authorization in [
            DeviceAuthorization.none, .bearer(""), .bearer(tokens.idToken ?? ""), .bearer(tokens.refreshToken ?? ""),
            .bearer(try phone.authorization(at: 14).signed()), .ssws(tokens.accessToken),
        ] {
            let refused = try await list(authorization)
            #expect(refused.code == "E0000011" && refused.status == 401)
        }
    }

    @Test("The list of a phone's pending challenges contains no expired, answered or cancelled challenge")
    func over() async throws {
        #expect(try await org.pending(phone, at: 310.9).count == 1)
        #expect(try await org.pending(phone, at: 311).isEmpty)
        let second = try await org.waiting(at: 400)
        #expect(try await org.pending(phone, at: 402).count == 1)
        try await org.revoke(second.oobCode, at: 403)
        #expect(try await org.pending(phone, at: 404).isEmpty)
        _ = try await org.waiting(at: 405)
        _ = try await org.answer(phone, consent: "DENIED_CONSENT_PROMPT", at: 407).get()
        #expect(try await org.pending(phone, at: 408).isEmpty)
    }
}
