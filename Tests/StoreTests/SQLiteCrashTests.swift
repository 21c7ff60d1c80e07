import Foundation
import Store
import StoreSQLite
import Testing

/// Tests a process that is killed at random times. Acknowledged commits must be complete, and no commit may be partial.
///
/// `COUNTERSIGN_KILL_ROUNDS` sets the number of rounds.
@Suite("SQLite store under kill -9", .serialized)
struct SQLiteCrashTests {
    private static let rounds = ProcessInfo.processInfo.environment["COUNTERSIGN_KILL_ROUNDS"].flatMap(Int.init) ?? 4

    @Test("After kill -9, every acknowledged commit is present and no commit is partial")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appending(path: "store.sqlite").path
            var known = [Int](repeating: 0, count: Chains.count)
            var acknowledgements = 0
            for round in 0..<Self.rounds {
                // The process is sometimes killed while it opens the file, and mostly during commits.
                let lifetime = Double.random(in: round % 5 == 4 ? 0...0.02 : 0.05...0.6)
                let result = try await #require(
                    processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
                ) { [path = path as String, lifetime = lifetime as Double] in
                    Thread.detachNewThread {
                        Thread.sleep(forTimeInterval: lifetime)
                        kill(getpid(), SIGKILL)
                    }
                    try await Chains.write(path)
                }
                let told = Chains.acknowledged(in: result.standardOutputContent)
                acknowledgements += told.count
                for (chain, step) in told { known[chain] = max(known[chain], step) }
                known = try await Chains.check(path, acknowledged: known)
            }
            // Without any commit, the test would prove nothing.
            #expect(acknowledgements > 0)
        }
    }
}

/// Chains of commits that each contain several changes which must appear together.
private enum Chains {
    static let count = 8
    private static let now = Date(timeIntervalSince1970: 1)

    /// Extends the chains until the process is killed, and prints each acknowledged commit to standard output.
    static func write(_ path: String) async throws {
        let store = try SQLiteStore(path: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for chain in 0..<count {
                group.addTask {
                    var step = try await store.read { Int(try $0.record(.grant, id: "chain\(chain)")?.version ?? 0) }
                    while try await store.commit(changes(chain, step)) == .committed {
                        step += 1
                        // The line is written by one call, so that it is never partial.
                        FileHandle.standardOutput.write(Data("acknowledged \(chain) \(step)\n".utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    static func acknowledged(in output: [UInt8]) -> [(Int, Int)] {
        String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "acknowledged", let chain = Int(words[1]), let step = Int(words[2]) else { return nil }
            return (chain, step)
        }
    }

    /// Checks every chain and returns its length.
    static func check(_ path: String, acknowledged: [Int]) async throws -> [Int] {
        let store = try SQLiteStore(path: path)
        var steps: [Int] = []
        for chain in 0..<count {
            let step = Int(try await store.record(.grant, "chain\(chain)")?.version ?? 0)
            steps.append(step)
            #expect(step >= acknowledged[chain], "chain \(chain): an acknowledged commit is gone")
            for number in max(1, step - 10)...(step + 2) {
                let state = try await store.read { try $0.ticket(.refreshToken, digest: digest(chain, number), now: now) }
                let isWhole =
                    switch state {
                    case .taken(_, _, let gave): number < step && gave == Array("\(number + 1)".utf8)
                    case .fresh: number == step
                    case .unknown: number > step
                    case .closed, .expired: false
                    }
                #expect(isWhole, "chain \(chain) of \(step) steps: ticket \(number) is \(state)")
            }
            let keyed = try await store.read { view in
                try [step, step - 1].map { try view.records(.grant, where: "step", is: "\(chain)-\($0)", limit: 2).count }
            }
            #expect(keyed == [step > 0 ? 1 : 0, 0], "chain \(chain): its key is not that of its last step")
        }
        // Each step increased the configuration version by one.
        #expect(try await store.read { try $0.configurationVersion() } == Int64(steps.reduce(0, +)))
        try await store.close()
        return steps
    }

    private static func changes(_ chain: Int, _ step: Int) -> [Change] {
        let grant = Record(
            kind: .grant, id: "chain\(chain)", version: Int64(step), uniqueKeys: ["step": "\(chain)-\(step + 1)"], payload: [])
        let next = Ticket(
            kind: .refreshToken, digest: digest(chain, step + 1), owner: RecordReference(.grant, grant.id), use: .once, expiresAt: nil)
        let take = Change.take(.refreshToken, digest: digest(chain, step), now: now, gave: Array("\(step + 1)".utf8))
        return [.put(grant)] + (step > 0 ? [take] : [])
            + [.issue(next), .put(Record(kind: .application, id: "\(chain)-\(step)", payload: []))]
    }

    private static func digest(_ chain: Int, _ step: Int) -> TicketDigest {
        TicketDigest(of: "chain \(chain), step \(step)")
    }
}
