import Foundation
import JOSE
import NIOCore
import NIOPosix
import OAuthEndpoints
import ServiceLifecycle
import StoreSQLite
import TestSupport
import Testing

@Suite("Held polls", .timeLimit(.minutes(5)))
struct HeldPollTests {
    private static let wait25 = [("Prefer", "wait=25")]

    // MARK: - The decision

    @Test(
        "A held poll returns tokens as soon as the user approves the request, even if the server's clock does not advance",
        arguments: PollKind.allCases)
    func approval(kind: PollKind) async throws {
        try await HeldPollServer.with { server in
            let waiting = try await kind.begin(server)
            async let answer = waiting.poll()
            await server.holds(1)
            try await waiting.approve()
            #expect(try await answer.status == 200)
            #expect(server.polls.count == 0)
            try expectRefusal(try await waiting.poll(), 400, "invalid_grant")
        }
    }

    @Test("A held poll returns access_denied as soon as the user denies the request", arguments: PollKind.allCases)
    func denial(kind: PollKind) async throws {
        try await HeldPollServer.with { server in
            let waiting = try await kind.begin(server)
            async let answer = waiting.poll()
            await server.holds(1)
            try await waiting.deny()
            try expectRefusal(try await answer, 400, "access_denied")
            #expect(server.polls.count == 0)
        }
    }

    @Test("A held poll returns invalid_grant as soon as its client cancels the sign-in")
    func givenUp() async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll()
            let client = DirectClient(server.push)
            let pending = try await client.begin()
            async let answer = server.poll(pending, Self.wait25)
            await server.holds(1)
            #expect(try await client.revoke(pending.mfaToken).status == 200)
            try expectRefusal(try await answer, 400, "invalid_grant")
        }
    }

    @Test("A held poll finds a decision within 250 ms after another process commits it to the shared store")
    func anotherProcess() async throws {
        let folder = TemporaryFolder()
        let first = HeldPollServer.Options(store: try SQLiteStore(path: folder.file("store.sqlite").path))
        let second = HeldPollServer.Options(
            store: try SQLiteStore(path: folder.file("store.sqlite").path), masterKey: first.masterKey, isFirst: false)
        try await HeldPollServer.with(first) { server in
            let phone = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            let challenge = try await phone.challenge()
            let approval = try phone.signed(challenge)
            async let answer = server.poll(pending, Self.wait25)
            await server.holds(1)
            try await HeldPollServer.with(second) { other in
                let response = try await other.wire.call(
                    "POST", try challenge.path,
                    headers: [("Accept", "application/json; okta-version=1.0.0"), ("Content-Type", "application/json")],
                    body: (["method": "push", "challengeResponse": .string(approval)] as JSONValue).serialized())
                #expect(response.status == 200, "\(response.body)")
            }
            #expect(server.polls.count == 1)
            await server.clock.advanceOnceWatched(by: 0.25)
            #expect(try await answer.status == 200)
        }
    }

    // MARK: - The end of the wait

    @Test(
        "A poll is held for the number of seconds that the client prefers, at most 25, or for 5 seconds without a valid preference",
        arguments: [
            (nil, 5, nil), ("wait=1", 1, "wait=1"), ("wait=25", 25, "wait=25"), ("wait=300", 25, "wait=25"),
            ("respond-async, Wait = \"7\"; x=1", 7, "wait=7"), ("wait=soon", 5, nil),
        ] as [(String?, Double, String?)])
    func timeout(preference: String?, seconds: Double, applied: String?) async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            let start = server.clock.now
            async let answer = server.poll(pending, preference.map { [("Prefer", $0)] } ?? [])
            await server.holds(1)
            await server.clock.advanceOnceWatched(by: seconds - 0.125)
            // The watching task sleeps again, so it has checked the deadline.
            await server.clock.advanceOnceWatched(by: 0.0625)
            #expect(server.polls.count == 1)
            await server.clock.advanceOnceWatched(by: 0.0625)
            let response = try await answer
            try expectRefusal(response, 400, "authorization_pending")
            #expect(response["Preference-Applied"] == applied)
            #expect(server.clock.now.timeIntervalSince(start) == seconds)
        }
    }

    @Test("The Date header of a held poll's response is the time of the response")
    func date() async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            async let answer = server.poll(pending, Self.wait25)
            await server.holds(1)
            await server.clock.advanceOnceWatched(by: 25)
            #expect(try await answer["Date"] == "Fri, 15 Jan 2027 08:00:25 GMT")
        }
    }

    @Test("A poll of a client that prefers not to wait is answered at once")
    func noWait() async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            let response = try await server.poll(pending, [("Prefer", "wait=0")])
            try expectRefusal(response, 400, "authorization_pending")
            #expect(response["Preference-Applied"] == nil)
        }
    }

    @Test("A poll is held only until its challenge expires, and then returns expired_token")
    func expiry() async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            server.clock.advance(by: 290, wakes: false)
            async let answer = server.poll(pending, Self.wait25)
            await server.holds(1)
            await server.clock.advanceOnceWatched(by: 10)
            try expectRefusal(try await answer, 400, "expired_token")
        }
    }

    // MARK: - The client

    @Test("A client that closes its connection releases its held poll, and its next poll returns the tokens of a later approval")
    func clientLeaves() async throws {
        try await HeldPollServer.with { server in
            let phone = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.wire.port).get()
            let form = HeldPollServer.form(pending)
            let head =
                "POST \(DirectClient.custom)/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                + "Prefer: wait=25\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: head + form))
            await server.holds(1)
            try await channel.close()
            await server.holds(0)
            try await phone.approve()
            #expect(try await server.poll(pending).status == 200)
        }
    }

    @Test("A graceful shutdown answers held polls at once with authorization_pending, and then ends")
    func shutdown() async throws {
        try await HeldPollServer.withServiceGroup { server, group in
            _ = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            async let answer = server.poll(pending, Self.wait25)
            await server.holds(1)
            await group.triggerGracefulShutdown()
            try expectRefusal(try await answer, 400, "authorization_pending")
            #expect(server.polls.count == 0)
        }
    }

    @Test("A connection serves further requests after the response to a held poll")
    func keepAlive() async throws {
        try await HeldPollServer.with { server in
            let phone = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            let form = HeldPollServer.form(pending)
            let head =
                "POST \(DirectClient.custom)/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                + "Content-Length: \(form.utf8.count)\r\n\r\n"
            let next = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            async let bytes = server.wire.send(Array((head + form + next).utf8))
            await server.holds(1)
            try await phone.approve()
            let text = String(decoding: try await bytes, as: UTF8.self)
            #expect(text.contains("access_token") && text.hasSuffix(#"{"status":"live"}"#), "\(text)")
        }
    }
}
