import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §4.7 and §5.6 in raw requests.
@Suite("Automatic push preference in the classic API")
struct AutoPushTests {
    private static let organization = PushOrganization(classic: ClassicPolicy(signOnPolicy: "two factors"))

    private static func preference(_ status: ClassicStatus) -> JSONValue? { status.embedded["policy"]?["factorsPolicyInfo"] }

    @Test("An approved push with autoPush=true stores the automatic push preference in a cookie, and autoPush=false clears the cookie")
    func kept() async throws {
        try await PushServer.with(Self.organization) { server in
            let phone = try await server.enroll()
            let client = ClassicClient(server)
            func info(_ isOn: Bool) -> JSONValue { .object([phone.methodID: ["autoPushEnabled": .bool(isOn)]]) }
            /// Signs in with a push; the query is added to the request that sends the push.
            func signIn(_ client: ClassicClient, _ query: String, expecting: Bool) async throws -> WireResponse {
                let status = try await client.begin()
                #expect(Self.preference(status) == info(expecting))
                let asked = try await client.follow(status.factor("push")["_links"]?["verify"], of: status, query: query)
                #expect(asked["Set-Cookie"] == nil)
                #expect(Self.preference(try ClassicStatus(asked)) == .null)
                try await phone.approve()
                let done = try await client.follow(try ClassicStatus(asked).next, of: status)
                #expect(try ClassicStatus(done).name == "SUCCESS")
                server.clock.advance(by: 400)
                return done
            }
            #expect(try await signIn(client, "", expecting: false)["Set-Cookie"] == nil)
            let cookie = try #require(try await signIn(client, "?autoPush=true", expecting: false)["Set-Cookie"])
            #expect(cookie == "autopush=\(phone.methodID); Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure")
            let known = ClassicClient(server, headers: [("Cookie", "other=1; autopush=\(phone.methodID)")])
            #expect(try await signIn(known, "?rememberDevice=false", expecting: true)["Set-Cookie"] == nil)
            #expect(try await signIn(known, "?autoPush=maybe", expecting: true)["Set-Cookie"] == nil)
            let off = try #require(try await signIn(known, "?autoPush=false", expecting: true)["Set-Cookie"])
            #expect(off == "autopush=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure")
            for bad in ["autopush=\(phone.methodID); autopush=\(phone.methodID)", "autopush=x", "autopush="] {
                #expect(Self.preference(try await ClassicClient(server, headers: [("Cookie", bad)]).begin()) == info(false))
            }
        }
    }

    @Test("A denied push with autoPush=true stores no automatic push preference")
    func refused() async throws {
        try await PushServer.with(Self.organization) { server in
            let phone = try await server.enroll()
            let client = ClassicClient(server)
            let status = try await client.begin()
            let asked = try ClassicStatus(
                try await client.follow(status.factor("push")["_links"]?["verify"], of: status, query: "?autoPush=true"))
            try await phone.deny()
            let denied = try await client.follow(asked.next, of: status)
            #expect(try ClassicStatus(denied).json["factorResult"] == "REJECTED" && denied["Set-Cookie"] == nil)
        }
    }
}
