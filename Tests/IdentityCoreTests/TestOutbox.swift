import Synchronization

@testable import IdentityCore

/// A courier that records what an engine sends.
final class TestOutbox: Courier {
    private let entries = Mutex<[OutboxEntry]>([])

    func deliver(_ entries: [OutboxEntry], of engine: Engine) { self.entries.withLock { $0 += entries } }

    /// The messages, newest last.
    var messages: [OutgoingMessage] {
        entries.withLock { $0 }.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    /// The pushes, newest last.
    var pushes: [PushMessage] { entries.withLock { $0 }.compactMap { if case .push(let push) = $0 { push } else { nil } } }

    /// Removes all recorded entries.
    func clear() { entries.withLock { $0 = [] } }
}

extension Engine {
    /// The recorder of this engine. It is created at the first access, and does not contain earlier entries.
    var outbox: TestOutbox {
        if let outbox = courier as? TestOutbox { return outbox }
        let outbox = TestOutbox()
        courier = outbox
        return outbox
    }
}
