internal import NIOConcurrencyHelpers

/// Fetches pending requests regularly while the phones' page is open, as an app in the foreground does, because a cancelled sign-in sends
/// no push. All viewers share one loop, which stops with the last viewer. Safe from any task.
final class PhoneForeground: Sendable {
    private struct State {
        var viewers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var lastID: UInt64 = 0
        var looking: Task<Void, Never>?
    }

    private let pause: @Sendable () async throws -> Void
    private let look: @Sendable () async -> Void
    private let state = NIOLockedValueBox(State())

    /// Creates the loop. `pause` waits until the next fetch, and throws when its task is cancelled. `look` fetches the pending requests.
    init(pause: @escaping @Sendable () async throws -> Void, look: @escaping @Sendable () async -> Void) {
        self.pause = pause
        self.look = look
    }

    deinit { state.withLockedValue { $0.looking }?.cancel() }

    /// Runs the loop at least while `body` runs, and signals after each fetch.
    func withViewer(_ signal: AsyncStream<Void>.Continuation, _ body: () async throws -> Void) async rethrows {
        let id = enter(signal)
        defer { leave(id) }
        try await body()
    }

    private func enter(_ signal: AsyncStream<Void>.Continuation) -> UInt64 {
        state.withLockedValue { state in
            state.lastID += 1
            state.viewers[state.lastID] = signal
            if state.looking == nil {
                // The last viewer cancels this task.
                state.looking = Task { [weak self, pause] in
                    while (try? await pause()) != nil, !Task.isCancelled { await self?.lookOnce() }
                }
            }
            return state.lastID
        }
    }

    private func lookOnce() async {
        await look()
        for viewer in state.withLockedValue({ Array($0.viewers.values) }) { viewer.yield() }
    }

    private func leave(_ id: UInt64) {
        let over = state.withLockedValue { state -> Task<Void, Never>? in
            state.viewers[id] = nil
            guard state.viewers.isEmpty else { return nil }
            defer { state.looking = nil }
            return state.looking
        }
        over?.cancel()
    }
}
