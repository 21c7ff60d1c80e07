import AuthFoundation
import CountersignSandbox
import Foundation

/// The sandbox's clock, as the app has it: tells whether the app waits on it now.
struct AppClock: OAuth2Clock {
    private actor Waits {
        private(set) var count = 0
        func begin() { count += 1 }
        func end() { count -= 1 }
    }

    private let clock: SandboxClock
    private let waits = Waits()

    init(_ clock: SandboxClock) {
        self.clock = clock
    }

    var now: Date { clock.now }

    /// Whether somebody waits. Who moves the clock on then wakes them.
    var isWaitedOn: Bool { get async { await waits.count > 0 } }

    func sleep(for interval: TimeInterval) async throws {
        let end = clock.now.addingTimeInterval(interval)
        await waits.begin()
        // The clock may have been moved on since.
        let result: Result<Void, any Error>
        do {
            result = .success(try await clock.sleep(for: max(0, end.timeIntervalSince(clock.now))))
        } catch {
            result = .failure(error)
        }
        await waits.end()
        try result.get()
    }
}
