public import Delivery
internal import Foundation
internal import NIOConcurrencyHelpers

/// The mails, texts and calls of the sandbox's server; they never leave this machine.
///
/// ```swift
/// let message = try await sandbox.outbox.next(to: "+15551234821")
/// let code = message.code
/// ```
///
/// It keeps the last 1,000 messages. Safe from any task.
public final class Outbox: Sendable {
    /// The maximum number of stored messages.
    static let capacity = 1_000

    private struct State {
        var messages: [OutboxMessage] = []
        var count = 0
        /// The numbers of messages that `next` has returned.
        var taken: Set<Int> = []
        var isClosed = false
        var refusal: MessageOutcome?
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var lastWatcher = 0
    }

    private let state = NIOLockedValueBox(State())
    private let clock: SandboxClock

    init(clock: SandboxClock) {
        self.clock = clock
    }

    /// The messages, oldest first.
    public var messages: [OutboxMessage] { state.withLockedValue { $0.messages } }

    /// Returns the next message that was not returned before; waits until there is one.
    /// - Parameters:
    ///   - recipient: An address, a phone number or a login; `nil` for any.
    ///   - channel: The channel; `nil` for any.
    /// - Throws: `CancellationError` if the task is cancelled or the sandbox stops.
    public func next(to recipient: String? = nil, by channel: MessageChannel? = nil) async throws -> OutboxMessage {
        for await _ in changes {
            let found = state.withLockedValue { state -> OutboxMessage? in
                guard
                    let message = state.messages.first(where: { message in
                        !state.taken.contains(message.number) && message.isFor(recipient) && (channel == nil || message.channel == channel)
                    })
                else { return nil }
                state.taken.insert(message.number)
                return message
            }
            if let found { return found }
        }
        throw CancellationError()
    }

    /// Deletes all messages.
    public func clear() {
        let watchers = state.withLockedValue { state in
            state.messages = []
            state.taken = []
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield() }
    }

    /// Deletes all messages and pending faults.
    func reset() {
        fail(with: nil)
        clear()
    }

    /// Simulates a failure for all messages from now on, such as a refusal by the mail server.
    /// - Parameter outcome: The outcome of each message; `nil` delivers messages again.
    public func fail(with outcome: MessageOutcome?) {
        state.withLockedValue { $0.refusal = outcome }
    }

    /// Stores a message.
    func take(_ message: Message) -> MessageOutcome {
        let now = clock.now
        let (outcome, watchers) = state.withLockedValue { state -> (MessageOutcome, [AsyncStream<Void>.Continuation]) in
            if let refusal = state.refusal { return (refusal, []) }
            state.count += 1
            state.messages.append(OutboxMessage(message, number: state.count, time: now))
            if state.messages.count > Self.capacity {
                let gone = state.messages.removeFirst()
                state.taken.remove(gone.number)
            }
            return (.delivered(id: message.id), Array(state.watchers.values))
        }
        for watcher in watchers { watcher.yield() }
        return outcome
    }

    /// Yields once at the beginning, and after each change; ends when the sandbox stops.
    var changes: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLockedValue { state -> Int? in
                guard !state.isClosed else { return nil }
                state.lastWatcher += 1
                state.watchers[state.lastWatcher] = continuation
                return state.lastWatcher
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in self?.forget(id) }
            continuation.yield()
        }
    }

    private func forget(_ id: Int) { state.withLockedValue { $0.watchers[id] = nil } }

    /// Ends all waiting calls.
    func close() {
        let watchers = state.withLockedValue { state in
            state.isClosed = true
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }
}

/// Puts messages into an outbox instead of sending them.
struct OutboxSender: MessageSender {
    let outbox: Outbox

    func send(_ message: Message) async -> MessageOutcome { outbox.take(message) }
}

extension OutboxMessage {
    fileprivate func isFor(_ recipient: String?) -> Bool {
        guard let recipient = recipient?.lowercased() else { return true }
        return self.recipient.lowercased() == recipient || login?.lowercased() == recipient
    }
}
