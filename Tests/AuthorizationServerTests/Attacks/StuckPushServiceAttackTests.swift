import TestSupport
import Testing

/// A push service that accepts pushes and never responds.
@Suite("Attacks: hanging push service", .timeLimit(.minutes(2)))
struct StuckPushServiceAttackTests {
    @Test("A hanging push service does not delay sign-ins: devices fetch their challenges and answer them")
    func hanging() async throws {
        try await PushServer.with { server in
            server.pushes.hang()
            let phone = try await server.enroll()
            let client = DirectClient(server)
            for _ in 0..<3 {
                let pending = try await client.begin()
                try await phone.approve()
                #expect(try await client.poll(pending).status == 200)
                server.clock.advance(by: 600)
            }
        }
    }
}
