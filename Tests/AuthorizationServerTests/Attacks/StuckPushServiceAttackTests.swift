import IdentityEngine
import JOSE
import Testing

/// A push service that takes pushes and never answers.
@Suite("Attacks: a push service that hangs", .timeLimit(.minutes(2)))
struct StuckPushServiceAttackTests {
    @Test("No sign-in waits for the push service: challenges are answered by devices that fetch them.")
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
