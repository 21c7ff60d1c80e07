import CountersignSandbox
import Delivery
import Foundation
import JOSE
import TestSupport
import Testing

@Suite("Creating applications and users with the sandbox's control API", .timeLimit(.minutes(10)))
struct ControlAPICreationTests {
    @Test("A user can sign in to an application that the sandbox's control API created, and a reset removes the application")
    func application() async throws {
        try await withSandbox { sandbox in
            let created = try await sandbox.control(
                "POST", "applications",
                [
                    "id": "test-app", "name": "Test App", "type": "native", "grant_types": ["password", "refresh_token"],
                    "assignment": "everyone", "sign_on_policy": "one-factor",
                ])
            #expect(created.status == 200, "\(created.text)")
            let ids = created.json["applications"]?.arrayValue?.compactMap { $0["client_id"]?.stringValue }
            #expect(ids?.last == "test-app" && ids?.contains("password-app") == true, "\(created.text)")
            #expect(sandbox.applications.contains(SandboxApplication(clientID: "test-app")))
            #expect(try await sandbox.control("GET", "applications").json == created.json)
            let form = [
                "grant_type": "password", "client_id": "test-app", "username": "jane.doe@example.com", "password": "Correct-Horse-7",
                "scope": "openid",
            ]
            #expect(try await sandbox.token(form).status == 200)
            _ = try await sandbox.control("POST", "reset")
            #expect(try await sandbox.token(form).status == 401)
            #expect(!sandbox.applications.contains { $0.clientID == "test-app" })
        }
    }

    @Test("Creating an application with the id of an existing application replaces that application")
    func replacement() async throws {
        try await withSandbox { sandbox in
            for secret in ["first-secret-0123456789", "second-secret-0123456789"] {
                let created = try await sandbox.control(
                    "POST", "applications",
                    [
                        "id": "job", "type": "service", "authentication": "client_secret_post", "secret": .string(secret),
                        "grant_types": ["client_credentials"],
                    ])
                #expect(created.status == 200, "\(created.text)")
            }
            let form = ["grant_type": "client_credentials", "client_id": "job", "scope": "messages.read"]
            #expect(try await sandbox.token(form.merging(["client_secret": "first-secret-0123456789"]) { $1 }).status == 401)
            let answer = try await sandbox.token(form.merging(["client_secret": "second-secret-0123456789"]) { $1 })
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test("The sandbox's control API returns an activation token for a staged user, and the token starts an activation in the classic API")
    func stagedUser() async throws {
        try await withSandbox { sandbox in
            let created = try await sandbox.control("POST", "users", ["login": "staged@example.com", "status": "staged"])
            #expect(created.status == 200, "\(created.text)")
            let user = created.json["users"]?.arrayValue?.first { $0["login"] == "staged@example.com" }
            #expect(user?["status"] == "staged")
            let given = try await sandbox.control("POST", "activation-tokens", ["login": "staged@example.com"])
            #expect(given.status == 200, "\(given.text)")
            let token = try #require(given.json["activation_token"]?.stringValue)
            let begun = try await sandbox.send(
                "POST", "/api/v1/authn", Data((["token": .string(token)] as JSONValue).serialized()),
                headers: ["Content-Type": "application/json", "Accept": "application/json"])
            #expect(begun.status == 200 && begun.json["status"]?.stringValue?.hasPrefix("PASSWORD") == true, "\(begun.text)")
        }
    }

    @Test("For a user without a password, the sandbox's control API can send an activation mail, which appears in the outbox")
    func activationMail() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.control("POST", "users", ["login": "invited@example.com"])
            let answer = try await sandbox.control("POST", "activation-tokens", ["login": "invited@example.com", "mail": true])
            #expect(answer.status == 200 && answer.json["activation_token"] == nil, "\(answer.text)")
            let mail = try await sandbox.outbox.next(to: "invited@example.com", by: .mail)
            #expect(mail.link != nil)
        }
    }

    @Test("GET /sandbox/users returns the status of each user, and no password")
    func statuses() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.control(
                "POST", "users", ["login": "away@example.com", "password": "Long-Enough-1", "status": "suspended"])
            let users = try await sandbox.control("GET", "users")
            let statuses = users.json["users"]?.arrayValue?.compactMap { $0["status"]?.stringValue }
            #expect(statuses == ["active", "active", "suspended"])
            #expect(!users.text.contains("Long-Enough-1"))
            #expect(try await sandbox.passwordGrant("away@example.com", "Long-Enough-1").status == 400)
        }
    }
}
