/// What a flow does when its callers have left: requests whose answers are still seen, and what the server is told of a sign-in that was
/// given up.
///
/// Its tasks belong to nobody, because an app may drop the flow with the sign-in; what bounds them are their requests. Safe from any thread
/// or task.
package final class BackgroundWork: Sendable {
    private struct State {
        var underWay = 0
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Locked(State())

    package init() {}

    /// Does something in a task of its own. What is begun within it goes on seamlessly: nobody takes the moment between for the end.
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

    /// Waits until nothing is under way, or the task is cancelled.
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
