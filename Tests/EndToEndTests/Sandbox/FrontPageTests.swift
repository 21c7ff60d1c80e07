import AuthFoundation
import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests `GET /` of a sandbox.
@Suite("The sandbox's front page", .timeLimit(.minutes(10)))
struct FrontPageTests {
    private static let browser = ["Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"]

    @Test(
        "The sandbox's front page shows users with passwords, applications, the date, and links to the outbox, the phone page and the messages API"
    )
    func content() async throws {
        try await withSandbox(.init(host: "localhost", messagesPort: 0, phonePort: 0)) { sandbox in
            _ = try await sandbox.phone(for: "jane.doe@example.com")
            let page = try await sandbox.send("GET", "/", headers: Self.browser)
            #expect(page.status == 200)
            #expect(page.header("Content-Type") == "text/html; charset=utf-8")
            for user in sandbox.users {
                #expect(page.text.contains(user.login) && page.text.contains(user.password ?? "-"))
            }
            for application in sandbox.applications {
                #expect(page.text.contains("/sandbox/applications/\(application.clientID)/Okta.plist"), "\(application.clientID)")
            }
            for link in [
                "/sandbox/outbox", try #require(sandbox.phoneURL).absoluteString, try #require(sandbox.messagesURL).absoluteString,
                sandbox.issuer.absoluteString,
            ] {
                #expect(page.text.contains(link), "\(link)")
            }
            let date = try await sandbox.control("GET", "clock").json["date"]?.stringValue ?? "-"
            #expect(page.text.contains(date.prefix(10)))
            let shown = try await sandbox.send("GET", "/", headers: ["Accept": "application/json"]).json
            let calls = try #require(shown["control_api"]?.arrayValue)
            #expect(calls.count > 20)
            var text = page.text
            for (entity, character) in [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")] {
                text = text.replacing(entity, with: character)
            }
            for call in calls {
                for name in ["method", "path", "summary", "curl"] {
                    let part = try #require(call[name]?.stringValue)
                    #expect(text.contains(part), "\(part)")
                }
            }
        }
    }

    @Test("Each curl command that the sandbox's front page shows is valid")
    func curlLines() async throws {
        try await withSandbox(.init(host: "localhost")) { sandbox in
            let shown = try await sandbox.send("GET", "/", headers: ["Accept": "application/json"]).json
            let calls = try #require(shown["control_api"]?.arrayValue)
            #expect(calls.count > 20)
            for call in calls {
                let line = try #require(call["curl"]?.stringValue)
                #expect(line.hasPrefix("curl ") && line.contains(sandbox.origin.absoluteString + "/sandbox/"), "\(line)")
                // The calls need a phone that approves requests. The reset runs last.
                _ = try await sandbox.control("POST", "reset")
                if line.contains("/phones/") { _ = try await sandbox.control("POST", "phones", ["login": "jane.doe@example.com"]) }
                if line.contains("authenticator-apps/") {
                    _ = try await sandbox.control("POST", "authenticator-apps", ["login": "jane.doe@example.com"])
                }
                if line.contains("activation-tokens") {
                    _ = try await sandbox.control("POST", "users", ["login": "new.user@example.com", "status": "staged"])
                }
                // These calls wait for a push or a message.
                let isAnswer = line.contains("/approve") || line.contains("/deny")
                let waiting = try await isAnswer ? PushSignIn(sandbox).begin() : nil
                defer { waiting?.cancel() }
                if line.contains("after=") {
                    let mail: JSONValue = ["username": "jane.doe@example.com", "factorType": "EMAIL"]
                    _ = try await sandbox.send(
                        "POST", "/api/v1/authn/recovery/password", Data(mail.serialized()), headers: ["Content-Type": "application/json"])
                }
                let ended = try await ChildProcess.run(
                    URL(filePath: "/bin/sh"), ["-c", line + " -sS -o /dev/null -w '%{http_code}'"], input: "", environment: [:])
                #expect(ended.output == "200", "\(line): \(ended.output) \(ended.errors)")
            }
        }
    }

    @Test("A request with Accept: application/json gets the content of the sandbox's front page as JSON")
    func json() async throws {
        try await withSandbox(.init(host: "localhost", messagesPort: 0, phonePort: 0)) { sandbox in
            _ = try await sandbox.phone(for: "jane.doe@example.com")
            let answer = try await sandbox.send("GET", "/", headers: ["Accept": "application/json"])
            let json = answer.json
            #expect(json["issuer"] == .string(sandbox.issuer.absoluteString))
            let users = try #require(json["users"]?.arrayValue)
            #expect(users.map { $0["login"] } == ["jane.doe@example.com", "john.roe@example.com"])
            #expect(users.map { $0["password"] } == ["Correct-Horse-7", "Battery-Staple-9"])
            #expect(users.map { $0["has_phone"] } == [true, false])
            #expect(json["applications"]?.arrayValue?.count == sandbox.applications.count)
            #expect(json["phones_page"] == .string(try #require(sandbox.phoneURL).absoluteString))
            #expect(json["resource_server"] == .string(try #require(sandbox.messagesURL).absoluteString))
            #expect(json["clock"]?["mode"] == "running" && json["outbox"]?["count"] == 0)
            #expect(answer.header("Vary")?.contains("Accept") == true)
        }
    }

    @Test("The SDK can load the sandbox's Okta.plist of each application, and can sign in with the Okta.plist of password-app")
    func propertyLists() async throws {
        try await withSandbox(.init(host: "localhost")) { sandbox in
            let folder = try TemporaryFolder()
            for application in sandbox.applications {
                let answer = try await sandbox.send("GET", "/sandbox/applications/\(application.clientID)/Okta.plist")
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.header("Content-Disposition")?.contains("Okta.plist") == true)
                let file = try folder.write(answer.text, to: "Okta.plist")
                let settings = try OAuth2Client.PropertyListConfiguration(plist: URL(filePath: file))
                #expect(settings.clientId == application.clientID)
                #expect(settings.issuerURL.absoluteString.hasPrefix(sandbox.origin.absoluteString))
                if ["browser-app", "sso-app"].contains(application.clientID) {
                    #expect(settings.redirectUri?.scheme?.hasPrefix("com.example.") == true && settings.logoutRedirectUri != nil)
                }
                if application == .password {
                    let client = try OAuth2Client(settings)
                    _ = try await sandbox.signIn(with: client)
                }
            }
            #expect(try await sandbox.send("GET", "/sandbox/applications/unknown/Okta.plist").status == 404)
        }
    }

    @Test("The paths /sandbox and /sandbox/ redirect to the sandbox's front page")
    func redirects() async throws {
        try await withSandbox { sandbox in
            for path in ["/sandbox", "/sandbox/"] {
                let answer = try await sandbox.send("GET", path, headers: Self.browser)
                #expect(answer.status == 302 && answer.header("Location") == "/", "\(answer.text)")
            }
        }
    }

    @Test("The sandbox's front page shows users and applications that the control API created")
    func created() async throws {
        try await withSandbox { sandbox in
            _ = try await sandbox.control("POST", "users", ["login": "zoe@example.com", "password": "Long-Enough-1"])
            _ = try await sandbox.control(
                "POST", "applications",
                ["id": "brand-new", "name": "Brand New", "sign_on_policy": "one-factor", "grant_types": ["password"]])
            let page = try await sandbox.send("GET", "/", headers: Self.browser).text
            #expect(page.contains("zoe@example.com") && page.contains("Long-Enough-1") && page.contains("Brand New"))
            #expect(!page.contains("FrontPageView"), "A value without a text of its own is shown.")
        }
    }
}
