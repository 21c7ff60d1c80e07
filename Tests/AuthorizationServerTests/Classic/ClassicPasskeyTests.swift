import CountersignSandbox
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing
import WebAuthn

/// Documentation/Protocol/Authn.md §4.7 and §5.11 in raw requests.
@Suite("Verification of passkeys in the classic API")
struct ClassicPasskeyTests {
    private static let byType: JSONValue = ["href": .string(ClassicClient.base + "/factors/webauthn/verify")]

    @Test("A passkey's signature in base64 or base64url completes a sign-in with the challenge of one factor", arguments: [false, true])
    func byID(inStandardBase64: Bool) async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator(sendsStandardBase64: inStandardBase64)
            try await authenticator.register(server)
            let status = try await client.begin()
            #expect(status.name == "MFA_REQUIRED")
            let factor = try status.factor("webauthn")
            let credential = Base64URL.encode(try #require(authenticator.device.credentials.first?.id))
            #expect(factor["profile"] == ["credentialId": .string(credential), "authenticatorName": "Phone"])
            let challenged = try await client.challengePasskey(status)
            #expect(challenged.linkNames == ["cancel", "next(verify)", "prev"])
            #expect(challenged.embeddedNames == ["factor", "policy", "user"])
            #expect(challenged.json["factorResult"] == "CHALLENGE" && challenged.json["challengeType"] == "FACTOR")
            #expect(challenged.json["factorType"] == nil)
            #expect(challenged.embedded["factor"]?["id"] == factor["id"])
            #expect(challenged.next?["href"] == factor["_links"]?["verify"]?["href"])
            let challenge = try #require(ClassicAuthenticator.challenge(challenged))
            #expect(Set((challenge.objectValue ?? [:]).keys) == ["challenge", "extensions", "rpId", "userVerification"])
            #expect(challenge["userVerification"] == "preferred" && challenge["rpId"] == "id.example.com")
            let done = try ClassicStatus(try await client.follow(challenged.next, of: challenged, authenticator.sign(challenge)))
            #expect(done.name == "SUCCESS")
        }
    }

    @Test("The challenge of the factor type names all passkeys of the user, and each of them can sign it", arguments: [0, 1])
    func byType(signer: Int) async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticators = [ClassicAuthenticator(), ClassicAuthenticator()]
            for index in authenticators.indices { try await authenticators[index].register(server) }
            let status = try await client.begin()
            let ids = status.factors.map { $0["id"] }
            #expect(ids.count == 2)
            let challenged = try ClassicStatus(try await client.follow(Self.byType, of: status))
            #expect(challenged.name == "MFA_CHALLENGE")
            #expect(challenged.linkNames == ["cancel", "next(verify)", "prev"])
            #expect(challenged.embeddedNames == ["challenge", "factors", "policy", "user"])
            #expect(challenged.json["factorResult"] == "CHALLENGE" && challenged.json["challengeType"] == "FACTOR_TYPE")
            #expect(challenged.json["factorType"] == "webauthn")
            #expect(challenged.next?["href"] == Self.byType["href"])
            #expect(challenged.factors.map { $0["id"] } == ids)
            #expect(challenged.factors.allSatisfy { $0["_links"] == nil && $0["profile"]?["credentialId"] != nil })
            // The same state is read again.
            #expect(try await client.state(of: challenged).json == challenged.json)
            let signed = try authenticators[signer].sign(challenged.embedded["challenge"])
            #expect(try ClassicStatus(try await client.follow(challenged.next, of: challenged, signed)).name == "SUCCESS")
        }
    }

    @Test("The challenge of one passkey cannot be signed by another passkey of the user")
    func otherPasskey() async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticators = [ClassicAuthenticator(), ClassicAuthenticator()]
            for index in authenticators.indices { try await authenticators[index].register(server) }
            let challenged = try await client.beginWithPasskey()
            let credential = challenged.embedded["factor"]?["profile"]?["credentialId"]?.stringValue
            let other = try #require(
                authenticators.firstIndex { Base64URL.encode($0.device.credentials[0].id) != credential })
            let signed = try authenticators[other].sign(ClassicAuthenticator.challenge(challenged))
            try expectClassicRefusal(try await client.follow(challenged.next, of: challenged, signed), 403, "E0000068", causes: 1)
            try expectClassicRefusal(try await client.follow(Self.byType, of: challenged, signed), 403, "E0000068", causes: 1)
            let right = try authenticators[1 - other].sign(ClassicAuthenticator.challenge(challenged))
            #expect(try ClassicStatus(try await client.follow(challenged.next, of: challenged, right)).name == "SUCCESS")
        }
    }

    /// A part of a signature's data that the server must reject.
    enum Fault: String, CaseIterable, Sendable {
        case signature, origin, challenge, relyingParty, userPresence

        func apply(_ authenticator: inout ClassicAuthenticator) {
            switch self {
            case .signature: authenticator.device.changes.signature = { $0[$0.count - 1] ^= 1 }
            case .origin: authenticator.origin = "https://id.example.net"
            case .challenge:
                authenticator.device.changes.clientData = { $0["challenge"] = .string(Base64URL.encode(Array(repeating: 7, count: 32))) }
            case .relyingParty: authenticator.device.changes.authenticatorData = { $0[0] ^= 1 }
            case .userPresence: authenticator.device.flags.remove(.userPresent)
            }
        }
    }

    @Test("A signature with an invalid part is rejected and leaves the challenge open for a valid one", arguments: Fault.allCases)
    func rejected(_ fault: Fault) async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            let challenged = try await client.beginWithPasskey()
            var wrong = authenticator
            fault.apply(&wrong)
            let response = try await client.follow(
                challenged.next, of: challenged, wrong.sign(ClassicAuthenticator.challenge(challenged)))
            try expectClassicRefusal(response, 403, "E0000068", causes: 1)
            #expect(try await client.state(of: challenged).json == challenged.json)
            let signed = try authenticator.sign(ClassicAuthenticator.challenge(challenged))
            #expect(try ClassicStatus(try await client.follow(challenged.next, of: challenged, signed)).name == "SUCCESS")
        }
    }

    @Test("A verification with a missing member, or with one that is not base64, is rejected as an invalid request")
    func malformed() async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            let challenged = try await client.beginWithPasskey()
            let members = try authenticator.sign(ClassicAuthenticator.challenge(challenged))
            for name in members.keys.sorted() {
                var changed = members
                changed[name] = nil
                try expectClassicRefusal(try await client.follow(challenged.next, of: challenged, changed), 400, "E0000028", causes: 1)
                for value: JSONValue in ["no base64!", 7, .string(String(repeating: "A", count: 16_385))] {
                    changed[name] = value
                    try expectClassicRefusal(try await client.follow(challenged.next, of: challenged, changed), 400, "E0000001", causes: 1)
                }
            }
            #expect(try ClassicStatus(try await client.follow(challenged.next, of: challenged, members)).name == "SUCCESS")
        }
    }

    @Test("A challenge expires after five minutes, and the next request without a signature starts another one")
    func expired() async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            let challenged = try await client.beginWithPasskey()
            let signed = try authenticator.sign(ClassicAuthenticator.challenge(challenged))
            server.clock.advance(by: 200)
            #expect(try await client.state(of: challenged).json["factorResult"] == "CHALLENGE")
            server.clock.advance(by: 100)
            let late = try await client.state(of: challenged)
            #expect(late.name == "MFA_CHALLENGE" && late.json["factorResult"] == "TIMEOUT")
            #expect(ClassicAuthenticator.challenge(late) == nil)
            try expectClassicRefusal(try await client.follow(challenged.next, of: challenged, signed), 403, "E0000068", causes: 1)
            let again = try ClassicStatus(try await client.follow(late.next, of: late))
            #expect(again.json["factorResult"] == "CHALLENGE")
            let fresh = try authenticator.sign(ClassicAuthenticator.challenge(again))
            #expect(try ClassicStatus(try await client.follow(again.next, of: again, fresh)).name == "SUCCESS")
        }
    }

    @Test("A signature is valid once: it is rejected in the completed sign-in and in another one")
    func replayed() async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator()
            authenticator.device.counts = false
            try await authenticator.register(server)
            let challenged = try await client.beginWithPasskey()
            let signed = try authenticator.sign(ClassicAuthenticator.challenge(challenged))
            #expect(try ClassicStatus(try await client.follow(challenged.next, of: challenged, signed)).name == "SUCCESS")
            try expectClassicRefusal(try await client.follow(challenged.next, of: challenged, signed), 401, "E0000011")
            let other = try await client.beginWithPasskey()
            try expectClassicRefusal(try await client.follow(other.next, of: other, signed), 403, "E0000068", causes: 1)
            // Without an open challenge, a signature proves nothing.
            let required = try await client.begin()
            try expectClassicRefusal(try await client.follow(Self.byType, of: required, signed), 403, "E0000068", causes: 1)
        }
    }

    @Test("A repeated request for a challenge, another factor, and going back each invalidate the open challenge")
    func withdrawn() async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            _ = try await client.app()
            for step in ["again", "app", "back"] {
                let status = try await client.begin()
                let challenged = try await client.challengePasskey(status)
                let signed = try authenticator.sign(ClassicAuthenticator.challenge(challenged))
                switch step {
                case "again":
                    let again = try ClassicStatus(try await client.follow(challenged.next, of: challenged))
                    #expect(ClassicAuthenticator.challenge(again) != ClassicAuthenticator.challenge(challenged))
                case "app":
                    let app = try status.factor("token:software:totp")["_links"]?["verify"]
                    #expect(try ClassicStatus(try await client.follow(app, of: status)).json["challengeType"] == nil)
                default:
                    let back = try ClassicStatus(try await client.follow(challenged.links["prev"], of: challenged))
                    #expect(back.json == status.json)
                }
                try expectClassicRefusal(try await client.follow(challenged.next, of: challenged, signed), 403, "E0000068", causes: 1)
            }
        }
    }

    @Test("A copied passkey, whose counter does not increase, is rejected, or only logged if the policy says so", arguments: [false, true])
    func copied(isOnlyLogged: Bool) async throws {
        try await ClassicClient.withPasskeys(passkeys: PasskeyPolicy(counter: isOnlyLogged ? .signal : .refuse)) { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            var copy = authenticator
            let challenged = try await client.beginWithPasskey()
            let signed = try authenticator.sign(ClassicAuthenticator.challenge(challenged))
            #expect(try ClassicStatus(try await client.follow(challenged.next, of: challenged, signed)).name == "SUCCESS")
            let next = try await client.beginWithPasskey()
            let response = try await client.follow(next.next, of: next, copy.sign(ClassicAuthenticator.challenge(next)))
            if isOnlyLogged {
                #expect(try ClassicStatus(response).name == "SUCCESS")
            } else {
                try expectClassicRefusal(response, 403, "E0000068", causes: 1)
            }
            #expect(try await server.logged("user.mfa.webauthn.counter") == (isOnlyLogged ? 1 : 0))
        }
    }

    @Test("Another user's passkey is rejected, and its id is unknown in the sign-in")
    func otherUser() async throws {
        try await ClassicClient.withPasskeys { client, server in
            var (janes, johns) = (ClassicAuthenticator(), ClassicAuthenticator())
            try await janes.register(server)
            try await johns.register(server, PushOrganization.john)
            let john = try ClassicStatus(try await client.signIn(PushOrganization.john, PushOrganization.johnsPassword))
            let jane = try await client.beginWithPasskey()
            try expectClassicRefusal(
                try await client.follow(jane.next, of: jane, johns.sign(ClassicAuthenticator.challenge(jane))), 403, "E0000068", causes: 1)
            try expectClassicRefusal(try await client.follow(john.factor("webauthn")["_links"]?["verify"], of: jane), 404, "E0000007")
            let signed = try janes.sign(ClassicAuthenticator.challenge(jane))
            #expect(try ClassicStatus(try await client.follow(jane.next, of: jane, signed)).name == "SUCCESS")
        }
    }

    @Test("Five invalid signatures end the sign-in and do not lock the account")
    func locked() async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            let challenged = try await client.beginWithPasskey()
            var wrong = authenticator
            wrong.origin = "https://id.example.net"
            for _ in 0..<4 {
                let response = try await client.follow(
                    challenged.next, of: challenged, wrong.sign(ClassicAuthenticator.challenge(challenged)))
                try expectClassicRefusal(response, 403, "E0000068", causes: 1)
            }
            let last = try await client.follow(challenged.next, of: challenged, wrong.sign(ClassicAuthenticator.challenge(challenged)))
            try expectClassicRefusal(last, 403, "E0000069")
            let right = try authenticator.sign(ClassicAuthenticator.challenge(challenged))
            try expectClassicRefusal(try await client.follow(challenged.next, of: challenged, right), 401, "E0000011")
            #expect(try await server.logged("user.account.lock") == 0)
            let next = try await client.beginWithPasskey()
            let signed = try authenticator.sign(ClassicAuthenticator.challenge(next))
            #expect(try ClassicStatus(try await client.follow(next.next, of: next, signed)).name == "SUCCESS")
        }
    }

    @Test("If the policy requires user verification, a passkey that did not verify its user is rejected")
    func userVerification() async throws {
        try await ClassicClient.withPasskeys(passkeys: PasskeyPolicy(userVerification: .required)) { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            let challenged = try await client.beginWithPasskey()
            #expect(ClassicAuthenticator.challenge(challenged)?["userVerification"] == "required")
            authenticator.device.flags.remove(.userVerified)
            let response = try await client.follow(
                challenged.next, of: challenged, authenticator.sign(ClassicAuthenticator.challenge(challenged)))
            try expectClassicRefusal(response, 403, "E0000068", causes: 1)
        }
    }

    @Test(
        "If the organization no longer offers passkeys, or has another relying party, a user with a passkey only cannot sign in",
        arguments: [nil, PasskeyPolicy(relyingParty: "example.com")])
    func off(policy: PasskeyPolicy?) async throws {
        try await ClassicClient.withPasskeys { client, server in
            var authenticator = ClassicAuthenticator()
            try await authenticator.register(server)
            let challenged = try await client.beginWithPasskey()
            let signed = try authenticator.sign(ClassicAuthenticator.challenge(challenged))
            try await server.apply(PushOrganization(passkeys: policy, classic: ClassicPolicy(signOnPolicy: "two factors")))
            try expectClassicRefusal(try await client.signIn(), 401, "E0000004")
            let response = try await client.follow(challenged.next, of: challenged, signed)
            try expectClassicRefusal(response, 403, "E0000079", causes: 1)
        }
    }

    @Test("The challenge of passkeys is refused before the sign-in asks for a factor, and for a user without a passkey")
    func notAsked() async throws {
        try await ClassicClient.withPasskeys { client, _ in
            let status = try await client.begin()
            try expectClassicRefusal(try await client.follow(Self.byType, of: status), 403, "E0000079", causes: 1)
            _ = try await client.app()
            let required = try await client.begin()
            #expect(required.name == "MFA_REQUIRED")
            try expectClassicRefusal(try await client.follow(Self.byType, of: required), 404, "E0000007")
        }
    }
}
