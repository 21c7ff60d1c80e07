import CountersignSandbox
import Foundation
import JOSE
import TestSupport
import Testing

/// Tests the findings of `countersign doctor`.
extension CommandTests {
    struct Plist: Sendable, CustomTestStringConvertible {
        let name: String
        let issuer: String?
        var clientID = "password-app"
        var redirectURI: String?
        var scopes = "openid offline_access"
        let status: Int32
        let says: String
        var testDescription: String { name }
    }

    static let plists = [
        Plist(name: "right", issuer: nil, status: 0, says: "password-app may use the password grant"),
        Plist(name: "placeholder", issuer: "https://{yourOktaDomain}/oauth2/default", status: 1, says: "placeholder"),
        Plist(name: "unreachable", issuer: "http://127.0.0.1:1/oauth2/default", status: 1, says: "Discovery"),
        Plist(name: "plain http", issuer: "http://id.example.com/oauth2/default", status: 1, says: "https"),
        Plist(name: "unknown client", issuer: nil, clientID: "unknown-app", status: 1, says: "does not know the client unknown-app"),
        Plist(name: "client with a secret", issuer: nil, clientID: "service-app", status: 1, says: "or the client needs a secret"),
        Plist(
            name: "grant not allowed", issuer: nil, clientID: "refresh-app", status: 1,
            says: "Grant: The client refresh-app may not use the password grant."),
        Plist(
            name: "no rule with the grant", issuer: nil, clientID: "ruleless-app", status: 0,
            says: "To check the access rules and the app's assignment too, name a user with --user."),
        Plist(
            name: "browser", issuer: nil, clientID: "browser-app", redirectURI: "http://127.0.0.1/callback", status: 0,
            says: "Browser: browser-app can sign users in with the browser, and the redirect goes to http://127.0.0.1/callback."),
        Plist(
            name: "browser alone", issuer: nil, clientID: "browser-app", redirectURI: "http://127.0.0.1/callback", status: 0,
            says: "Grant: browser-app signs in only with the browser."),
        Plist(
            name: "other redirect URI", issuer: nil, clientID: "browser-app", redirectURI: "http://127.0.0.1/other", status: 1,
            says: "Browser: The issuer refuses the sign-in with invalid_request: The application asked to return to an address that is not"),
        Plist(
            name: "unknown scope in a browser", issuer: nil, clientID: "browser-app", redirectURI: "http://127.0.0.1/callback",
            scopes: "openid nosuch", status: 1,
            says: "Scopes: The issuer does not know one of the scopes, or does not give it to browser-app."),
        Plist(
            name: "browser and unknown client", issuer: nil, clientID: "unknown-app", redirectURI: "http://127.0.0.1/callback", status: 1,
            says: "Browser: The issuer does not know the client unknown-app"),
        Plist(
            name: "neither way", issuer: nil, clientID: "refresh-app", redirectURI: "http://127.0.0.1/callback", status: 1,
            says: "Grant: The client refresh-app may not use the password grant."),
    ]

    /// Applications that each lack one requirement of a password sign-in.
    private static let organization = """
        \(OrganizationText.head(name: "Doctor", group: "Staff"))
              - name: Refreshing only
                clients: [ruleless-app]
                rules: [{name: Refresh, grant_types: [refresh_token]}]
              - name: Passwords
                clients: [password-app, refresh-app, staff-app, directauth-app, service-app]
                rules: [{name: All, grant_types: [password, refresh_token]}]
        applications:
          - {id: password-app, grant_types: [password, refresh_token], assignment: everyone, sign_on_policy: one-factor}
          - {id: refresh-app, grant_types: [refresh_token], assignment: everyone, sign_on_policy: one-factor}
          - {id: ruleless-app, grant_types: [password, refresh_token], assignment: everyone, sign_on_policy: one-factor}
          - {id: staff-app, grant_types: [password, refresh_token], assignment: {groups: [Staff]}, sign_on_policy: one-factor}
          - {id: directauth-app, grant_types: [password, mfa-oob], assignment: everyone, sign_on_policy: two-factors}
          - id: browser-app
            grant_types: [authorization_code, refresh_token]
            redirect_uris: ["http://127.0.0.1/callback"]
            assignment: everyone
            sign_on_policy: one-factor
          - id: service-app
            type: service
            authentication: client_secret_basic
            secret: service-app-secret
            grant_types: [client_credentials]
        users:
          - {login: jane.doe@example.com, password: Correct-Horse-7}
        """

