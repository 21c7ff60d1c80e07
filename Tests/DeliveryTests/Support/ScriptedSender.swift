import Delivery
import Foundation
import NIOConcurrencyHelpers

/// A sender that sends nothing and completes pushes at once or on request.
final class ScriptedSender: PushSender {
    private struct State {
        var isHeld: Bool
        var started: [String] = []
        var mostAtOnce = 0
        var atOnce = 0
        var watchers: [(count: Int, signal: AsyncStream<Never>.Continuation)] = []
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let state: NIOLockedValueBox<State>
    private let outcome: @Sendable (PushNotification) -> PushOutcome

    /// - Parameters:
    ///   - isHeld: Whether pushes wait for ``release()``, or for cancellation.
    ///   - outcome: The outcome of a push that was not cancelled.
    init(isHeld: Bool = false, outcome: @escaping @Sendable (PushNotification) -> PushOutcome = { .delivered(id: $0.id) }) {
        state = NIOLockedValueBox(State(isHeld: isHeld))
        self.outcome = outcome
    }

    /// The ids of the started pushes.
    var started: [String] { state.withLockedValue { $0.started } }
    /// The highest number of pushes that were in progress at the same time.
    var mostAtOnce: Int { state.withLockedValue { $0.mostAtOnce } }

    func send(_ notification: PushNotification) async -> PushOutcome {
        let (released, signal) = AsyncStream.makeStream(of: Never.self)
        let due = state.withLockedValue { state in
            state.started.append(notification.id)
            state.atOnce += 1
            state.mostAtOnce = max(state.mostAtOnce, state.atOnce)
            if state.isHeld { state.waiting.append(signal) } else { signal.finish() }
            let due = state.watchers.filter { $0.count <= state.started.count }
            state.watchers.removeAll { $0.count <= state.started.count }
            return due
        }
        for watcher in due { watcher.signal.finish() }
        for await _ in released {}
        state.withLockedValue { $0.atOnce -= 1 }
        return Task.isCancelled ? .gaveUp(reason: "cancelled") : outcome(notification)
    }

    /// Completes all waiting pushes. Later pushes no longer wait.
    func release() {
        let waiting = state.withLockedValue { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for signal in waiting { signal.finish() }
    }

    /// Waits until this number of pushes has started.
    func started(_ count: Int) async {
        let (begun, signal) = AsyncStream.makeStream(of: Never.self)
        let isDue = state.withLockedValue { state in
            if state.started.count >= count { return true }
            state.watchers.append((count, signal))
            return false
        }
        if isDue { return }
        for await _ in begun {}
    }
}
