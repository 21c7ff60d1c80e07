import JOSE
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Validation of an organization definition")
struct OrganizationProblemsTests {
    struct Flaw: Sendable, CustomTestStringConvertible {
        var place: String
        var hint: String
        var change: @Sendable (inout OrganizationDefinition) -> Void
        var testDescription: String { "\(place): \(hint)" }

        init(_ place: String, _ hint: String, _ change: @escaping @Sendable (inout OrganizationDefinition) -> Void) {
            (self.place, self.hint, self.change) = (place, hint, change)
        }
    }

    private static func server(_ change: (inout AuthorizationServerDefinition) -> Void) -> AuthorizationServerDefinition {
        var server = AuthorizationServerDefinition(
            id: "default", name: "Default", audience: "api://default", scopes: [ScopeDefinition(name: "messages.read")],
            accessPolicies: [AccessPolicy(name: "p", rules: [AccessRule(name: "r")])])
        change(&server)
        return server
    }

    private static func caller(_ place: String, _ hint: String, _ change: @escaping @Sendable (inout ClassicPolicy) -> Void) -> Flaw {
        Flaw("classic.trustedCallers[0].\(place)", hint) {
            var policy = ClassicPolicy(signOnPolicy: "one factor", trustedCallers: [.init(name: "portal", token: "0123456789")])
            change(&policy)
            $0.classic = policy
        }
    }

    private static func origin(_ text: String) -> Flaw {
        Flaw("classic.trustedOrigins[0]", "is no origin") {
            $0.classic = ClassicPolicy(signOnPolicy: "one factor", trustedOrigins: [text])
        }
    }

    private static func rule(_ hint: String, _ place: String, _ change: @escaping @Sendable (inout AccessRule) -> Void) -> Flaw {
        Flaw("authorizationServers[1].accessPolicies[0].rules[0].\(place)", hint) {
            $0.authorizationServers.append(server { change(&$0.accessPolicies[0].rules[0]) })
        }
    }

