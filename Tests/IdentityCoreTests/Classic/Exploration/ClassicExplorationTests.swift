import Foundation
import Testing

@Suite("Random walks through the classic API")
struct ClassicExplorationTests {
    @Test(
        "Random walks through the classic API get the responses that an oracle written from Authn.md §3.4 predicts",
        arguments: 0..<UInt64(24))
    func walks(seed: UInt64) async throws {
        var seen: Set<String> = []
        for round in 0..<UInt64(3) {
            let exploration = try await ClassicExploration(seed: seed + 24 * round)
            try await exploration.walk(30)
            seen.formUnion(exploration.seen)
        }
        #expect(seen.count > 20)
    }

    @Test("Random walks through the classic API reach every expected status and error code, except perhaps two rare error codes")
    func everywhere() async throws {
        var seen: Set<String> = []
        for seed in 500..<UInt64(540) {
            let exploration = try await ClassicExploration(seed: seed)
            try await exploration.walk(30)
            seen.formUnion(exploration.seen.compactMap { $0.split(separator: " ").last.map(String.init) })
        }
        Attachment.record(seen.sorted().joined(separator: "\n"), named: "classic-exploration.txt")
        // A random walk may miss the errors that need many equal moves in a row, or two moves within half a minute.
        let rare: Set<String> = ["E0000047", "E0000082"]
        #expect(
            seen.union(rare) == [
                "MFA_REQUIRED", "MFA_CHALLENGE", "MFA_ENROLL", "MFA_ENROLL_ACTIVATE", "RECOVERY_CHALLENGE", "RECOVERY", "PASSWORD_RESET",
                "LOCKED_OUT", "SUCCESS", "cancelled", "E0000001", "E0000004", "E0000007", "E0000011", "E0000047", "E0000068", "E0000069",
                "E0000079", "E0000080", "E0000082", "E0000087",
            ])
    }
}
