import AuthorizationServer
import Foundation
import JOSE
import OAuthEndpoints
import TestSupport
import Testing

@Suite("Pace of held polls", .timeLimit(.minutes(5)))
struct HeldPollPaceTests {
    private static let wait25 = [("Prefer", "wait=25")]

    @Test("A server that holds polls announces a polling interval of one second")
    func interval() async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll(.init(transactionTypes: ["LOGIN", "CIBA"]))
            let client = DirectClient(server.push)
            let challenge = try await client.challenge(try await client.mfaToken())
            let first = try await DirectClient(server.push, id: "easy-app").primary()
            let backchannel = try await BackchannelClient(server.push).authorize()
            let device = try await WireDevice(server.wire).authorize()
            for response in [challenge, first, backchannel, device] {
                #expect(response.status == 200, "\(response.body)")
                #expect(try response.json["interval"] == 1)
            }
        }
    }

    @Test("A client may poll again at once after a held poll, and after one second if the poll was not held")
    func regular() async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            for _ in 0..<3 {
                async let answer = server.poll(pending, Self.wait25)
                await server.holds(1)
                await server.clock.advanceOnceWatched(by: 25)
                try expectRefusal(try await answer, 400, "authorization_pending")
            }
            for _ in 0..<3 {
                try expectRefusal(try await server.poll(pending, [("Prefer", "wait=0")]), 400, "authorization_pending")
                server.clock.advance(by: 1, wakes: false)
            }
        }
    }

    @Test("A second poll before the polling interval has passed gets slow_down, and the first poll stays held")
    func tooSoon() async throws {
        try await HeldPollServer.with { server in
            let phone = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            async let answer = server.poll(pending, Self.wait25)
            await server.holds(1)
            try expectRefusal(try await server.poll(pending, Self.wait25), 400, "slow_down")
            #expect(server.polls.count == 1)
            try await phone.approve()
            #expect(try await answer.status == 200)
        }
    }

    @Test("A second poll after the interval ends the held poll with authorization_pending, and the server holds the second poll instead")
    func replaced() async throws {
        try await HeldPollServer.with { server in
            let phone = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            async let first = server.poll(pending, Self.wait25)
            await server.holds(1)
            await server.clock.advanceOnceWatched(by: 1)
            async let second = server.poll(pending, Self.wait25)
            try expectRefusal(try await first, 400, "authorization_pending")
            await server.holds(1)
            try await phone.approve()
            #expect(try await second.status == 200)
        }
    }

    @Test("A held poll counts once against the rate limit, although the server evaluates it again at the end of the wait")
    func rateLimit() async throws {
        try await HeldPollServer.with { server in
            _ = try await server.push.enroll()
            let pending = try await DirectClient(server.push).begin()
            func remaining(_ response: WireResponse) throws -> Int {
                try #require(response["x-rate-limit-remaining"].flatMap { Int($0) })
            }
            var counts: [Int] = []
            for _ in 0..<3 {
                async let answer = server.poll(pending, [("Prefer", "wait=1")])
                await server.holds(1)
                await server.clock.advanceOnceWatched(by: 1)
                counts.append(try remaining(try await answer))
            }
            #expect(counts == [counts[0], counts[0] - 1, counts[0] - 2])
        }
    }

    @Test(
        "At the per-address limit of held polls, a further poll gets slow_down at once, and later polls at the longer interval get authorization_pending"
    )
    func full() async throws {
        let options = HeldPollServer.Options(limits: .init(connectionsPerAddress: 8))
        try await HeldPollServer.with(options) { server in
            _ = try await server.push.enroll()
            let client = DirectClient(server.push)
            var pending: [DirectClient.Pending] = []
            for _ in 0..<5 { pending.append(try await client.begin()) }
            try await withThrowingTaskGroup(of: WireResponse.self) { group in
                for waiting in pending.prefix(4) { group.addTask { try await server.poll(waiting, Self.wait25) } }
                await server.holds(4)
                let response = try await server.poll(pending[4], Self.wait25)
                try expectRefusal(response, 400, "slow_down")
                #expect(response["Preference-Applied"] == nil && server.polls.count == 4)
                // A client adds five seconds to its interval of one second.
                for _ in 0..<2 {
                    await server.clock.advanceOnceWatched(by: 6)
                    try expectRefusal(try await server.poll(pending[4], Self.wait25), 400, "authorization_pending")
                }
                await server.clock.advanceOnceWatched(by: 13)
                for try await answer in group { try expectRefusal(answer, 400, "authorization_pending") }
            }
        }
    }
}