    static let flaws: [Flaw] = [
        Flaw("name", "needs a name") { $0.name = "" },
        Flaw("origin", "is no origin") { $0.origin = "id.example.com" },
        Flaw("origin", "Write https://id.example.com") { $0.origin = "http://id.example.com" },
        Flaw("origin", "no path") { $0.origin = "https://id.example.com/" },
        Flaw("origin", "only https") { $0.origin = "ftp://id.example.com" },
        Flaw("authorizationServers[1].id", "twice") { $0.authorizationServers.append(AuthorizationServerDefinition(id: nil, name: "x")) },
        Flaw("authorizationServers[1].id", "part of an issuer") { $0.authorizationServers.append(server { $0.id = "a/b" }) },
        Flaw("authorizationServers[1].id", "not v1") { $0.authorizationServers.append(server { $0.id = "v1" }) },
        Flaw("authorizationServers[1].audience", "api://default") { $0.authorizationServers.append(server { $0.audience = nil }) },
        Flaw("authorizationServers[1].accessTokenAlgorithm", "RS256 or ES256") {
            $0.authorizationServers.append(server { $0.accessTokenAlgorithm = .hs256 })
        },
        Flaw("authorizationServers[1].scopes[0].name", "reserved") {
            $0.authorizationServers.append(server { $0.scopes = [ScopeDefinition(name: "openid")] })
        },
        Flaw("authorizationServers[1].scopes[0].name", "without space") {
            $0.authorizationServers.append(server { $0.scopes = [ScopeDefinition(name: "a b")] })
        },
        Flaw("authorizationServers[1].claims[0].name", "belongs to the protocol") {
            $0.authorizationServers.append(
                server { $0.claims = [ClaimDefinition(name: "iss", destination: .idToken, source: .constant("x"))] })
        },
        Flaw("authorizationServers[1].claims[0].name", "belongs to the protocol") {
            $0.authorizationServers.append(
                server { $0.claims = [ClaimDefinition(name: "nbf", destination: .accessToken, source: .constant("x"))] })
        },
        Flaw("authorizationServers[1].claims[0].scopes[0]", "Did you mean “messages.read”?") {
            $0.authorizationServers.append(
                server {
                    $0.claims = [
                        ClaimDefinition(name: "c", destination: .idToken, source: .constant("x"), scopes: ["message.read"])
                    ]
                })
        },
        Flaw("authorizationServers[1].accessPolicies[0]", "no rule") {
            $0.authorizationServers.append(server { $0.accessPolicies[0].rules = [] })
        },
        Flaw("authorizationServers[1].accessPolicies[0].clients[0]", "no application “none”") {
            $0.authorizationServers.append(server { $0.accessPolicies[0].clients = ["none"] })
        },
        Flaw("authorizationServers[1].audience", "is a client id") {
            $0.authorizationServers.append(server { $0.audience = "one" })
        },
        rule("Did you mean “password”?", "grantTypes[0]") { $0.grantTypes = ["pasword"] },
        rule("no group “Unknown”", "groups[0]") { $0.groups = ["Unknown"] },
        rule("no scope “messages.write”", "scopes[1]") { $0.scopes = ["openid", "messages.write"] },
        rule("300 to 86400 seconds", "accessTokenLifetime") { $0.accessTokenLifetime = 60 },
        rule("out of range", "accessTokenLifetime") { $0.accessTokenLifetime = 86_401 },
        rule("600 to", "refreshTokenIdleLifetime") { $0.refreshTokenIdleLifetime = 599 },
        rule("3600 to", "refreshTokenLifetime") { $0.refreshTokenLifetime = 3_599 },
        Flaw("applications[1].id", "“one” is there twice") { $0.applications[1].id = "one" },
        Flaw("applications[0].id", "client id") { $0.applications[0].id = "a:b" },
        Flaw("applications[0].secret", "does not authenticate") { $0.applications[0].secret = "a-secret-of-some-length" },
        Flaw("applications[4].secret", "at least 16") { $0.applications[4].secret = "short" },
        Flaw("applications[4].secret", "at least 32") { $0.applications[4].authentication = .clientSecretJWT },
        Flaw("applications[4].keys", "public keys") { $0.applications[4].authentication = .privateKeyJWT },
        Flaw("applications[0].requirePkce", "public client must use PKCE") { $0.applications[0].requiresPKCE = false },
        Flaw("applications[4].strictAudience", "rule for client assertions") { $0.applications[4].requiresIssuerAudience = true },
        Flaw("applications[0].requireJti", "rule for client assertions") { $0.applications[0].requiresAssertionID = true },
        Flaw("applications[0].introspectionAudiences", "its own tokens only") { $0.applications[0].introspectionAudiences = [] },
        Flaw("applications[4].introspectionAudiences[1]", "no audience “api://nowhere”") {
            $0.applications[4].introspectionAudiences = [$0.origin, "api://nowhere"]
        },
        Flaw("applications[0].grantTypes[0]", "no grant type “implicit”") { $0.applications[0].grantTypes = ["implicit"] },
        Flaw("applications[0].redirectURIs", "Register one") { $0.applications[0].grantTypes = ["authorization_code"] },
        Flaw("applications[0].redirectURIs[0]", "wildcard") { $0.applications[0].redirectURIs = ["https://*.example.com/callback"] },
        Flaw("applications[0].redirectURIs[0]", "absolute") { $0.applications[0].redirectURIs = ["/callback"] },
        Flaw("applications[0].redirectURIs[1]", "loopback only") {
            $0.applications[0].redirectURIs = ["http://localhost:3000/", "http://app.example.com/"]
        },
        Flaw("applications[0].redirectURIs[0]", "loopback only") {
            $0.applications[0].redirectURIs = ["http://127.0.0.1.example.com/"]
        },
        Flaw("applications[0].redirectURIs[0]", "fragment") { $0.applications[0].redirectURIs = ["https://app.example.com/#x"] },
        Flaw("applications[0].postLogoutRedirectURIs[0]", "javascript") {
            $0.applications[0].postLogoutRedirectURIs = ["javascript:alert(1)"]
        },
        Flaw("applications[0].assignment.groups[0]", "Did you mean “Staff”?") { $0.applications[0].assignment.groups = ["Stafff"] },
        Flaw("applications[0].signOnPolicy", "Did you mean “one factor”?") { $0.applications[0].signOnPolicy = "one facter" },
        Flaw("applications[0].refreshTokenRotation", "0 to 60") { $0.applications[0].refreshTokenRotation = .rotate(leeway: 61) },
        Flaw("applications[0].idTokenAlgorithm", "RS256 or ES256") { $0.applications[0].idTokenAlgorithm = .hs256 },
        Flaw("groups[1].name", "twice") { $0.groups.append(Group(name: "Staff")) },
        Flaw("signOnPolicies[0]", "no rule") { $0.signOnPolicies[0].rules = [] },
        Flaw("signOnPolicies[0].rules[0].groups[0]", "no group") { $0.signOnPolicies[0].rules[0].groups = ["x"] },
        Flaw("passwordPolicy.minimumLength", "8 to 72") { $0.passwordPolicy.minimumLength = 4 },
        Flaw("passwordPolicy.scryptLogN", "10 to 20") { $0.passwordPolicy.scryptLogN = 30 },
        Flaw("rateLimits.perAddressSignIns", "out of range") { $0.rateLimits.perAddressSignIns = 0 },
        Flaw("rateLimits.perUser", "out of range") { $0.rateLimits.perUser = 0 },
        Flaw("rateLimits.messages", "messages per minute") { $0.rateLimits.messages = 0 },
        caller("token", "everybody could show it") { $0.trustedCallers[0] = .init(name: "portal", token: "") },
        caller("name", "needs a name") { $0.trustedCallers[0].name = "" },
        Flaw("classic.trustedCallers[1].token", "same token") {
            $0.classic = ClassicPolicy(
                signOnPolicy: "one factor", trustedCallers: [.init(name: "a", token: "0123"), .init(name: "b", token: "0123")])
        },
        origin("https://portal.example.com/"), origin("portal.example.com"), origin("http://portal.example.com"),
        origin("https://Portal.example.com"), origin("*"), origin("https://a@portal.example.com"),
        Flaw("keyRotation.publishedDaysAfter", "out of range") { $0.keyRotation.publishedDaysAfter = 0 },
        Flaw("applications[0].id", "also a user's login") { $0.applications[0].id = "JANE.doe@example.com" },
        Flaw("users[3].login", "twice") { $0.users.append(UserDefinition(login: "JANE.DOE@example.com")) },
        Flaw("users[0].login", "no white space") { $0.users[0].login = "jane doe" },
        Flaw("users[0].groups[0]", "no group") { $0.users[0].groups = ["x"] },
        Flaw("users[0].password", "at least 8") { $0.users[0].password = "short" },
    ]

    @Test("Each error in an organization definition is reported with its path and a hint for the fix", arguments: flaws)
    func flaw(_ flaw: Flaw) throws {
        var definition = SignInFixture.definition
        flaw.change(&definition)
        let problems = definition.problems()
        #expect(problems.map(\.place) == [flaw.place])
        #expect(problems.first?.message.contains(flaw.hint) == true, "\(problems.first?.message ?? "")")
    }

    @Test("A valid organization definition has no errors, and an invalid definition is rejected and not stored")
    func apply() async throws {
        #expect(SignInFixture.definition.problems() == [])
        var definition = SignInFixture.definition
        definition.origin = "nowhere"
        definition.applications[0].signOnPolicy = "none"
        let store = InMemoryStore()
        let engine = Engine(store: store, environment: SignInFixture.environment())
        let error = await #expect(throws: OrganizationError.self) {
            try await engine.apply(definition, context: SignInFixture.context())
        }
        #expect(error?.problems.map(\.place) == ["origin", "applications[0].signOnPolicy"])
        #expect(try await store.read { try $0.allRecords(.application).isEmpty })
    }
}
