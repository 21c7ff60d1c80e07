import IdentityCore
import JOSE
import TestSupport
import Testing

@Suite("Well-known files about passkeys")
struct PasskeyFilesTests {
    private static let origins = "/.well-known/webauthn"
    private static let endpoints = "/.well-known/passkey-endpoints"

    @Test("The file of related origins lists the configured web origins without the Android apps")
    func relatedOrigins() async throws {
        var organization = PushOrganization()
        let android = "android:apk-key-hash:" + Base64URL.encode([UInt8](repeating: 1, count: 32))
        organization.passkeys = PasskeyPolicy(origins: ["https://shop.example.net", android, "https://shop.example.org"])
        try await PushServer.with(organization) { server in
            let answer = try await server.wire.get(Self.origins)
            #expect(answer.status == 200 && answer["Content-Type"] == "application/json")
            #expect(answer["Cache-Control"] == "public, max-age=3600" && answer["Location"] == nil)
            #expect(try answer.json == ["origins": ["https://shop.example.net", "https://shop.example.org"]])
        }
    }

    @Test("An organization with passkeys and without related origins serves an empty passkey document and no list of origins")
    func withoutOrigins() async throws {
        var organization = PushOrganization()
        organization.passkeys = PasskeyPolicy()
        try await PushServer.with(organization) { server in
            let answer = try await server.wire.get(Self.endpoints)
            #expect(answer.status == 200 && answer["Content-Type"] == "application/json")
            #expect(try answer.json == [:])
            #expect(try await server.wire.get(Self.origins).status == 404)
        }
    }

    @Test("An organization without passkeys serves neither a passkey document nor related origins")
    func off() async throws {
        try await PushServer.with { server in
            let answers = [try await server.wire.get(Self.origins), try await server.wire.get(Self.endpoints)]
            #expect(answers.map(\.status) == [404, 404])
        }
    }
}
