import JOSE
import Testing

@testable import IdentityCore
@testable import Store

@Suite("Validation of push authenticators")
struct PushAuthenticatorProblemsTests {
    private static func problems(_ change: (inout PushAuthenticator) -> Void) -> [OrganizationError.Problem] {
        var definition = TestOrganization.definition
        DeviceFixture.prepare(&definition)
        change(&definition.authenticators[0])
        return definition.problems()
    }

    struct Flaw: Sendable, CustomTestStringConvertible {
        let place: String
        let hint: String
        let change: @Sendable (inout PushAuthenticator) -> Void
        var testDescription: String { "\(place): \(hint)" }

        init(_ place: String, _ hint: String, _ change: @escaping @Sendable (inout PushAuthenticator) -> Void) {
            (self.place, self.hint, self.change) = (place, hint, change)
        }
    }

    @Test(
        "The validation reports each error in a push authenticator's definition with its place and a fix",
        arguments: [
            Flaw("id", "1 to 100 printable") { $0.id = "" }, Flaw("id", "1 to 100 printable") { $0.id = "a b" },
            Flaw("name", "needs a name") { $0.name = "" },
            Flaw("clientID", "Define it, or correct the name.") { $0.clientID = "zzz" },
            Flaw("clientID", "Did you mean “phone-app”?") { $0.clientID = "phone-apps" },
            Flaw("clientID", "Add it to the application") { $0.clientID = "password-app" },
            Flaw("credentials.privateKey", "key_file") {
                $0.credentials = .init(teamID: "ABCDE12345", keyID: "FGHIJ67890", privateKey: nil, topic: "x.y")
            },
        ])
    func flaws(flaw: Flaw) {
        let problems = Self.problems(flaw.change)
        #expect(problems.count == 1 && problems.first?.place == "authenticators[0]." + flaw.place, "\(problems)")
        #expect(problems.first?.message.contains(flaw.hint) == true, "\(problems)")
    }

    @Test(
        "An Okta Verify authenticator needs no jwt-bearer grant, and an inactive authenticator can share the client of another authenticator"
    )
    func allowed() {
        #expect(
            Self.problems {
                $0.kind = .oktaVerify
                $0.clientID = "password-app"
            }.isEmpty)
        var definition = TestOrganization.definition
        DeviceFixture.prepare(&definition)
        definition.authenticators.append(PushAuthenticator(id: "autold", name: "Old", clientID: "phone-app", isActive: false))
        #expect(definition.problems().isEmpty)
        definition.authenticators[1].isActive = true
        #expect(definition.problems().map(\.place) == ["authenticators[1].clientID"])
    }

    @Test("A push authenticator's APNs key is stored encrypted, and does not appear in descriptions")
    func sealed() async throws {
        let pem = try #require(try SigningKey.generate(.es256).privatePEM)
        let credentials = PushAuthenticator.Credentials(
            teamID: "ABCDE12345", keyID: "FGHIJ67890", privateKey: pem, topic: "com.example.app")
        let fixture = try await DeviceFixture { $0.authenticators[0].credentials = credentials }
        #expect(try await fixture.engine.snapshot().authenticators.first?.credentials == credentials)
        let stored: [Record] = try await fixture.organization.store.read { try $0.records(.authenticator, after: nil, limit: 10) }
        let secret = try #require(pem.split(separator: "\n").dropFirst().first)
        #expect(stored.count == 1 && !String(decoding: stored[0].payload, as: UTF8.self).contains(secret.prefix(20)))
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!dumped.contains(secret.prefix(20)))
    }
}
