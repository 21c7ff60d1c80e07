internal import AuthFoundation

/// A gate for which tasks wait until a test opens it. It stays open.
public final class Gate: Sendable {
    private let state = Locked((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate for all current and later waits.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the gate is open. Cancellation does not end the wait, as for a request on a session that ignores cancellation.
    public func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}
