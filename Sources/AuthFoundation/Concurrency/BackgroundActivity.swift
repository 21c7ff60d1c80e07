import Foundation

/// Work that the system should not interrupt by suspending the process, such as a refresh whose response would be lost. On iOS, tvOS, watchOS
/// and visionOS, the system grants some seconds after the app has left the foreground. Extensions can use it too.
enum BackgroundActivity {
    /// Runs a function, and asks the system for time until it ends.
    static func run<T: Sendable>(
        _ reason: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T
    ) async rethrows -> T {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        let end = ActivityEnd()
        defer { end.reach() }
        ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { isExpired in
            // The process can be suspended as soon as this function returns. The system calls it on a thread that may block, and calls it
            // again when the time is over.
            if isExpired { end.reach() } else { end.wait() }
        }
        #endif
        return try await body()
    }
}

/// The end of an activity, for which a thread of the system waits. Safe from any thread. Invariant that makes `@unchecked Sendable` safe:
/// `isReached` is accessed only while the condition's lock is held.
final class ActivityEnd: @unchecked Sendable {
    private let condition = NSCondition()
    private var isReached = false

    /// Blocks the calling thread until the end.
    func wait() {
        condition.lock()
        defer { condition.unlock() }
        while !isReached { condition.wait() }
    }

    /// Ends the activity. Later calls are no-ops.
    func reach() {
        condition.lock()
        defer { condition.unlock() }
        isReached = true
        condition.broadcast()
    }
}
