internal import AuthFoundation
@_exported public import Delivery
public import Foundation
internal import NIOConcurrencyHelpers

/// The mails, texts and calls of the sandbox's server; they never leave this machine.
///
/// ```swift
/// let message = try await sandbox.outbox.next(to: "+15551234821")
/// let code = message.code
/// ```
///
/// The outbox keeps the last 1,000 messages. Safe from any task.
public final class Outbox: Sendable {
    /// The maximum number of stored messages.
    static let capacity = 1_000

    private struct State {
        var messages: [OutboxMessage] = []
        var count = 0
        /// The numbers of messages that `next` has returned.
        var taken: Set<Int> = []
        var refusal: MessageOutcome?
    }

    private let state = NIOLockedValueBox(State())
    private let watchers = Broadcaster<Void>(capacity: 1)
    private let clock: SandboxClock

    init(clock: SandboxClock) {
        self.clock = clock
    }

    /// The messages, oldest first.
    public var messages: [OutboxMessage] { state.withLockedValue { $0.messages } }

    /// Returns the next message that this function has not returned before. Waits until such a message arrives.
    /// - Parameters:
    ///   - recipient: A mail address, a phone number or a login; `nil` for any recipient.
    ///   - channel: The channel; `nil` for any channel.
    /// - Throws: `CancellationError` if the task is cancelled, or if the sandbox stops before such a message arrives.
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
        state.withLockedValue { state in
            state.messages = []
            state.taken = []
        }
        watchers.send(())
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

    func take(_ message: Message) -> MessageOutcome {
        let now = clock.now
        let outcome = state.withLockedValue { state -> MessageOutcome in
            if let refusal = state.refusal { return refusal }
            state.count += 1
            state.messages.append(OutboxMessage(message, number: state.count, time: now))
            if state.messages.count > Self.capacity {
                let gone = state.messages.removeFirst()
                state.taken.remove(gone.number)
            }
            return .delivered(id: message.id)
        }
        watchers.send(())
        return outcome
    }

    /// A stream that yields once at the beginning, and after each change. It ends when the sandbox stops.
    var changes: AsyncStream<Void> { watchers.subscribe(startingWith: ()) }

    /// Ends all waiting calls.
    func close() {
        watchers.finish()
    }
}

/// A sender that puts messages into an outbox instead of sending them.
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

/// A mail, a text or a call from the sandbox's server, as the user receives it.
public struct OutboxMessage: Sendable, Identifiable {
    /// The message's ID.
    public let id: String
    /// The channel.
    public let channel: MessageChannel
    /// The mail address, or the phone number in E.164 format.
    public let recipient: String
    /// The extension to dial after the call is answered; `nil` for none.
    public let phoneExtension: String?
    /// The user's login; `nil` for a mail, because the server passes only the address of a mail.
    public let login: String?
    /// The subject of a mail; otherwise `nil`.
    public let subject: String?
    /// The text of the message.
    public let text: String
    /// The HTML body of a mail; otherwise `nil`.
    public let html: String?
    /// The code in the message, six digits; `nil` without a code.
    public let code: String?
    /// The first link in the text; `nil` without a link.
    public let link: URL?
    /// The time of sending, by the sandbox's clock.
    public let time: Date
    /// The time after which the message is useless.
    public let expiresAt: Date
    /// The number of the message, from 1.
    public let number: Int

    init(_ message: Message, number: Int, time: Date) {
        (id, channel, expiresAt) = (message.id, message.channel, message.expiresAt)
        (self.number, self.time) = (number, time)
        switch message {
        case .mail(let mail):
            (recipient, phoneExtension, login) = (mail.recipient, nil, nil)
            (subject, text, html) = (mail.subject, mail.text, mail.html)
            code = Self.code(in: mail.text)
        case .telephone(let message):
            (recipient, phoneExtension, login) = (message.phoneNumber, message.phoneExtension, message.recipient.login)
            (subject, text, html) = (nil, message.text, nil)
            code = message.code
        }
        link = Self.link(in: text)
    }

    /// Returns the first word of exactly six digits; `nil` if there is none.
    private static func code(in text: String) -> String? {
        text.split(whereSeparator: { !$0.isNumber && !$0.isLetter }).first { $0.utf8.count == 6 && $0.allSatisfy(\.isNumber) }
            .map(String.init)
    }

    private static func link(in text: String) -> URL? {
        text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
            .flatMap { URL(string: String($0)) }
    }
}
