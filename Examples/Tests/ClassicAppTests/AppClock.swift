import AuthFoundation
import CountersignSandbox
import Foundation

/// The sandbox's clock for the app. It reports whether the app waits.
struct AppClock: OAuth2Clock {
    private actor Waits {
        private(set) var begun = 0
        private(set) var ended = 0
        func begin() { begun += 1 }
        func end() { ended += 1 }
    }

    private let clock: SandboxClock
    private let waits = Waits()

    init(_ clock: SandboxClock) {
        self.clock = clock
    }

    var now: Date { clock.now }

    /// Whether a caller waits on the clock. Advancing the clock ends the wait.
    var isWaitedOn: Bool { get async { await waits.begun > waits.ended } }

    /// The number of waits so far.
    var waitsBegun: Int { get async { await waits.begun } }

    func sleep(for interval: TimeInterval) async throws {
        let end = clock.now.addingTimeInterval(interval)
        await waits.begin()
        // The clock may have been advanced since `end` was computed.
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
