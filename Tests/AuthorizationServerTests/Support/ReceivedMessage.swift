import Delivery
import Foundation

/// The parts of a message that a user can read and use.
struct ReceivedMessage: Sendable {
    var channel: MessageChannel
    /// A mail address or a phone number.
    var recipient: String
    var text: String
    /// The code of six digits; `nil` for none.
    var code: String?
    /// The path of the link; `nil` for none.
    var link: String?

    init(_ message: Message) {
        channel = message.channel
        switch message {
        case .mail(let mail):
            (recipient, text) = (mail.recipient, mail.text)
            code = mail.text.split(whereSeparator: { !$0.isNumber && !$0.isLetter })
                .first { $0.utf8.count == 6 && $0.allSatisfy(\.isNumber) }.map(String.init)
        case .telephone(let message): (recipient, text, code) = (message.phoneNumber, message.text, message.code)
        }
        link = text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix(RunningServer.origin) }
            .map { String($0.dropFirst(RunningServer.origin.count)) }
    }
}

extension RecordingMessages {
    /// Waits for the next unread message and returns its parts.
    func received() async -> ReceivedMessage? { (try? await next()).map(ReceivedMessage.init) }
}
