@_exported public import Delivery
public import Foundation

/// A mail, a text or a call that the sandbox's server sent, as the person gets it.
public struct OutboxMessage: Sendable, Identifiable {
    /// The message's own id.
    public let id: String
    /// The way that it took.
    public let channel: MessageChannel
    /// The address, or the number in the form of E.164.
    public let recipient: String
    /// What is dialled after the call is taken; nil for none.
    public let phoneExtension: String?
    /// The user's login; nil for a mail, which names an address only.
    public let login: String?
    /// Of a mail; nil for the others.
    public let subject: String?
    /// What it says.
    public let text: String
    /// The page of a mail; nil for the others.
    public let html: String?
    /// The code in it: six digits; nil for none.
    public let code: String?
    /// The address in it; nil for none.
    public let link: URL?
    /// When it was sent, by the sandbox's clock.
    public let time: Date
    /// What it is of no use after.
    public let expiresAt: Date
    /// Counts from 1.
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

    /// Six digits that stand alone, as a person finds them.
    private static func code(in text: String) -> String? {
        text.split(whereSeparator: { !$0.isNumber && !$0.isLetter }).first { $0.utf8.count == 6 && $0.allSatisfy(\.isNumber) }
            .map(String.init)
    }

    private static func link(in text: String) -> URL? {
        text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
            .flatMap { URL(string: String($0)) }
    }
}
