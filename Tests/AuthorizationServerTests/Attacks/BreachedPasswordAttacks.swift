import AuthorizationServer
import Crypto
import Delivery
import Foundation
import IdentityCore
import JOSE
import Logging
import TestSupport
import Testing

/// An attacker tries passwords from published breaches, so users must not choose them. The tests query the lists over real HTTP.
@Suite("Attacks: breached passwords", .timeLimit(.minutes(5)))
struct BreachedPasswordAttacks {
    private static let breached = "Breached-Horse-8"
    private static let other = "Unheard-Horse-9"

    private static func digest(_ password: String) -> String {
        Insecure.SHA1.hash(data: Data(password.utf8)).map { String(format: "%02X", $0) }.joined()
    }

    /// Returns the response of a range endpoint that lists one password for every prefix.
    private static func known() -> String {
        let body = "0018A45C4D1DEF81644B54AB7F969B88D65:0\r\n\(digest(breached).dropFirst(5)):4711\r\n"
        return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    /// Runs a test with a server that looks up passwords at a range endpoint.
    private static func with(
        answering answers: [String] = [known()], _ body: @escaping @Sendable (PushServer, PlainListener) async throws -> Void
    ) async throws {
        let endpoint = try PlainListener(answering: answers)
        defer { endpoint.close() }
        let check = try BreachedPasswordCheck(
            file: nil, rangeURL: "http://127.0.0.1:\(endpoint.port)/range", timeout: .seconds(60),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var organization = PushOrganization(classic: ClassicPolicy(signOnPolicy: "one factor", recovery: [.email]))
        organization.breachedPasswords = BreachedPasswordLists(check)
        organization.passwordPolicy.age = .init(maximumDays: 30)
        try await PushServer.with(organization) { server in try await body(server, endpoint) }
    }

    private static func context(_ server: PushServer) -> RequestContext { RequestContext(now: server.clock.now, requestID: "test") }

    @Test("The classic API rejects a breached password when the user changes an expired password")
    func classicChange() async throws {
        try await Self.with { server, _ in
            let client = ClassicClient(server)
            server.clock.advance(by: 30 * 86_400)
            let status = try await client.begin()
            func change(_ new: String) async throws -> WireResponse {
                try await client.follow(
                    status.next, of: status, ["oldPassword": .string(PushOrganization.janesPassword), "newPassword": .string(new)])
            }
            let refused = try await change(Self.breached)
            #expect(refused.status == 403 && refused.body.contains("data breach"), "\(refused.body)")
            #expect(!refused.body.contains(Self.breached))
            #expect(try ClassicStatus(try await change(Self.other)).name == "SUCCESS")
        }
    }

    @Test("The page for an expired password rejects a breached password and explains why")
    func pageChange() async throws {
        try await Self.with { server, _ in
            let browser = WireBrowser(server.wire)
            server.clock.advance(by: 30 * 86_400)
            var page = try await browser.signIn(try await WireRelyingParty.readingApp.begin(browser))
            page = try await browser.submit(page, "new-password", ["password": Self.breached, "repeated": Self.breached])
            #expect(page.body.contains("Not exposed in a data breach") && !page.body.contains(Self.breached))
            _ = try WireRelyingParty.readingApp.code(
                try await browser.submit(page, "new-password", ["password": Self.other, "repeated": Self.other]))
        }
    }

    @Test(
        "A breached password is rejected if an administrator sets it or the org file contains it, and the org file error names the entry"
    )
    func administration() async throws {
        try await Self.with { server, _ in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let refused = try await server.engine.setPassword(userID: id, to: Self.breached, context: Self.context(server))
            #expect(refused == .unacceptablePassword("The password was exposed in a data breach. Choose a different one."))
            var definition = PushOrganization().definition(origin: RunningServer.origin)
            definition.users.append(UserDefinition(login: "new@example.com", password: Self.breached))
            let error = await #expect(throws: OrganizationError.self) {
                _ = try await server.engine.apply(definition, context: Self.context(server))
            }
            #expect(error?.problems.map(\.place) == ["users[\(definition.users.count - 1)].password"])
            #expect(error?.description.contains(Self.breached) == false)
            #expect(try await server.engine.user(login: "new@example.com") == nil)
        }
    }

    @Test("Signing in and applying the same org file again cause no lookup in the breach list")
    func signIn() async throws {
        try await Self.with { server, endpoint in
            let asked = endpoint.received.count
            // The server looked up the password of each user of the org file once, when it created the user.
            #expect(asked == 3)
            #expect(try await DirectClient(server, id: "easy-app").password().status == 200)
            #expect(try await DirectClient(server, id: "easy-app").password(["password": Self.breached]).status == 400)
            #expect(try ClassicStatus(try await ClassicClient(server).signIn()).name == "SUCCESS")
            let browser = WireBrowser(server.wire)
            _ = try WireRelyingParty.readingApp.code(
                try await browser.signIn(try await WireRelyingParty.readingApp.begin(browser)))
            _ = try await server.engine.apply(
                PushOrganization().definition(origin: RunningServer.origin), context: Self.context(server))
            #expect(endpoint.received.count == asked)
        }
    }

    @Test(
        "A password change to a breached password succeeds while the breach list endpoint fails",
        arguments: ["", PlainListener.answer(503)])
    func failsOpen(answer: String) async throws {
        // The first three lookups are for the users of the org file: three failures in a row would pause the lookups.
        try await Self.with(answering: [Self.known(), Self.known(), Self.known(), answer]) { server, endpoint in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            let asked = endpoint.received.count
            let changed = try await server.engine.setPassword(userID: id, to: Self.breached, context: Self.context(server))
            guard case .changed = changed else {
                Issue.record("\(changed)")
                return
            }
            #expect(endpoint.received.count > asked)
        }
    }

    @Test("While the breach list endpoint is down, applying an org file with 24 new users causes fewer than ten lookups")
    func endpointDown() async throws {
        try await Self.with(answering: [PlainListener.answer(503)]) { server, endpoint in
            let asked = endpoint.received.count
            var definition = PushOrganization().definition(origin: RunningServer.origin)
            for index in 0..<24 {
                definition.users.append(UserDefinition(login: "new\(index)@example.com", password: "Horse-\(index)-Battery"))
            }
            let report = try await server.engine.apply(definition, context: Self.context(server))
            #expect(report.count(.created) == 24)
            #expect(endpoint.received.count - asked < 10)
        }
    }

    @Test("No request to the breach list endpoint contains a password or more than five digits of its digest")
    func anonymity() async throws {
        try await Self.with { server, endpoint in
            let id = try #require(try await server.engine.user(login: PushOrganization.jane)?.id)
            _ = try await server.engine.setPassword(userID: id, to: Self.breached, context: Self.context(server))
            let last = try #require(endpoint.received.last)
            #expect(last.head.hasPrefix("GET /range/\(Self.digest(Self.breached).prefix(5)) HTTP/1.1"))
            for request in endpoint.received {
                for password in [Self.breached, PushOrganization.janesPassword, PushOrganization.johnsPassword] {
                    #expect(!request.text.contains(password))
                    #expect(!request.text.uppercased().contains(Self.digest(password).prefix(6)))
                }
            }
        }
    }
}
