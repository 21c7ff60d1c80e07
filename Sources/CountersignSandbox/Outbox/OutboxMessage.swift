@_exported public import Delivery
public import Foundation

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
    /// The user's login; `nil` for a mail, which contains only an address.
    public let login: String?
    /// The subject of a mail; otherwise `nil`.
    public let subject: String?
    /// The text of the message.
    public let text: String
    /// The HTML body of a mail; otherwise `nil`.
    public let html: String?
    /// The code in the message, six digits; `nil` for none.
    public let code: String?
    /// The first link in the text; `nil` for none.
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

    /// Returns the first six digits that stand alone.
    private static func code(in text: String) -> String? {
        text.split(whereSeparator: { !$0.isNumber && !$0.isLetter }).first { $0.utf8.count == 6 && $0.allSatisfy(\.isNumber) }
            .map(String.init)
    }

    private static func link(in text: String) -> URL? {
        text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
            .flatMap { URL(string: String($0)) }
    }
}
