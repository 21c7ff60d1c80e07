internal import Foundation

/// Tells tasks when a number of threads of ours have come to their end.
///
/// `@unchecked Sendable`: `remaining` and `waiting` are read and written only while the lock is held.
final class Countdown: @unchecked Sendable {
    private let lock = NSLock()
    private var remaining: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) {
        remaining = count
    }

    /// Counts one thread as ended.
    func step() {
        let released = lock.withLock {
            remaining -= 1
            guard remaining == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { waiting = [] }
            return waiting
        }
        for continuation in released { continuation.resume() }
    }

    /// Returns when all have ended.
    func reached() async {
        await withCheckedContinuation { continuation in
            let isOver = lock.withLock {
                if remaining > 0 { waiting.append(continuation) }
                return remaining <= 0
            }
            if isOver { continuation.resume() }
        }
    }
}
