internal import AuthFoundation

/// State that successive statuses share: the user's choices and the cancelled transactions.
/// While a cancellation is in progress, responses to the transaction are held back. They are dropped with their closures if the
/// cancellation succeeds, and delivered if it fails. Thread-safe; responses are delivered on the main queue.
final class Transaction: Sendable {
    /// The progress of a cancellation.
    private enum Ending {
        case asked([MainQueueTransfer<() -> Void>])
        case done
    }

    private struct State {
        /// The progress of each cancellation, by state token. Transactions that are not cancelled are absent.
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

    /// Delivers a response at once. During a cancellation, holds the response back until the cancellation fails. After a cancellation,
    /// drops the response.
    func deliver(for stateToken: String?, _ answer: @escaping () -> Void) {
        let transfer = MainQueueTransfer(contents: answer)
        let isOpen = state.withLock { state in
            guard let stateToken, let ending = state.endings[stateToken] else { return true }
            if case .asked(let waiting) = ending { state.endings[stateToken] = .asked(waiting + [transfer]) }
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
        let late: [MainQueueTransfer<() -> Void>] = state.withLock { state in
            guard case .asked(let waiting) = state.endings[stateToken] else { return [] }
            state.endings[stateToken] = isDone ? .done : nil
            return isDone ? [] : waiting
        }
        for answer in late { answer.contents() }
    }
}
