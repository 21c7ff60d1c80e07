import Dispatch
import Foundation
import TestSupport
import Testing

@testable import IdentityCore

@Suite("The password hasher")
struct PasswordHasherTests {
    @Test("Two threads hash and check twenty concurrent passwords correctly")
    func parallel() async throws {
        let hasher = PasswordHasher(width: 2, queueLimit: 100)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let hash = try await hasher.hash("password \(index)", logN: 10, salt: [UInt8](repeating: UInt8(index), count: 16))
                    let own = try await hasher.verify("password \(index)", against: hash)
                    let other = try await hasher.verify("password \(index + 1)", against: hash)
                    return own && !other
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("A full hashing queue rejects further requests and completes the accepted requests")
    func overload() async throws {
        let threads = HashingThreads(width: 1, queueLimit: 1)
        let gate = DispatchSemaphore(value: 0)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        async let first: Int = threads.run {
            start.yield()
            gate.wait()
            return 1
        }
        for await _ in started { break }
        // One of the two calls gets the last place in the queue. The other is refused, because the thread is busy.
        let results = await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for number in 2...3 {
                group.addTask {
                    do { return .success(try await threads.run { number }) } catch { return .failure(error) }
                }
            }
            var results: [Result<Int, any Error>] = []
            for await result in group {
                if results.isEmpty { gate.signal() }
                results.append(result)
            }
            return results
        }
        #expect(throws: PasswordHasher.Overloaded.self) { try results[0].get() }
        #expect(throws: Never.self) { try results[1].get() }
        #expect(try await first == 1)
        threads.stop()
    }

    @Test("If a waiting hash request is cancelled, its caller gets a CancellationError while the thread is still busy")
    func cancellation() async throws {
        let threads = HashingThreads(width: 1, queueLimit: 5)
        let gate = DispatchSemaphore(value: 0)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        async let first: Int = threads.run {
            start.yield()
            gate.wait()
            return 1
        }
        for await _ in started { break }
        let second = Task { try await threads.run { 2 } }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.signal()
        #expect(try await first == 1)
        threads.stop()
    }

    @Test("A password check for an unknown user name costs processor time for a key derivation, as for a known user name")
    func sameCost() async throws {
        let hasher = PasswordHasher(width: 1)
        let hash = try await hasher.hash("Correct-Horse-7", logN: 14, salt: [UInt8](repeating: 1, count: 16))
        let known = try await spent(by: hasher) { _ = try await hasher.verify("wrong", against: hash) }
        let unknown = try await spent(by: hasher) { try await hasher.verifyNobody("wrong", logN: 14) }
        // Without the key derivation, the time for an unknown user would be about a thousandth.
        #expect(unknown * 4 > known)
    }

    @Test(
        "Checking a wrong password costs the full processor time even if the stored hash has a lower cost or is unreadable",
        arguments: [true, false])
    func sameCostForOldHashes(isReadable: Bool) async throws {
        let hasher = PasswordHasher(width: 1)
        let old = try await hasher.hash("Correct-Horse-7", logN: 10, salt: [UInt8](repeating: 1, count: 16))
        let hash = isReadable ? old : "no hash"
        let known = try await spent(by: hasher) { _ = try await hasher.verify("wrong", against: hash, spending: 14) }
        let unknown = try await spent(by: hasher) { try await hasher.verifyNobody("wrong", logN: 14) }
        // With the cost of the stored hash alone, the time would be about a sixteenth.
        #expect(known * 6 > unknown)
        #expect(try await hasher.verify("Correct-Horse-7", against: old, spending: 14))
    }

    /// Returns the processor time in nanoseconds of the hasher's only thread. Other load does not affect it.
    private func spent(by hasher: PasswordHasher, on work: () async throws -> Void) async throws -> Int {
        let before = try await hasher.threads.run { processorTime() }
        try await work()
        return try await hasher.threads.run { processorTime() } - before
    }
}
