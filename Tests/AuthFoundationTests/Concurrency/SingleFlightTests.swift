import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

@Suite("Shared operations")
struct SingleFlightTests {
    @Test("SingleFlight reports which keys have a running operation, and a call after the end of an operation starts a new operation")
    func shares() async throws {
        let flights = SingleFlight<String, Int>()
        let count = Locked(0)
        let (arrived, gate) = (Gate(), Gate())
        let work: @Sendable () async throws -> Int = {
            arrived.open()
            await gate.wait()
            return count.withLock { count in
                count += 1
                return count
            }
        }
        let first = Task { try await flights.value(for: "a", operation: work) }
        await arrived.wait()
        let second = Task { try await flights.value(for: "a", operation: work) }
        #expect(flights.isRunning("a") && !flights.isRunning("b"))
        gate.open()
        #expect(try await first.value == 1)
        let later = try await second.value
        #expect(try await flights.value(for: "a", operation: work) == later + 1)
    }

    @Test("An error of a shared operation is not cached")
    func failures() async throws {
        let flights = SingleFlight<Int, Int>()
        await #expect(throws: URLError(.timedOut)) { try await flights.value(for: 1) { throw URLError(.timedOut) } }
        #expect(try await flights.value(for: 1) { 7 } == 7)
    }

    @Test("Cancelling one caller of a shared operation does not affect another caller", arguments: [false, true])
    func cancelOne(endsWhenAbandoned: Bool) async throws {
        let flights = SingleFlight<Int, Int>(endsWhenAbandoned: endsWhenAbandoned)
        let (arrived, gate) = (Gate(), Gate())
        let first = Task {
            try await flights.value(for: 1) {
                arrived.open()
                await gate.wait()
                try Task.checkCancellation()
                return 7
            }
        }
        await arrived.wait()
        let second = Task { try await flights.value(for: 1) { 8 } }
        while flights.waiters(for: 1) < 2 { await Task.yield() }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == 7)
    }

    @Test("An operation whose only caller was cancelled is cancelled only if endsWhenAbandoned is true", arguments: [false, true])
    func abandon(endsWhenAbandoned: Bool) async throws {
        let flights = SingleFlight<Int, Int>(endsWhenAbandoned: endsWhenAbandoned)
        let (arrived, gate, ended) = (Gate(), Gate(), Gate())
        let wasCancelled = Locked(false)
        let only = Task {
            try await flights.value(for: 1) {
                arrived.open()
                await gate.wait()
                wasCancelled.withLock { $0 = Task.isCancelled }
                ended.open()
                return 7
            }
        }
        await arrived.wait()
        only.cancel()
        await #expect(throws: CancellationError.self) { try await only.value }
        gate.open()
        await ended.wait()
        #expect(wasCancelled.withLock { $0 } == endsWhenAbandoned)
    }

    @Test("DelegateCollection holds delegates weakly and calls each delegate once")
    func delegates() {
        final class Delegate: Sendable {}
        let collection = DelegateCollection<Delegate>()
        let kept = Delegate()
        collection.add(kept)
        collection.add(kept)
        do { collection.add(Delegate()) }
        #expect(collection.call { ObjectIdentifier($0) } == [ObjectIdentifier(kept)])
        collection.remove(kept)
        #expect(collection.call { ObjectIdentifier($0) }.isEmpty)
    }
}
