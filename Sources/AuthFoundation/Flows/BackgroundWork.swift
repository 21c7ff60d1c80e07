/// The work that a flow continues after its callers are gone: pending requests, and notifications to the server about an abandoned sign-in.
/// The tasks are unstructured, because an app may release the flow after the sign-in. Request timeouts limit their duration. Safe from any
/// thread or task.
package final class BackgroundWork: Sendable {
    private struct State {
        var underWay = 0
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Locked(State())

    package init() {}

    /// Runs work in a new task. Further work that this work begins also counts for ``settled()``.
    @discardableResult
    package func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { $0.underWay += 1 }
        return Task { [self] in
            await work()
            let waiting = state.withLock { state -> [AsyncStream<Never>.Continuation] in
                state.underWay -= 1
                guard state.underWay == 0 else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for end in waiting { end.finish() }
        }
    }

    /// Waits until no work is running or the calling task is cancelled.
    package func settled() async {
        let (stream, end) = AsyncStream.makeStream(of: Never.self)
        let isSettled = state.withLock { state in
            if state.underWay > 0 { state.waiting.append(end) }
            return state.underWay == 0
        }
        if isSettled { end.finish() }
        for await _ in stream {}
    }
}
