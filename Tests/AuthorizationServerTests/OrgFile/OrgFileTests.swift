import Foundation
import JOSE
import Testing

@testable import AuthorizationServer
@testable import IdentityCore

@Suite("Org file")
struct OrgFileTests {
    @Test("The file that the init command writes loads unchanged")
    func template() throws {
        let organization = try OrgFile.load(yaml: OrgFile.template).organization
        #expect(organization.origin == "http://localhost:8080")
        #expect(organization.authorizationServers.map(\.id) == [nil, "default"])
        #expect(organization.applications.map(\.id) == ["mobile-app"])
        #expect(organization.applications.first?.refreshTokenRotation == .rotate(leeway: 30))
        #expect(organization.passwordPolicy == PasswordPolicy())
        #expect(organization.rateLimits == RateLimits())
        #expect(organization.keyRotation == KeyRotation())
        #expect(organization.users.isEmpty)
    }

    @Test("The file that the init command writes loads with its commented examples enabled")
    func templateExamples() throws {
        let template = OrgFile.template.replacing("users: []\n", with: "").replacing("authenticators: []\n", with: "")
        let uncommented = template.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let hash = line.firstIndex(of: "#"), line[..<hash].allSatisfy({ $0 == " " }),
                let next = line[line.index(after: hash)...].first, next != " " || line[hash...].hasPrefix("#  ")
            else { return String(line) }
            return String(line[..<hash]) + String(line[line.index(after: hash)...])
        }.joined(separator: "\n")
        let key = try #require(try SigningKey.generate(.es256).privatePEM)
        let folder = FileManager.default.temporaryDirectory.appending(path: "template-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8).write(to: folder.appending(path: "logo.svg"))
        try Data("5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8:3\n".utf8).write(to: folder.appending(path: "breached.txt"))
        let path = folder.appending(path: "org.yaml")
        try Data(uncommented.utf8).write(to: path)
        let file = try OrgFile.load(
            path: path.path,
            environment: [
                "REPORTS_SECRET": "a-secret-of-some-length", "WEB_APP_SECRET": "another-secret-of-some-length",
                "JANES_FIRST_PASSWORD": "Correct-Horse-7",
                "JANES_SEED": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "JANES_TOTP_SECRET": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "APNS_KEY": key,
                "SMTP_PASSWORD": "mail-password", "HOOK_SECRET": "hook-secret", "HOOK_KEY": "hook-key",
                "PORTAL_TOKEN": "0123456789abcdef0123456789abcdef",
            ])
        #expect(file.server["tls-certificate"] == "certificate.pem")
        #expect(file.breachedPasswords.rangeURL == "https://api.pwnedpasswords.com/range" && file.breachedPasswords.timeout == 2)
        #expect(file.breachedPasswords.file?.hasSuffix("/breached.txt") == true)
        #expect(
            file.messages
                == MessageSettings(
                    mail: .init(
                        host: "smtp.example.com", port: 587, user: "post@example.com", password: "mail-password",
                        from: "no-reply@example.com", fromName: "Example"),
                    telephony: .init(
                        url: "https://hooks.example.com/telephony", secret: "hook-secret", signingKey: "hook-key")))
        #expect(!"\(file.messages)".contains("password"))
        #expect(file.organization.applications.map(\.id) == ["mobile-app", "reports", "orders-api", "web-app", "phone-app"])
        #expect(file.organization.applications.map(\.dpopBoundAccessTokens) == [true, false, false, false, false])
        #expect(file.organization.applications[1].secret == "a-secret-of-some-length")
        #expect(file.organization.authenticators.map(\.clientID) == ["phone-app"])
        #expect(file.organization.authenticators.first?.credentials?.privateKey == key)
        #expect(file.organization.users.first?.password == "Correct-Horse-7")
        #expect(file.organization.users.first?.hardwareDevice?.credentialID == "4711-0815")
        #expect(
            file.organization.classic?.trustedCallers == [
                .init(name: "portal", token: "0123456789abcdef0123456789abcdef", gateways: ["10.0.0.0/8"])
            ])
        #expect(file.organization.authorizationServers.last?.accessPolicies.first?.clients == ["mobile-app"])
    }

    @Test("The sandbox's org file has the expected applications, policies, scopes and users")
    func sandbox() throws {
        let organization = try OrgFile.load(yaml: OrgFile.sandboxDefault, origin: "http://localhost:51234").organization
        #expect(organization.origin == "http://localhost:51234")
        #expect(
            organization.applications.map(\.id) == [
                "password-app", "directauth-app", "browser-app", "sso-app", "sso-app-2", "web-app", "phone-app", "service-app",
            ])
        #expect(
            organization.applications.map(\.signOnPolicy) == [
                "one-factor", "two-factors", "two-factors", "one-factor", "one-factor", "one-factor", "one-factor", "",
            ])
        #expect(organization.applications.last?.secret == "service-app-secret")
        #expect(organization.applications.first?.grantTypes == ["password", "refresh_token"])
        #expect(organization.applications[1].grantTypes.contains("http://auth0.com/oauth/grant-type/mfa-oob"))
        #expect(organization.authorizationServers.last?.audience == "api://default")
        #expect(organization.authorizationServers.last?.scopes.map(\.name) == ["messages.read"])
        #expect(organization.users.map(\.login) == ["jane.doe@example.com", "john.roe@example.com"])
        #expect(organization.users.map(\.password) == ["Correct-Horse-7", "Battery-Staple-9"])
        let jane = try #require(organization.users.first)
        #expect(jane.profile["email_verified"] == true)
        #expect(jane.profile["birthdate"] == "1990-04-12")
        #expect(jane.profile["address"]?["postal_code"] == "98052")
        #expect(jane.profile.count == 18)
    }

    private static let head = """
        name: Test
        origin: https://id.test

        """

    @Test("Org file values are read from the environment if they are written as ${NAME} or env:NAME")
    func environment() throws {
        let yaml = """
            name: ${NAME}
            origin: env:ORIGIN
            applications:
              - id: reports
                type: service
                authentication: client_secret_post
                secret: ${SECRET}
                grant_types: [client_credentials]
            """
        let file = try OrgFile.load(
            yaml: yaml, environment: ["NAME": "Named", "ORIGIN": "https://id.test", "SECRET": "a-secret-of-some-length"])
        #expect(file.organization.name == "Named" && file.organization.origin == "https://id.test")
        #expect(file.organization.applications.first?.secret == "a-secret-of-some-length")
    }

    @Test(
        "A short grant name in the org file is read as the full grant type",
        arguments: [
            ("oob", "urn:okta:params:oauth:grant-type:oob"), ("otp", "urn:okta:params:oauth:grant-type:otp"),
            ("mfa-oob", "http://auth0.com/oauth/grant-type/mfa-oob"), ("mfa-otp", "http://auth0.com/oauth/grant-type/mfa-otp"),
        ])
    func grantNames(short: String, full: String) throws {
        let yaml =
            Self.head + """
                sign_on_policies: [{name: p, rules: [{name: r, require: one_factor}]}]
                authorization_servers:
                  - id: default
                    audience: api://default
                    access_policies: [{name: p, rules: [{name: r, grant_types: [password, \(short)]}]}]
                applications:
                  - {id: by-short-name, grant_types: [\(short), refresh_token], sign_on_policy: p}
                  - {id: by-full-name, grant_types: ["\(full)", refresh_token], sign_on_policy: p}
                """
        let organization = try OrgFile.load(yaml: yaml).organization
        #expect(organization.applications.map(\.grantTypes) == [[full, "refresh_token"], [full, "refresh_token"]])
        #expect(organization.authorizationServers.last?.accessPolicies.first?.rules.first?.grantTypes == ["password", full])
    }

    @Test("An application can require DPoP-bound tokens, and DPoP nonces are required unless the file disables them")
    func boundTokens() throws {
        let yaml =
            Self.head + """
                sign_on_policies: [{name: p, rules: [{name: r, require: one_factor}]}]
                applications:
                  - {id: bound, grant_types: [password], sign_on_policy: p, dpop_bound_access_tokens: true}
                  - {id: free, grant_types: [password], sign_on_policy: p}
                """
        let organization = try OrgFile.load(yaml: yaml).organization
        #expect(organization.applications.map(\.dpopBoundAccessTokens) == [true, false])
        #expect(organization.dpop.requiresNonce)
        let without = try OrgFile.load(yaml: yaml + "\ndpop: {require_nonce: false}").organization
        #expect(!without.dpop.requiresNonce)
    }

    @Test("Token lifetimes in the org file are read with a unit or in seconds, and a refresh token lifetime can be unlimited")
    func times() throws {
        let yaml =
            Self.head + """
                authorization_servers:
                  - id: default
                    audience: api://default
                    access_policies:
                      - name: p
                        rules:
                          - name: r
                            access_token_lifetime: 30m
                            refresh_token_lifetime: 90 d
                            refresh_token_idle_lifetime: 86400
                          - name: forever
                            access_token_lifetime: 2h
                            refresh_token_lifetime: unlimited
                """
        let rules = try #require(OrgFile.load(yaml: yaml).organization.authorizationServers.last?.accessPolicies.first?.rules)
        #expect(rules.map(\.accessTokenLifetime) == [1_800, 7_200])
        #expect(rules.map(\.refreshTokenLifetime) == [7_776_000, nil])
        #expect(rules.map(\.refreshTokenIdleLifetime) == [86_400, 604_800])
    }

    @Test("Phone numbers, postal codes, names and values with leading zeros in a profile are read as strings")
    func profileTexts() throws {
        let yaml =
            Self.head + """
                users:
                  - login: jane
                    profile:
                      phone_number: +14255550123
                      name: 007
                      nickname: true
                      address: {postal_code: 10117, country: NO}
                      badge: 0042
                      floor: 3
                      remote: true
                      manager: null
                """
        let profile = try #require(OrgFile.load(yaml: yaml).organization.users.first?.profile)
        #expect(profile["phone_number"] == "+14255550123")
        #expect(profile["name"] == "007" && profile["nickname"] == "true" && profile["badge"] == "0042")
        #expect(profile["address"]?["postal_code"] == "10117" && profile["address"]?["country"] == "NO")
        #expect(profile["floor"] == 3 && profile["remote"] == true && profile["manager"] == .null)
    }

    @Test("The public keys of a client are read from the org file")
    func keys() throws {
        let yaml =
            Self.head + """
                applications:
                  - id: signer
                    type: service
                    authentication: private_key_jwt
                    keys:
                      - {kty: EC, crv: P-256, kid: one, x: f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU, y: x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0}
                """
        let application = try #require(OrgFile.load(yaml: yaml).organization.applications.first)
        #expect(application.keys?[keyID: "one"] != nil)
    }

    @Test("The security settings of an application are read from the org file, and have safe defaults if they are omitted")
    func protections() throws {
        func application(_ lines: String) throws -> Application {
            let yaml =
                Self.head + """
                    authorization_servers: [{id: default, audience: "api://default"}]
                    applications:
                      - id: app
                        type: service
                        authentication: client_secret_jwt
                        secret: a-secret-of-more-than-thirty-two-bytes
                        \(lines)
                    """
            return try #require(try OrgFile.load(yaml: yaml).organization.applications.first)
        }
        let usual = try application("name: App")
        #expect(usual.requiresPKCE && !usual.requiresPushedAuthorizationRequests)
        #expect(!usual.requiresIssuerAudience && !usual.requiresAssertionID && usual.introspectionAudiences == nil)
        #expect(try !application("require_pkce: false").requiresPKCE)
        #expect(try application("require_pushed_authorization_requests: true").requiresPushedAuthorizationRequests)
        #expect(try application("strict_audience: true").requiresIssuerAudience)
        #expect(try application("require_jti: true").requiresAssertionID)
        #expect(try application("introspection_audiences: []").introspectionAudiences == [])
        #expect(
            try application("introspection_audiences: [api://default, https://id.test]").introspectionAudiences == [
                "api://default", "https://id.test",
            ])
        let error = #expect(throws: OrgFileError.self) { try application("introspection_audiences: [api://defualt]") }
        #expect(error?.problems.map(\.key) == ["applications[0].introspection_audiences[0]"])
        #expect(error?.problems.first?.message.contains("Did you mean “api://default”?") == true)
    }
}
