import DeviceAPI
import Foundation
import IdentityCore
import JOSE
import TestSupport
import Testing

/// Attacks on the QR codes by which the classic API enrolls authenticator apps and phones, and on the tickets in these QR codes.
@Suite("Attacks: QR codes of the classic API")
struct QRCodeAttackTests {
    private static let totp: [String: JSONValue] = [
        "factorType": "token:software:totp", "provider": "GOOGLE",
    ]
    private static let policy = ClassicPolicy(signOnPolicy: "two factors")

    /// An enrollment of an authenticator app that waits for its first code, and the path of its picture.
    private struct Pending {
        let status: ClassicStatus
        let path: String

        init(
            _ client: ClassicClient, _ login: String = PushOrganization.jane,
            _ password: String = PushOrganization.janesPassword
        )
            async throws
        {
            let begun = try ClassicStatus(try await client.signIn(login, password))
            let link = try begun.factor("token:software:totp")["_links"]?["enroll"]
            status = try ClassicStatus(try await client.follow(link, of: begun, QRCodeAttackTests.totp))
            path = try QRCodeAttackTests.path(status)
        }
    }

    /// Returns the path of the picture in a status.
    private static func path(_ status: ClassicStatus) throws -> String {
        let href = try #require(
            ClassicPhone.activation(status)?["_links"]?["qrcode"]?["href"]?.stringValue)
        try #require(href.hasPrefix(RunningServer.origin))
        return String(href.dropFirst(RunningServer.origin.utf8.count))
    }

    /// Returns the response to a request for a picture, as text without the request's id, so that refusals can be compared.
    private static func look(_ server: PushServer, _ path: String) async throws -> String {
        let response = try await server.wire.get(path, headers: [("Accept", "text/plain")])
        return "\(response.status) \(response.body)".replacing(/oae[0-9A-Za-z_-]+/, with: "")
    }

    @Test("A QR code address that mixes parts of two users' addresses returns the same 404 response as an unknown address")
    func foreignPictures() async throws {
        try await PushServer.with(PushOrganization(classic: Self.policy)) { server in
            let client = ClassicClient(server)
            let jane = try await Pending(client).path
            let john = try await Pending(client, PushOrganization.john, PushOrganization.johnsPassword)
                .path
            #expect(try await Self.look(server, jane).hasPrefix("200 otpauth://"))
            let (janes, johns) = (
                jane.split(separator: "/").map(String.init), john.split(separator: "/").map(String.init)
            )
            let unknown = try await Self.look(
                server, "/api/v1/users/00u00000000000000000/factors/ost00000000000000000/qr/AAAA")
            #expect(unknown.hasPrefix("404 "))
            // Part 3 is the user, part 5 the factor, part 7 the secret.
            for own in [[3], [5], [7], [3, 5], [3, 7], [5, 7]] {
                var parts = johns
                for index in own { parts[index] = janes[index] }
                #expect(
                    try await Self.look(server, "/" + parts.joined(separator: "/")) == unknown, "\(own)")
            }
            for secret in [
                "", "A", String(repeating: "A", count: 43), janes[7].lowercased(), janes[7] + "=",
                janes[7] + "A", "..", "%00",
            ] {
                var parts = janes
                parts[7] = secret
                #expect(
                    try await !Self.look(server, "/" + parts.joined(separator: "/")).hasPrefix("200"),
                    "\(secret)")
            }
        }
    }

    /// An event that ends the wait for the first code of an app.
    enum End: CaseIterable, Sendable {
        case activated, cancelled, back, expired, suspended, newPassword
    }

    @Test(
        "The QR code of an authenticator app setup is unavailable as soon as the sign-in no longer waits for the app's code",
        arguments: End.allCases)
    func pictureAfterwards(end: End) async throws {
        try await PushServer.with(PushOrganization(classic: Self.policy)) { server in
            let client = ClassicClient(server)
            let pending = try await Pending(client)
            let shown = try await Self.look(server, pending.path)
            #expect(shown.hasPrefix("200 otpauth://"))
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let context = RequestContext(now: server.clock.now, requestID: "end")
            switch end {
            case .activated:
                let secret = try #require(
                    ClassicPhone.activation(pending.status)?["sharedSecret"]?.stringValue)
                let app = ClassicApp(
                    id: "", secret: try #require(Base32.decode(secret)), clock: server.clock)
                let done = try await client.follow(
                    pending.status.next, of: pending.status, ["passCode": .string(app.code())])
                #expect(try ClassicStatus(done).name == "SUCCESS")
            case .cancelled:
                #expect(
                    try await client.follow(pending.status.links["cancel"], of: pending.status).status == 200)
            case .back:
                #expect(
                    try await client.follow(pending.status.links["prev"], of: pending.status).status == 200)
            case .expired: server.clock.advance(by: 3_600)
            case .suspended:
                _ = try await server.engine.setStatus(userID: id, to: .suspended, context: context)
            case .newPassword:
                _ = try await server.engine.setPassword(userID: id, to: "Another-Horse-8", context: context)
            }
            #expect(try await Self.look(server, pending.path).hasPrefix("404 "))
            // A code also no longer completes the setup.
            guard end != .activated else { return }
            let late = try await client.follow(
                pending.status.next, of: pending.status, ["passCode": "000000"])
            #expect(late.status == 401 || late.status == 403, "\(late.body)")
        }
    }

    @Test("A QR code is served only for GET requests, and never in a format that a browser would run as a page of this origin")
    func formats() async throws {
        try await PushServer.with(PushOrganization(classic: Self.policy)) { server in
            let path = try await Pending(ClassicClient(server)).path
            for method in ["POST", "PUT", "DELETE", "PATCH"] {
                #expect(try await server.wire.call(method, path).status == 405)
            }
            for accept in [
                "text/html", "image/svg+xml", "*/*", "application/json", "text/plain, text/html",
                "text/plain;q=0",
            ] {
                let response = try await server.wire.get(path, headers: [("Accept", accept)])
                #expect(response.status == 200 && response["Content-Type"] == "image/png", "\(accept)")
                #expect(
                    response["X-Content-Type-Options"] == "nosniff"
                        && response["Cache-Control"] == "no-cache, no-store")
            }
            // Pages of other origins cannot read the picture.
            let foreign = try await server.wire.get(
                path, headers: [("Accept", "text/plain"), ("Origin", "https://evil.example")])
            #expect(foreign["Access-Control-Allow-Origin"] == nil)
        }
    }

    @Test("If several phones exchange one enrollment ticket concurrently, no phone is enrolled")
    func ticketRace() async throws {
        try await ClassicPhone.with(Self.policy) { client, server in
            let ticket = try await ClassicPhone.mailed(
                client, try await ClassicPhone.begin(client, try await client.begin()))
            let answers = try await withThrowingTaskGroup(of: WireResponse.self) { group in
                for _ in 0..<12 { group.addTask { try await ClassicPhone.exchange(server, ticket) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 200 } == 1 && answers.count { $0.status == 400 } == 11)
            let token = try #require(
                try answers.first { $0.status == 200 }?.json["access_token"]?.stringValue)
            #expect(try await WirePhone.enrolling(server.wire, accessToken: token).status == 401)
        }
    }

    @Test("An enrollment ticket enrolls only one phone, even if its access token is used several times concurrently")
    func enrollmentRace() async throws {
        try await ClassicPhone.with(Self.policy) { client, server in
            let ticket = try await ClassicPhone.mailed(
                client, try await ClassicPhone.begin(client, try await client.begin()))
            let token = try #require(
                try await ClassicPhone.exchange(server, ticket).json["access_token"]?.stringValue)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await WirePhone.enrolling(server.wire, accessToken: token).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(
                statuses.count { $0 == 200 } == 1 && statuses.allSatisfy { $0 == 200 || $0 == 403 },
                "\(statuses)")
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            #expect(try await server.engine.deviceEnrollments(ofUser: id).count == 1)
        }
    }

    @Test("An enrollment ticket is rejected and not consumed for another app, grant type or scope, and at other endpoints")
    func foreignTicket() async throws {
        try await ClassicPhone.with(Self.policy) { client, server in
            let ticket = try await ClassicPhone.mailed(
                client, try await ClassicPhone.begin(client, try await client.begin()))
            func post(_ path: String, _ form: [String: String]) async throws -> Int {
                try await server.wire.post(path, Form.encode(form)).status
            }
            let good = [
                "grant_type": PhoneTicketTests.grantType, "client_id": "phone-app", "ticket": ticket,
            ]
            for (path, changes) in [
                ("/oauth2/v1/token", ["client_id": "direct-app"]), ("/oauth2/default/v1/token", [:]),
                ("/oauth2/v1/token", ["scope": "openid"]), ("/oauth2/v1/token", ["ticket": ticket + "A"]),
                (
                    "/oauth2/v1/token",
                    ["grant_type": "password", "username": PushOrganization.jane, "password": ticket]
                ),
            ] {
                #expect(try await post(path, good.merging(changes) { $1 }) >= 400, "\(changes)")
            }
            // The ticket is not valid as a state token, activation token or recovery token.
            for (path, member) in [
                ("", "token"), ("", "stateToken"), ("/recovery/token", "recoveryToken"),
            ] {
                #expect(try await client.post(path, [member: .string(ticket)]).status == 401)
            }
            #expect(try await post("/oauth2/v1/token", good) == 200)
        }
    }
}
