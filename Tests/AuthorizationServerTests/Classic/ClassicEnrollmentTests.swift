import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Documentation/Protocol/Authn.md §3.3, §4.5, §4.6 and §5.4 in raw requests.
@Suite("Factor enrollment in the classic API")
struct ClassicEnrollmentTests {
    private static let totp: [String: JSONValue] = ["factorType": "token:software:totp", "provider": "GOOGLE"]

    private static func with(
        _ policy: ClassicPolicy, _ body: @Sendable (ClassicClient, PushServer) async throws -> Void
    ) async throws {
        try await PushServer.with(PushOrganization(classic: policy)) { server in try await body(ClassicClient(server), server) }
    }

    /// Begins the enrollment of an authenticator app, and returns the status and the app.
    private static func enroll(_ client: ClassicClient, _ status: ClassicStatus) async throws -> (ClassicStatus, ClassicApp) {
        let factor = try status.factor("token:software:totp")
        let activating = try ClassicStatus(try await client.follow(factor["_links"]?["enroll"], of: status, totp))
        try #require(activating.name == "MFA_ENROLL_ACTIVATE")
        let shown = try #require(activating.embedded["factor"])
        let secret = try #require(shown["_embedded"]?["activation"]?["sharedSecret"]?.stringValue)
        return (
            activating,
            ClassicApp(
                id: try #require(shown["id"]?.stringValue), secret: try #require(Base32.decode(secret)), clock: client.server.clock)
        )
    }

    @Test("A user who lacks a required second factor must enroll a factor, and the factor's activation code completes the sign-in")
    func needed() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors")) { client, server in
            let status = try await client.begin()
            #expect(status.name == "MFA_ENROLL")
            #expect(status.linkNames == ["cancel"])
            #expect(status.embeddedNames == ["factors", "user"])
            let enroll: JSONValue = ["href": .string(ClassicClient.base + "/factors"), "hints": ["allow": ["POST"]]]
            #expect(
                try status.factor("token:software:totp") == [
                    "factorType": "token:software:totp", "provider": "GOOGLE", "vendorName": "GOOGLE", "status": "NOT_SETUP",
                    "enrollment": "OPTIONAL", "_links": ["enroll": enroll],
                ])
            try expectClassicRefusal(
                try await client.post("/skip", ["stateToken": .string(status.token ?? "")]), 403, "E0000079", causes: 1)
            let (activating, app) = try await Self.enroll(client, status)
            #expect(activating.linkNames == ["cancel", "next(activate)", "prev"])
            #expect(activating.embeddedNames == ["factor", "user"])
            let activation = try #require(activating.embedded["factor"]?["_embedded"]?["activation"])
            #expect(activation["timeStep"] == 30 && activation["keyLength"] == 6 && activation["encoding"] == "base32")
            try expectClassicRefusal(
                try await client.follow(activating.next, of: activating, ["passCode": .string(app.wrongCode)]), 403, "E0000068", causes: 1)
            try expectClassicRefusal(try await client.follow(activating.next, of: activating), 400, "E0000028", causes: 1)
            let done = try ClassicStatus(
                try await client.follow(activating.next, of: activating, ["passCode": .string(app.code())]))
            #expect(done.name == "SUCCESS")
            let party = WireRelyingParty.browserApp
            let token = try #require(done.json["sessionToken"]?.stringValue)
            _ = try party.code(try await WireBrowser(server.wire).get(party.authorizeURL(["sessionToken": token, "prompt": "none"])))
            // The next sign-in requires the factor, and the activation code is consumed.
            let next = try await client.begin()
            #expect(next.name == "MFA_REQUIRED")
            try expectClassicRefusal(
                try await client.follow(
                    next.factor("token:software:totp")["_links"]?["verify"], of: next, ["passCode": .string(app.code())]), 403, "E0000082",
                causes: 1)
        }
    }

    @Test(
        "The QR code of an authenticator app enrollment contains the app's secret, and returns 404 after activation",
        .enabled(if: OutsidePart.zbar.isEnabled, Comment(rawValue: OutsidePart.zbar.missingNote)))
    func picture() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors")) { client, server in
            let (activating, app) = try await Self.enroll(client, try await client.begin())
            let link = try #require(activating.embedded["factor"]?["_embedded"]?["activation"]?["_links"]?["qrcode"])
            #expect(link["type"] == "image/png")
            let href = try #require(link["href"]?.stringValue)
            try #require(href.hasPrefix(RunningServer.origin))
            let path = String(href.dropFirst(RunningServer.origin.count))
            let image = try await server.wire.bytes("GET", path, headers: [("Accept", "application/json")])
            let file = FileManager.default.temporaryDirectory.appending(path: "countersign-\(UUID().uuidString).png")
            try Data(image).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let read = try await ForeignProgram.run(.zbar, ["--quiet", "--raw", "--nodbus", file.path], input: "").output
            #expect(
                read.hasPrefix("otpauth://totp/Wire%20tests:jane.doe%40example.com?secret=\(Base32.encode(app.secret))&issuer=Wire%20tests")
            )
            let other = path.dropLast() + (path.last == "A" ? "B" : "A")
            try expectClassicRefusal(try await server.wire.get(String(other)), 404, "E0000007")
            #expect(try await client.follow(activating.next, of: activating, ["passCode": .string(app.code())]).status == 200)
            try expectClassicRefusal(try await server.wire.get(path), 404, "E0000007")
        }
    }

    @Test("Going back or a timeout discards a pending app enrollment, and a new enrollment has a new secret")
    func previous() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors")) { client, server in
            let status = try await client.begin()
            let (first, old) = try await Self.enroll(client, status)
            #expect(try ClassicStatus(try await client.follow(first.links["prev"], of: first)).json == status.json)
            try expectClassicRefusal(
                try await client.follow(first.next, of: first, ["passCode": .string(old.code())]), 403, "E0000079", causes: 1)
            let (second, app) = try await Self.enroll(client, status)
            #expect(app.secret != old.secret)
            try expectClassicRefusal(
                try await client.follow(second.next, of: second, ["passCode": .string(old.code())]), 403, "E0000068", causes: 1)
            try expectClassicRefusal(
                try await client.follow(first.next, of: first, ["passCode": .string(app.code())]), 404, "E0000007")
            for _ in 0..<3 {
                server.clock.advance(by: 200)
                _ = try await client.post("", ["stateToken": .string(try #require(status.token))])
            }
            try expectClassicRefusal(
                try await client.follow(second.next, of: second, ["passCode": .string(app.code())]), 403, "E0000079", causes: 1)
            let late = try ClassicStatus(try await client.post("", ["stateToken": .string(try #require(status.token))]))
            #expect(late.name == "MFA_ENROLL")
        }
    }

    @Test("A factor that the policy requires must be enrolled at the next sign-in, even if one factor is enough")
    func required() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "one factor", factors: [.totp: .required])) { client, _ in
            let status = try await client.begin()
            #expect(status.name == "MFA_ENROLL")
            #expect(status.linkNames == ["cancel"])
            #expect(try status.factor("token:software:totp")["enrollment"] == "REQUIRED")
            let (activating, app) = try await Self.enroll(client, status)
            #expect(
                try ClassicStatus(try await client.follow(activating.next, of: activating, ["passCode": .string(app.code())])).name
                    == "SUCCESS")
            #expect(try await client.begin().name == "SUCCESS")
        }
    }

    @Test("The enrollment of optional factors can be skipped, and the next sign-in offers the enrollment again")
    func offered() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "one factor", offersOptional: true)) { client, _ in
            let status = try await client.begin()
            #expect(status.name == "MFA_ENROLL")
            #expect(status.linkNames == ["cancel", "skip(skip)"])
            #expect(try ClassicStatus(try await client.follow(status.links["skip"], of: status)).name == "SUCCESS")
            #expect(try await client.begin().name == "MFA_ENROLL")
        }
    }

    @Test("A user with an enrolled factor cannot enroll another factor with the password alone")
    func stolenPassword() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "one factor", factors: [.totp: .required])) { client, server in
            _ = try await server.enroll()
            let status = try await client.begin()
            #expect(status.name == "MFA_REQUIRED")
            let token: [String: JSONValue] = ["stateToken": .string(try #require(status.token))]
            try expectClassicRefusal(
                try await client.post("/factors", .object(token.merging(Self.totp) { $1 })), 403, "E0000079", causes: 1)
        }
        try await Self.with(ClassicPolicy(signOnPolicy: "one factor", offersOptional: true)) { client, server in
            _ = try await server.enroll()
            #expect(try await client.begin().name == "SUCCESS")
        }
    }

    @Test(
        "A factor that is not offered cannot be enrolled, and a sign-in is rejected if a required second factor cannot be enrolled",
        arguments: [["factorType": "sms", "provider": "OKTA"], ["factorType": "token:software:totp", "provider": "RSA"]]
            as [[String: JSONValue]])
    func unknown(factor: [String: JSONValue]) async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors")) { client, _ in
            let status = try await client.begin()
            let link = try status.factor("token:software:totp")["_links"]?["enroll"]
            try expectClassicRefusal(try await client.follow(link, of: status, factor), 400, "E0000001", causes: 1)
        }
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors", factors: [.totp: .notAllowed])) { client, _ in
            try expectClassicRefusal(try await client.signIn(), 401, "E0000004")
        }
    }

    @Test("After five wrong activation codes of an authenticator app, even the correct code is rejected", .onOneServer)
    func limited() async throws {
        try await Self.with(ClassicPolicy(signOnPolicy: "two factors")) { client, _ in
            let (activating, app) = try await Self.enroll(client, try await client.begin())
            for _ in 0..<5 {
                try expectClassicRefusal(
                    try await client.follow(activating.next, of: activating, ["passCode": .string(app.wrongCode)]), 403, "E0000068",
                    causes: 1)
            }
            try expectClassicRefusal(
                try await client.follow(activating.next, of: activating, ["passCode": .string(app.code())]), 429, "E0000047")
        }
    }
}
