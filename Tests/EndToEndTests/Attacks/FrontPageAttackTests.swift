import CountersignSandbox
import Delivery
import Foundation
import JOSE
import TestSupport
import Testing

/// Attacks on the front page by a web page in the developer's browser, or by hostile content of the sandbox.
@Suite("Attacks: the sandbox's front page", .timeLimit(.minutes(5)))
struct FrontPageAttackTests {
    private static let browser = ["Accept": "text/html"]

    @Test("After DNS rebinding, a web page can read neither the sandbox's front page nor an Okta.plist")
    func reboundName() async throws {
        try await withSandbox { sandbox in
            let port = try #require(sandbox.origin.port)
            for path in ["/", "/sandbox", "/sandbox/", "/sandbox/home.css", "/sandbox/applications/password-app/Okta.plist"] {
                for host in ["evil.example.com:\(port)", "localhost.evil.example.com:\(port)", "127.0.0.1:\(port + 1)", "localhost"] {
                    let answer = try await sandbox.send("GET", path, headers: Self.browser.merging(["Host": host]) { $1 })
                    #expect(answer.status == 403, "\(path) at \(host)")
                    #expect(!answer.text.contains("Correct-Horse-7"))
                }
            }
            let answer = try await sandbox.send("GET", "/", headers: Self.browser.merging(["Host": "localhost:\(port)"]) { $1 })
            #expect(answer.status == 200)
        }
    }

    @Test("A web page of another origin can read neither the sandbox's front page nor an Okta.plist")
    func otherOrigin() async throws {
        try await withSandbox { sandbox in
            for path in ["/", "/sandbox/applications/password-app/Okta.plist"] {
                let answer = try await sandbox.send(
                    "GET", path, headers: ["Accept": "application/json", "Origin": "https://evil.example.com"])
                #expect(answer.status == 403)
                #expect(answer.header("Access-Control-Allow-Origin") == nil)
            }
        }
    }

    @Test("The sandbox's front page contains no script, forbids framing and caching, and allows only its own style sheet")
    func headers() async throws {
        try await withSandbox { sandbox in
            let page = try await sandbox.send("GET", "/", headers: Self.browser)
            let policy = page.header("Content-Security-Policy") ?? ""
            let directives = Set(policy.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) })
            #expect(
                directives == [
                    "default-src 'none'", "style-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
                    "frame-ancestors 'none'",
                ])
            #expect(page.header("X-Frame-Options") == "DENY")
            #expect(page.header("Cache-Control") == "no-store")
            #expect(page.header("X-Content-Type-Options") == "nosniff")
            #expect(page.header("Referrer-Policy") == "no-referrer")
            #expect(page.header("Cross-Origin-Resource-Policy") == "same-origin")
            #expect(page.header("Cross-Origin-Opener-Policy") == "same-origin")
            #expect(!page.text.contains("<script") && !page.text.contains("style=") && !page.text.contains(" on" + "click"))
        }
    }

    @Test("The sandbox's front page escapes markup in names, passwords, client IDs and messages, and each Okta.plist stays valid")
    func markup() async throws {
        let evil = #""><script>alert(1)</script><b title='"#
        try await withSandbox { sandbox in
            let added = try await sandbox.control(
                "POST", "users",
                ["login": "x'\"<b>@example.com", "password": .string("Pass-1" + evil), "profile": ["name": .string(evil)]])
            #expect(added.status == 200, "\(added.text)")
            let created = try await sandbox.control(
                "POST", "applications",
                [
                    "id": "evil'<&>\"$(id)", "name": .string(evil), "sign_on_policy": "one-factor", "grant_types": ["authorization_code"],
                    "redirect_uris": ["com.evil:/?a=<b>&c='"],
                ])
            #expect(created.status == 200, "\(created.text)")
            try await sandbox.addCodeFactor(.text, to: "+15551234821", for: "x'\"<b>@example.com")
            _ = try await sandbox.send(
                "POST", "/api/v1/authn/recovery/password",
                Data((["username": "x'\"<b>@example.com", "factorType": "EMAIL"] as JSONValue).serialized()),
                headers: ["Content-Type": "application/json"])
            let page = try await sandbox.send("GET", "/", headers: Self.browser)
            #expect(page.status == 200)
            #expect(!page.text.contains("<script") && !page.text.contains("<b>") && !page.text.contains("<b title"))
            #expect(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
            #expect(page.text.contains("evil&#39;&lt;&amp;&gt;&quot;$(id)"))
            for application in sandbox.applications {
                let id = application.clientID.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let list = try await sandbox.send("GET", "/sandbox/applications/\(id)/Okta.plist")
                #expect(list.status == 200, "\(id)")
                #expect(throws: Never.self, "\(list.text)") { _ = try PropertyListSerialization.propertyList(from: list.body, format: nil) }
            }
        }
    }

    // The number of quotes is even. If they were not escaped, a shell would run the text between them.
    @Test(
        "A user name with quotes can't inject shell code into the curl commands that the sandbox's front page shows",
        arguments: ["a'$(touch${IFS}pwned)'b@example.com", "a'`touch${IFS}pwned`\"'\"b@example.com"])
    func shell(login: String) async throws {
        let folder = try TemporaryFolder()
        try await withSandbox(.init(host: "localhost", users: [SandboxUser(login: login, password: "Correct-Horse-7")])) { sandbox in
            let json = try await sandbox.send("GET", "/", headers: ["Accept": "application/json"]).json
            let lines = (json["control_api"]?.arrayValue ?? []).compactMap { $0["curl"]?.stringValue }.filter { $0.contains("touch") }
            #expect(!lines.isEmpty)
            for line in lines {
                _ = try await ChildProcess.run(
                    URL(filePath: "/bin/sh"), ["-c", "cd '\(folder.url.path)' && \(line) --max-time 1 -sS -o /dev/null"], input: "",
                    environment: [:])
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        }
    }
}
