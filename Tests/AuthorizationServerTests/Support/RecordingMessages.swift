import Delivery
import NIOConcurrencyHelpers
import Testing

/// Mails, texts and calls that nobody gets; they are kept.
final class RecordingMessages: MessageSender {
    private let arriving: AsyncStream<Message>
    private let entrance: AsyncStream<Message>.Continuation
    private let kept: NIOLockedValueBox<[Message]> = NIOLockedValueBox([])

    init() { (arriving, entrance) = AsyncStream.makeStream(of: Message.self) }

    /// Everything that was sent.
    var sent: [Message] { kept.withLockedValue { $0 } }

    /// The next message that was not asked for yet; waits for it.
    func next() async throws -> Message {
        var iterator = arriving.makeAsyncIterator()
        return try #require(await iterator.next())
    }

    /// The code of the next one.
    func code() async throws -> String {
        switch try await next() {
        case .telephone(let message): return try #require(message.code)
        case .mail(let mail): return String(try #require(mail.text.firstMatch(of: /\b[0-9]{6}\b/)).output)
        }
    }

    /// The last part of the link of the next one.
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
