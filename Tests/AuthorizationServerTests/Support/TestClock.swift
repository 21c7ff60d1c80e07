import Foundation
import NIOConcurrencyHelpers
import ServerHTTP

/// A clock that stands still until a test advances it. Only cancellation ends a sleep.
final class TestClock: WallClock {
    private let time: NIOLockedValueBox<Date>

    init(_ time: Date = Date(timeIntervalSince1970: 1_800_000_000)) { self.time = NIOLockedValueBox(time) }

    var now: Date { time.withLockedValue { $0 } }

    func advance(by seconds: TimeInterval) { time.withLockedValue { $0 += seconds } }

    func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: .seconds(86_400))
    }
}
