internal import NIOConcurrencyHelpers

/// What the phones do while somebody looks at them: they ask for what waits every now and then, as an app in the foreground does, because a
/// sign-in that is given up sends no push.
///
/// However many look, they ask once; when the last has gone, they stop. Safe from any task.
final class PhoneForeground: Sendable {
    private struct State {
        var viewers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var lastID: UInt64 = 0
        var looking: Task<Void, Never>?
    }

    private let pause: @Sendable () async throws -> Void
    private let look: @Sendable () async -> Void
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - pause: Waits until it is time to look again; throws when its task is cancelled.
    ///   - look: Asks for what waits.
    init(pause: @escaping @Sendable () async throws -> Void, look: @escaping @Sendable () async -> Void) {
        self.pause = pause
        self.look = look
    }

    deinit { state.withLockedValue { $0.looking }?.cancel() }

    /// Looks as long as the body runs.
    ///
    /// - Parameters:
    ///   - signal: Is told after each look.
    ///   - body: What the viewer does.
    /// - Throws: What the body throws.
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
                // Ends when it is cancelled, which the last viewer does.
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
