import Foundation

/// The pace of a terminal: how long it waits before it asks or shows again.
enum TerminalClock {
    static var now: Date { Date() }

    /// - Throws: `CancellationError`.
    static func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }

    /// Waits for something, but not for ever; goes on also if the task is cancelled.
    ///
    /// - Parameters:
    ///   - limit: How long.
    ///   - event: What to wait for; it ends when it is cancelled.
    static func wait(atMost limit: Duration, for event: @escaping @Sendable () async -> Void) async {
        // A task of its own, which the cancellation does not reach.
        await Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await event() }
                // Cut short only when the other has ended.
                group.addTask { try? await sleep(for: limit) }
                await group.next()
                group.cancelAll()
            }
        }.value
    }
}