    @Test(
        "countersign doctor finds configuration problems, with the same result for an Okta.plist and for flags with the same values",
        arguments: plists)
    func doctor(_ plist: Plist) async throws {
        try await withSandbox(.init(organization: Self.organization)) { sandbox in
            let folder = try TemporaryFolder()
            var values = [
                "issuer": plist.issuer ?? sandbox.issuer.absoluteString, "clientId": plist.clientID, "scopes": plist.scopes,
            ]
            values["redirectUri"] = plist.redirectURI
            let file = folder.url.appending(path: "Okta.plist")
            try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0).write(to: file)
            let flags =
                ["doctor", "--issuer", values["issuer"] ?? "", "--client-id", plist.clientID, "--scopes", plist.scopes]
                + (plist.redirectURI.map { ["--redirect-uri", $0] } ?? [])
            for arguments in [["doctor", file.path()], flags] {
                let ended = try await Command.run(arguments)
                #expect(ended.status == plist.status, "\(ended.output)")
                #expect(ended.output.contains(plist.says), "\(ended.output)")
            }
        }
    }

    struct Trial: Sendable, CustomTestStringConvertible {
        let clientID: String
        var password = "Correct-Horse-7"
        let check: String
        let result: String
        let says: String
        var testDescription: String { "\(clientID): \(check)" }
    }

    static let trials = [
        Trial(clientID: "password-app", check: "Sign-in", result: "right", says: "jane.doe@example.com can sign in."),
        Trial(clientID: "password-app", password: "wrong-password", check: "Password", result: "wrong", says: "jane.doe@example.com"),
        Trial(
            clientID: "ruleless-app", check: "Policy", result: "wrong",
            says: "Policy evaluation failed for this request: no access policy rule allows it."),
        Trial(clientID: "staff-app", check: "Policy", result: "wrong", says: "You are not allowed to sign in to this application."),
        Trial(
            clientID: "directauth-app", check: "Policy", result: "wrong",
            says: "This application needs a second factor, and none can be used."),
        Trial(clientID: "refresh-app", check: "Grant", result: "wrong", says: "may not use the password grant"),
    ]

    @Test(
        "With --user, countersign doctor distinguishes password, assignment, policy and grant problems, and revokes the tokens of its sign-in",
        arguments: trials)
    func doctorSignsIn(_ trial: Trial) async throws {
        try await withSandbox(.init(organization: Self.organization)) { sandbox in
            let ended = try await Command.run(
                [
                    "doctor", "--issuer", sandbox.issuer.absoluteString, "--client-id", trial.clientID, "--user", "jane.doe@example.com",
                    "--json",
                ], input: trial.password + "\n")
            #expect(ended.status == (trial.result == "right" ? 0 : 1), "\(ended.output)")
            let answer = try JSONValue(parsing: ended.output.trimmingCharacters(in: .newlines))
            let last = try #require(answer["findings"]?.arrayValue?.last)
            #expect(last["check"]?.stringValue == trial.check)
            #expect(last["result"]?.stringValue == trial.result)
            #expect(last["text"]?.stringValue?.contains(trial.says) == true, "\(ended.output)")
            #expect(!(ended.output + ended.errors).contains(trial.password))
            #expect(sandbox.count(.revoke) == (trial.result == "right" ? 2 : 0))
        }
    }

    @Test(
        "countersign doctor reports an untrusted certificate, or an http issuer whose server accepts only https, and suggests countersign trust",
        .timeLimit(.minutes(5)))
    func doctorCertificate() async throws {
        let folder = try TemporaryFolder()
        let sandbox = try Command.start(
            ["sandbox", "--tls", "--https-port", "0", "--messages-port", "0", "--phone-port", "0", "--data", folder.path + "data"],
            environment: ["HOME": folder.path, "XDG_DATA_HOME": ""])
        let text = try await sandbox.waitFor("Press Ctrl-C to stop.")
        let issuer = String(try #require(text.firstMatch(of: /Issuer +(https:\S+)/)?.1, "\(text)"))
        let untrusted = try await Command.run(["doctor", "--issuer", issuer, "--client-id", "password-app"])
        #expect(untrusted.status == 1 && untrusted.output.contains("Certificate: This machine does not trust"), "\(untrusted.output)")
        #expect(untrusted.output.contains("`countersign trust`"))
        let plain = issuer.replacing("https://", with: "http://")
        let mixedUp = try await Command.run(["doctor", "--issuer", plain, "--client-id", "password-app"])
        #expect(
            mixedUp.status == 1 && mixedUp.output.contains("speaks https and not http. Write the issuer with https://."),
            "\(mixedUp.output)")
        #expect(mixedUp.output.contains("`countersign trust`"))
        sandbox.interrupt()
        #expect(await sandbox.end().status == 0)
    }

    @Test("countersign doctor reports an https issuer whose server accepts only http", .timeLimit(.minutes(5)))
    func doctorPlainServer() async throws {
        try await withSandbox { sandbox in
            let issuer = sandbox.issuer.absoluteString.replacing("http://", with: "https://")
            let ended = try await Command.run(["doctor", "--issuer", issuer, "--client-id", "password-app"])
            #expect(ended.status == 1)
            #expect(ended.output.contains("speaks http and not https. Write the issuer with http://"), "\(ended.output)")
        }
    }

    @Test(
        "countersign doctor keeps an issuer's trailing slash, and reports an issuer that differs only in the trailing slash",
        .timeLimit(.minutes(5)))
    func doctorTrailingSlash() async throws {
        let document = { @Sendable (issuer: String) in
            #"{"issuer":"\#(issuer)","authorization_endpoint":"http://127.0.0.1:9/a","token_endpoint":"http://127.0.0.1:9/t","jwks_uri":"http://127.0.0.1:9/k","response_types_supported":["code"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["RS256"]}"#
        }
        let server = try HostileServer { head in
            let port = head.firstMatch(of: /Host: 127.0.0.1:(\d+)/)?.1 ?? ""
            guard head.hasPrefix("GET /.well-known/") else { return .bytes("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") }
            let body = document("http://127.0.0.1:\(port)/")
            return .bytes("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        }
        let issuer = "http://127.0.0.1:\(server.port)"
        let same = try await Command.run(["doctor", "--issuer", issuer + "/", "--client-id", "app"])
        #expect(same.output.contains("client app of \(issuer)/\n"), "\(same.output)")
        #expect(same.output.contains("Discovery: the issuer answers"), "\(same.output)")
        let other = try await Command.run(["doctor", "--issuer", issuer, "--client-id", "app"])
        #expect(other.output.contains("differ in the slash at the end"), "\(other.output)")
    }

    @Test(
        "countersign doctor accepts a public browser client even if the issuer responds to prompt=none with a page", .timeLimit(.minutes(5))
    )
    func doctorPageForPromptNone() async throws {
        let issuer = try HostileIssuer(refuses: true, tokenError: "unsupported_grant_type")
        let ended = try await Command.run(
            ["doctor", "--redirect-uri", "http://127.0.0.1/callback", "--json"] + issuer.arguments)
        #expect(ended.status == 0, "\(ended.output)")
        let findings = try JSONValue(parsing: ended.output.trimmingCharacters(in: .newlines))["findings"]?.arrayValue ?? []
        let results = Dictionary(findings.map { ($0["check"]?.stringValue ?? "", $0["result"]?.stringValue) }) { first, _ in first }
        #expect(results["Browser"] == "right" && results["Grant"] == "right", "\(ended.output)")
    }

    @Test("With --user but no password in the input, countersign doctor reports that the password is missing")
    func doctorWithoutPassword() async throws {
        let ended = try await Command.run(
            ["doctor", "--issuer", "http://127.0.0.1:1/oauth2/default", "--client-id", "app", "--user", "jane.doe@example.com"])
        #expect(ended.status == 1)
        #expect(ended.errors.contains("The password is missing."))
    }

    @Test(
        "countersign doctor rejects --issuer without --client-id, and a property list together with flags",
        arguments: [["--issuer", "https://id.example.com"], ["a.plist", "--issuer", "https://id.example.com", "--client-id", "app"]])
    func doctorArguments(_ arguments: [String]) async throws {
        let ended = try await Command.run(["doctor"] + arguments)
        #expect(ended.status == 64)
        #expect(ended.errors.contains("both --issuer and --client-id"))
    }

    @Test("countersign doctor reports a machine clock that is behind the issuer's clock")
    func doctorClock() async throws {
        try await withSandbox(.init(clock: SandboxClock(startingAt: Date().addingTimeInterval(3600)))) { sandbox in
            let folder = try TemporaryFolder()
            let values = ["issuer": sandbox.issuer.absoluteString, "clientId": "password-app", "scopes": "openid offline_access"]
            let file = folder.url.appending(path: "Okta.plist")
            try PropertyListSerialization.data(fromPropertyList: values, format: .xml, options: 0).write(to: file)
            let ended = try await Command.run(["doctor", file.path()])
            #expect(ended.status == 1)
            #expect(ended.output.contains("behind the issuer's"))
        }
    }
}
