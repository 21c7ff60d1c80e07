import Delivery
import NIOConcurrencyHelpers
import Testing

/// A message sender that records mails, texts and calls and delivers nothing.
final class RecordingMessages: MessageSender {
    private let arriving: AsyncStream<Message>
    private let entrance: AsyncStream<Message>.Continuation
    private let kept: NIOLockedValueBox<[Message]> = NIOLockedValueBox([])

    init() { (arriving, entrance) = AsyncStream.makeStream(of: Message.self) }

    /// All recorded messages.
    var sent: [Message] { kept.withLockedValue { $0 } }

    /// Waits for the next unread message and returns it.
    func next() async throws -> Message {
        var iterator = arriving.makeAsyncIterator()
        return try #require(await iterator.next())
    }

    /// Waits for the next unread message and returns its code.
    func code() async throws -> String {
        switch try await next() {
        case .telephone(let message): return try #require(message.code)
        case .mail(let mail): return String(try #require(mail.text.firstMatch(of: /\b[0-9]{6}\b/)).output)
        }
    }

    /// Waits for the next unread message and returns the last part of its link.
    func linkToken() async throws -> String {
        let text =
            switch try await next() {
            case .telephone(let message): message.text
            case .mail(let mail): mail.text
            }
        return String(try #require(text.firstMatch(of: /https:\/\/[^\s]+\/([^\s\/]+)/)).1)
    }

    func send(_ message: Message) async -> MessageOutcome {
        kept.withLockedValue { $0.append(message) }
        entrance.yield(message)
        return .delivered(id: message.id)
    }
}
