import CountersignSandbox
import Foundation
import JOSE
import Testing
import WebAuthn

@Suite("Relying parties, options and stored passkeys")
struct RelyingPartyTests {
    @Test(
        "An RP ID that clients accept at an origin has no problem",
        arguments: [
            ("example.org", "https://example.org"), ("example.org", "https://login.example.org"),
            ("example.org", "https://a.b.example.org:8443"), ("localhost", "http://localhost:8080"), ("localhost", "https://localhost"),
            ("localhost", "http://app.localhost"), ("app.localhost", "http://app.localhost:3000"), ("intranet", "https://intranet"),
            ("xn--bcher-kva.example", "https://xn--bcher-kva.example"), ("example.org", "https://example.org:65535"),
            ("example.org", "android:apk-key-hash:" + Base64URL.encode([UInt8](repeating: 1, count: 32))),
        ])
    func accepts(id: String, origin: String) {
        #expect(RelyingPartyID.problem(id, at: origin) == nil)
    }

    @Test(
        "An RP ID that clients reject at an origin is reported with the reason",
        arguments: [
            ("", "https://example.org", RelyingPartyID.Problem.notDomain), ("Example.org", "https://example.org", .notDomain),
            ("example.org.", "https://example.org", .notDomain), (".example.org", "https://example.org", .notDomain),
            ("bücher.example", "https://example.org", .notDomain), ("https://example.org", "https://example.org", .notDomain),
            ("example.org:443", "https://example.org", .notDomain), ("-a.example", "https://-a.example", .notDomain),
            ("a_b.example", "https://a_b.example", .notDomain),
            (String(repeating: "a.", count: 127) + "org", "https://example.org", .notDomain),
            ("127.0.0.1", "https://127.0.0.1", .address), ("[::1]", "https://[::1]", .address), ("10.1", "https://10.1", .address),
            ("0x7f000001", "https://0x7f000001", .address), ("1.2.3.0xff", "https://1.2.3.0xff", .address),
            ("example.org", "http://example.org", .origin), ("example.org", "https://example.org/", .origin),
            ("example.org", "https://example.org:443", .origin), ("example.org", "https://example.org:0", .origin),
            ("example.org", "https://example.org:65536", .origin), ("example.org", "https://example.org:", .origin),
            ("example.org", "https://example.org:+1", .origin), ("example.org", "https://user@example.org", .origin),
            ("example.org", "HTTPS://example.org", .origin), ("example.org", "example.org", .origin), ("example.org", "", .origin),
            ("example.org", "android:apk-key-hash:AAAA", .origin), ("example.org", "https://10.0.0.1", .origin),
            ("localhost", "http://localhost:80", .origin),
            ("example.org", "https://example.com", .otherDomain), ("example.org", "https://badexample.org", .otherDomain),
            ("login.example.org", "https://example.org", .otherDomain), ("example.org", "https://example.org.evil.example", .otherDomain),
            ("org", "https://example.org", .topLevelDomain),
        ])
    func rejects(id: String, origin: String, problem: RelyingPartyID.Problem) {
        #expect(RelyingPartyID.problem(id, at: origin) == problem)
    }

    @Test("Creation options have the JSON form of WebAuthn Level 3")
    func creationOptions() throws {
        var options = try Example.creationOptions()
        #expect(
            options.json == [
                "rp": ["id": "example.org", "name": "Example"],
                "user": ["id": .string(Base64URL.encode(Example.userHandle)), "name": "jane@example.org", "displayName": "Jane"],
                "challenge": .string(Base64URL.encode(Example.challenge)),
                "pubKeyCredParams": [
                    ["type": "public-key", "alg": -7], ["type": "public-key", "alg": -8], ["type": "public-key", "alg": -257],
                ],
                "excludeCredentials": [],
                "authenticatorSelection": ["residentKey": "required", "requireResidentKey": true, "userVerification": "required"],
                "attestation": "none", "extensions": ["credProps": true],
            ])
        options.timeout = 60_000
        options.excluded = [CredentialDescriptor(id: [1, 2, 3], transports: ["usb"])]
        options.authenticatorAttachment = "platform"
        options.residentKey = .preferred
        options.hints = ["client-device"]
        let json = options.json
        #expect(json["timeout"] == 60_000)
        #expect(json["excludeCredentials"] == [["type": "public-key", "id": "AQID", "transports": ["usb"]]])
        #expect(
            json["authenticatorSelection"] == [
                "residentKey": "preferred", "requireResidentKey": false, "userVerification": "required",
                "authenticatorAttachment": "platform",
            ])
        #expect(json["hints"] == ["client-device"])
    }

    @Test("Request options have the JSON form of WebAuthn Level 3")
    func requestOptions() throws {
        let options = try Example.requestOptions(allowed: [CredentialDescriptor(id: [1, 2, 3])])
        #expect(
            options.json == [
                "rpId": "example.org", "challenge": .string(Base64URL.encode(Example.secondChallenge)),
                "allowCredentials": [["type": "public-key", "id": "AQID"]], "userVerification": "required",
            ])
    }

    @Test("Options with a challenge of fewer than 16 bytes, or a user handle that is empty or too long, cannot be created")
    func shortValues() {
        func create(_ userHandle: Int, _ challenge: Int) throws {
            _ = try CreationOptions(
                relyingParty: Example.relyingParty, userHandle: [UInt8](repeating: 1, count: userHandle), userName: "", userDisplayName: "",
                challenge: [UInt8](repeating: 1, count: challenge))
        }
        #expect(throws: Never.self) { try create(64, 16) }
        #expect(throws: WebAuthnError.challengeTooShort) { try create(64, 15) }
        #expect(throws: WebAuthnError.userHandleLength) { try create(0, 16) }
        #expect(throws: WebAuthnError.userHandleLength) { try create(65, 16) }
        #expect(throws: WebAuthnError.challengeTooShort) {
            _ = try RequestOptions(relyingPartyID: "example.org", challenge: [UInt8](repeating: 1, count: 15))
        }
    }

    @Test("A stored passkey is coded with base64url and the names of WebAuthn, and decodes to the same value")
    func coding() async throws {
        for isDiscoverable in [true, nil] as [JSONValue?] {
            var scene = RegistrationScene()
            scene.authenticator.changes.response = { $0.set("clientExtensionResults", "credProps", "rk", to: isDiscoverable) }
            let passkey = try await scene.run().passkey
            let coded = try JSONEncoder().encode(passkey)
            #expect(try JSONDecoder().decode(StoredPasskey.self, from: coded) == passkey)
            let json = try JSONValue(parsing: coded)
            #expect(json["id"] == .string(Base64URL.encode(passkey.id)))
            #expect(json["publicKey"] == .string(Base64URL.encode(passkey.publicKey)))
            #expect(json["aaguid"] == .string(Example.aaguid.description))
            #expect(json["discoverable"] == isDiscoverable)
            var damaged = json
            damaged["id"] = "not base64url"
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(StoredPasskey.self, from: Data(damaged.serialized())) }
        }
    }
}
