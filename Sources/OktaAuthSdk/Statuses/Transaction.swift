internal import AuthFoundation

/// What the statuses that follow from one another share: what the person wishes, and which of their transactions are given up.
///
/// Answers to a transaction that is being cancelled wait until that is decided. If it was cancelled they are dropped, and with them the
/// closures that they would have called; if not, they come then. Safe from any thread; the answers are delivered on the main queue.
final class Transaction: Sendable {
    /// Where the cancelling of a transaction stands.
    private enum Ending {
        case asked([Parcel<() -> Void>])
        case done
    }

    private struct State {
        /// By state token; a transaction that goes on is not in it.
        var endings: [String: Ending] = [:]
        var rememberDevice: Bool?
        var autoPush: Bool?
    }

    private let state = Locked(State())

    var rememberDevice: Bool? {
        get { state.withLock { $0.rememberDevice } }
        set { state.withLock { $0.rememberDevice = newValue } }
    }

    var autoPush: Bool? {
        get { state.withLock { $0.autoPush } }
        set { state.withLock { $0.autoPush = newValue } }
    }

    /// Delivers an answer to a transaction, unless that is given up.
    func deliver(for stateToken: String?, _ answer: @escaping () -> Void) {
        let parcel = Parcel(answer)
        let isOpen = state.withLock { state in
            guard let stateToken, let ending = state.endings[stateToken] else { return true }
            if case .asked(let waiting) = ending { state.endings[stateToken] = .asked(waiting + [parcel]) }
            return false
        }
        if isOpen { answer() }
    }

    func beginCancelling(_ stateToken: String) {
        state.withLock { state in
            if state.endings[stateToken] == nil { state.endings[stateToken] = .asked([]) }
        }
    }

    func endCancelling(_ stateToken: String, isDone: Bool) {
        let late: [Parcel<() -> Void>] = state.withLock { state in
            guard case .asked(let waiting) = state.endings[stateToken] else { return [] }
            state.endings[stateToken] = isDone ? .done : nil
            return isDone ? [] : waiting
        }
        for answer in late { answer.contents() }
    }
}
