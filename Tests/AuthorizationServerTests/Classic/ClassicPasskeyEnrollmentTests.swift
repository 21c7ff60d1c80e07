import CountersignSandbox
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing
import WebAuthn

/// Documentation/Protocol/Authn.md §4.5, §4.6 and §5.10 in raw requests.
@Suite("Enrollment of passkeys in the classic API")
struct ClassicPasskeyEnrollmentTests {
    @Test("A user enrolls a passkey with the creation options of the sign-in, and its registration completes the sign-in")
    func enroll() async throws {
        try await ClassicClient.withPasskeys { client, server in
            let status = try await client.begin()
            #expect(status.name == "MFA_ENROLL")
            let enroll: JSONValue = ["href": .string(ClassicClient.base + "/factors"), "hints": ["allow": ["POST"]]]
            #expect(
                try status.factor("webauthn") == [
                    "factorType": "webauthn", "provider": "FIDO", "vendorName": "FIDO", "status": "NOT_SETUP", "enrollment": "OPTIONAL",
                    "policy": ["enrollment": ["enrolled": 0, "minimum": 0, "maximum": 20]], "_links": ["enroll": enroll],
                ])
            let activating = try await client.enrollPasskey(status)
            #expect(activating.linkNames == ["cancel", "next(activate)", "prev"])
            #expect(activating.embeddedNames == ["factor", "user"])
            let id = try #require(activating.embedded["factor"]?["id"]?.stringValue)
            #expect(id.hasPrefix("fwf") && id.utf8.count == 20)
            #expect(activating.next?["href"] == .string(ClassicClient.base + "/factors/\(id)/lifecycle/activate"))
            let options = try #require(ClassicAuthenticator.activation(activating))
            #expect(
                Set((options.objectValue ?? [:]).keys) == [
                    "attestation", "authenticatorSelection", "challenge", "excludeCredentials", "pubKeyCredParams", "rp", "timeout",
                    "u2fParams", "user",
                ])
            #expect(options["rp"] == ["id": "id.example.com", "name": "Wire tests"])
            #expect(options["u2fParams"] == ["appid": "https://id.example.com"])
            #expect(options["excludeCredentials"] == [] && options["timeout"] == 600_000)
            #expect(options["authenticatorSelection"]?["userVerification"] == "preferred")
            #expect(options["pubKeyCredParams"]?.arrayValue?.contains(["type": "public-key", "alg": -7]) == true)
            #expect(options["user"]?["name"] == .string(PushOrganization.jane))
            var authenticator = ClassicAuthenticator()
            let done = try ClassicStatus(try await client.follow(activating.next, of: activating, authenticator.create(activating)))
            #expect(done.name == "SUCCESS")
            #expect(try await server.logged("user.mfa.factor.activate") == 1)
            // The passkey verified the user, and the session has its proof.
            let token = try #require(done.json["sessionToken"])
            let session = try await server.wire.call(
                "POST", "/api/v1/sessions", headers: [("Content-Type", "application/json")],
                body: (["sessionToken": token] as JSONValue).serialized())
            #expect(try session.json["amr"] == ["pwd", "pop", "mfa"])
            let factor = try await client.begin().factor("webauthn")
            let credential = try #require(authenticator.device.credentials.first?.id)
            #expect(factor["id"] == .string(id))
            #expect(factor["profile"] == ["credentialId": .string(Base64URL.encode(credential)), "authenticatorName": "Passkey"])
        }
    }

    @Test("A user can enroll a second passkey in the same sign-in, and its options exclude the first one")
    func second() async throws {
        try await ClassicClient.withPasskeys { client, _ in
            let status = try await client.begin(["options": ["multiOptionalFactorEnroll": true]])
            let first = try await client.enrollPasskey(status)
            var authenticator = ClassicAuthenticator()
            let next = try ClassicStatus(try await client.follow(first.next, of: first, authenticator.create(first)))
            #expect(next.name == "MFA_ENROLL" && next.linkNames == ["cancel", "skip(skip)"])
            let entry = try next.factor("webauthn")
            #expect(entry["status"] == "ACTIVE" && entry["policy"] == ["enrollment": ["enrolled": 1, "minimum": 0, "maximum": 20]])
            let second = try await client.enrollPasskey(next)
            let known = Base64URL.encode(try #require(authenticator.device.credentials.first?.id))
            #expect(ClassicAuthenticator.activation(second)?["excludeCredentials"] == [["type": "public-key", "id": .string(known)]])
            let after = try ClassicStatus(try await client.follow(second.next, of: second, authenticator.create(second)))
            #expect(try after.factor("webauthn")["policy"]?["enrollment"]?["enrolled"] == 2)
            #expect(try ClassicStatus(try await client.follow(after.links["skip"], of: after)).name == "SUCCESS")
            #expect(try await client.begin().factors.count == 2)
        }
    }

    @Test("A policy that requires passkeys does not let the user skip their enrollment")
    func required() async throws {
        try await ClassicClient.withPasskeys(ClassicPolicy(signOnPolicy: "one factor", factors: [.webauthn: .required])) { client, _ in
            let status = try await client.begin()
            #expect(status.name == "MFA_ENROLL" && status.linkNames == ["cancel"])
            let entry = try status.factor("webauthn")
            #expect(entry["enrollment"] == "REQUIRED" && entry["policy"]?["enrollment"]?["minimum"] == 1)
            var authenticator = ClassicAuthenticator()
            let activating = try await client.enrollPasskey(status)
            let done = try ClassicStatus(try await client.follow(activating.next, of: activating, authenticator.create(activating)))
            #expect(done.name == "SUCCESS")
        }
    }

    @Test("A policy that requires phishing-resistant authentication offers only passkeys to a user without one")
    func phishingResistant() async throws {
        try await ClassicClient.withPasskeys(ClassicPolicy(signOnPolicy: "passkeys")) { client, _ in
            let status = try await client.begin()
            #expect(status.name == "MFA_ENROLL" && status.factors.map { $0["factorType"] } == ["webauthn"])
            var authenticator = ClassicAuthenticator()
            let activating = try await client.enrollPasskey(status)
            let done = try ClassicStatus(try await client.follow(activating.next, of: activating, authenticator.create(activating)))
            #expect(done.name == "SUCCESS")
        }
    }

    /// A part of a registration that the server must reject.
    enum Fault: String, CaseIterable, Sendable {
        case origin, challenge, userPresence, attestation

        func apply(_ authenticator: inout ClassicAuthenticator) {
            switch self {
            case .origin: authenticator.origin = "https://id.example.net"
            case .challenge:
                authenticator.device.changes.clientData = { $0["challenge"] = .string(Base64URL.encode(Array(repeating: 7, count: 32))) }
            case .userPresence: authenticator.device.flags.remove(.userPresent)
            case .attestation: authenticator.device.changes.attestationObject = { $0 = .text("no attestation") }
            }
        }
    }

    @Test("A registration with an invalid part is rejected, and the enrollment stays open for a valid one", arguments: Fault.allCases)
    func rejected(_ fault: Fault) async throws {
        try await ClassicClient.withPasskeys { client, server in
            let activating = try await client.enrollPasskey(try await client.begin())
            var wrong = ClassicAuthenticator()
            fault.apply(&wrong)
            let response = try await client.follow(activating.next, of: activating, wrong.create(activating))
            try expectClassicRefusal(response, 403, "E0000068", causes: 1)
            #expect(try await client.state(of: activating).embedded == activating.embedded)
            #expect(try await server.logged("user.mfa.factor.activate") == 0)
            var right = ClassicAuthenticator()
            let done = try ClassicStatus(try await client.follow(activating.next, of: activating, right.create(activating)))
            #expect(done.name == "SUCCESS")
        }
    }

    @Test("A registration with a missing member, or with one that is not base64, is rejected as an invalid request")
    func malformed() async throws {
        try await ClassicClient.withPasskeys { client, _ in
            let activating = try await client.enrollPasskey(try await client.begin())
            var authenticator = ClassicAuthenticator()
            let members = try authenticator.create(activating)
            func expect(_ change: [String: JSONValue?], _ code: String) async throws {
                var changed = members
                for (name, value) in change { changed[name] = value }
                try expectClassicRefusal(try await client.follow(activating.next, of: activating, changed), 400, code, causes: 1)
            }
            try await expect(["attestation": nil, "clientData": nil], "E0000028")
            try await expect(["attestation": nil], "E0000028")
            try await expect(["clientData": nil], "E0000028")
            try await expect(["attestation": "no base64!"], "E0000001")
            try await expect(["clientData": 7], "E0000001")
            try await expect(["attestation": .string(String(repeating: "A", count: 16_385))], "E0000001")
            let unknown = try await client.post(
                "/factors/fwf00000000000000000/lifecycle/activate",
                .object(members.merging(["stateToken": .string(try #require(activating.token))]) { $1 }))
            try expectClassicRefusal(unknown, 404, "E0000007")
            #expect(try ClassicStatus(try await client.follow(activating.next, of: activating, members)).name == "SUCCESS")
        }
    }

    @Test("After five invalid registrations in a minute, even a valid one is rejected", .onOneServer)
    func limit() async throws {
        try await ClassicClient.withPasskeys { client, server in
            let activating = try await client.enrollPasskey(try await client.begin())
            var wrong = ClassicAuthenticator(origin: "https://id.example.net")
            for _ in 0..<5 {
                let response = try await client.follow(activating.next, of: activating, wrong.create(activating))
                try expectClassicRefusal(response, 403, "E0000068", causes: 1)
            }
            var right = ClassicAuthenticator()
            try expectClassicRefusal(
                try await client.follow(activating.next, of: activating, right.create(activating)), 429, "E0000047")
            server.clock.advance(by: 61)
            #expect(try ClassicStatus(try await client.follow(activating.next, of: activating, right.create(activating))).name == "SUCCESS")
        }
    }

    @Test("Going back ends the enrollment of a passkey, and so does its expiry after ten minutes", arguments: [false, true])
    func ended(byExpiry: Bool) async throws {
        try await ClassicClient.withPasskeys { client, server in
            let activating = try await client.enrollPasskey(try await client.begin())
            var authenticator = ClassicAuthenticator()
            let members = try authenticator.create(activating)
            if byExpiry {
                for _ in 0..<3 {
                    #expect(try await client.state(of: activating).name == "MFA_ENROLL_ACTIVATE")
                    server.clock.advance(by: 200)
                }
            } else {
                #expect(try ClassicStatus(try await client.follow(activating.links["prev"], of: activating)).name == "MFA_ENROLL")
            }
            #expect(try await client.state(of: activating).name == "MFA_ENROLL")
            try expectClassicRefusal(try await client.follow(activating.next, of: activating, members), 403, "E0000079", causes: 1)
        }
    }

    @Test("A credential that is registered already is rejected, for the same user and for another one", arguments: [false, true])
    func registered(byOther: Bool) async throws {
        try await ClassicClient.withPasskeys { client, _ in
            var authenticator = ClassicAuthenticator()
            authenticator.device.changes.credentialID = { $0 = Array(repeating: 9, count: 32) }
            let first = try await client.enrollPasskey(try await client.begin(["options": ["multiOptionalFactorEnroll": true]]))
            let next = try ClassicStatus(try await client.follow(first.next, of: first, authenticator.create(first)))
            #expect(next.name == "MFA_ENROLL")
            let begun = byOther ? try ClassicStatus(try await client.signIn(PushOrganization.john, PushOrganization.johnsPassword)) : next
            let again = try await client.enrollPasskey(begun)
            let response = try await client.follow(again.next, of: again, authenticator.create(again))
            try expectClassicRefusal(response, 403, "E0000068", causes: 1)
            authenticator.device.changes.credentialID = { _ in }
            let done = try ClassicStatus(try await client.follow(again.next, of: again, authenticator.create(again)))
            #expect(done.name == (byOther ? "SUCCESS" : "MFA_ENROLL"))
        }
    }

    @Test(
        "A passkey cannot be enrolled if the organization has no passkeys, or if its policy does not allow them", arguments: [false, true])
    func off(byPolicy: Bool) async throws {
        let policy = ClassicPolicy(signOnPolicy: "two factors", factors: byPolicy ? [.webauthn: .notAllowed] : [:])
        try await ClassicClient.withPasskeys(policy, passkeys: byPolicy ? PasskeyPolicy() : nil) { client, _ in
            let status = try await client.begin()
            #expect(status.name == "MFA_ENROLL" && status.factors.map { $0["factorType"] } == ["token:software:totp"])
            let link = status.factors[0]["_links"]?["enroll"]
            try expectClassicRefusal(try await client.follow(link, of: status, ClassicClient.passkey), 400, "E0000001", causes: 1)
        }
    }
}
