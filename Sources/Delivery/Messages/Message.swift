package import Foundation
internal import JOSE

/// A message to a person, ready to be sent.
package enum Message: Sendable {
    /// A mail.
    case mail(Mail)
    /// A text or a call.
    case telephone(TelephoneMessage)

    /// The message's own id, of letters, digits and hyphens.
    package var id: String {
        switch self {
        case .mail(let mail): mail.id
        case .telephone(let message): message.id
        }
    }

    /// Nobody wants it after that.
    package var expiresAt: Date {
        switch self {
        case .mail(let mail): mail.expiresAt
        case .telephone(let message): message.expiresAt
        }
    }

    /// The way that it takes.
    package var channel: MessageChannel {
        switch self {
        case .mail: .mail
        case .telephone(let message): message.channel == .text ? .text : .call
        }
    }
}

/// The ways that messages take.
public enum MessageChannel: String, Sendable, Hashable, CaseIterable {
    /// SMTP.
    case mail
    /// A text message.
    case text
    /// A call.
    case call
}

/// How a message ended. Every message ends in exactly one of these.
public enum MessageOutcome: Sendable, Hashable {
    /// Who carries messages took it, and knows it by this id; whether it arrives, nobody says.
    case delivered(id: String)
    /// It was refused for a reason that the next try would meet again.
    case refused(reason: String)
    /// It was tried, and time or tries ran out; or it had expired before it was its turn.
    case gaveUp(reason: String)
    /// It was never tried: the queue was full, or ended.
    case dropped

    /// A word for it, which says nothing of the message.
    public var word: String {
        switch self {
        case .delivered: "delivered"
        case .refused: "refused"
        case .gaveUp: "gave up"
        case .dropped: "dropped"
        }
    }
}

/// Brings messages to people.
package protocol MessageSender: Sendable {
    /// Sends one message, and tries again as long as that makes sense.
    ///
    /// Returns soon after the message expired or the task was cancelled, at the latest. Safe from any task, many at once.
    ///
    /// - Parameter message: What to send, and to whom.
    /// - Returns: How it ended.
    func send(_ message: Message) async -> MessageOutcome
}

/// A mail with a text and a page.
///
/// Its descriptions show neither the address nor what it says.
package struct Mail: Sendable {
    /// Of letters, digits and hyphens.
    package var id: String
    /// The recipient's address, without a name.
    package var recipient: String
    /// One line. Line breaks in it become spaces.
    package var subject: String
    /// For programs that show no pages.
    package var text: String
    /// HTML.
    package var html: String
    /// The language of both, a tag of RFC 5646.
    package var language: String
    /// Nobody wants it after that.
    package var expiresAt: Date

    /// Describes a mail.
    package init(id: String, recipient: String, subject: String, text: String, html: String, language: String = "en", expiresAt: Date) {
        self.id = id
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.html = html
        self.language = language
        self.expiresAt = expiresAt
    }
}

extension Mail: Redacted {
    /// The id.
    package var description: String { "Mail(\(id))" }
}

/// A text or a call.
///
/// Its descriptions show neither the number nor what it says.
package struct TelephoneMessage: Sendable {
    /// The two ways that a telephone has.
    package enum Channel: String, Sendable, Hashable {
        /// A text message.
        case text = "SMS"
        /// A call.
        case call = "VOICE"
    }

    /// What it is about.
    package enum Purpose: String, Sendable, Hashable {
        /// Somebody signs in.
        case verification = "com.okta.user.telephony.mfa-verification"
        /// The telephone is set up.
        case enrollment = "com.okta.user.telephony.pre-enrollment"
        /// A password is set again.
        case passwordReset = "com.okta.user.telephony.password-reset"
        /// An account is unlocked.
        case accountUnlock = "com.okta.user.telephony.account-unlock"
    }

    /// To whom, as far as whoever carries it is told.
    package struct Recipient: Sendable {
        /// The user's id.
        package var userID: String
        /// The name that they sign in with.
        package var login: String
        /// The given name; nil if it is not known.
        package var firstName: String?
        /// The family name; nil if it is not known.
        package var lastName: String?

        /// Describes a person.
        package init(userID: String, login: String, firstName: String? = nil, lastName: String? = nil) {
            self.userID = userID
            self.login = login
            self.firstName = firstName
            self.lastName = lastName
        }
    }

    /// Of letters, digits and hyphens.
    package var id: String
    /// The way that it takes.
    package var channel: Channel
    /// In the form of E.164.
    package var phoneNumber: String
    /// What is dialled after the call is taken; nil for none.
    package var phoneExtension: String?
    /// What the text says, or the call.
    package var text: String
    /// The code in it; nil for none.
    package var code: String?
    /// The language, a tag of RFC 5646.
    package var language: String
    /// What it is about.
    package var purpose: Purpose
    /// To whom.
    package var recipient: Recipient
    /// The request that led to it.
    package var requestID: String
    /// From where that came; nil if it is not known.
    package var address: String?
    /// Nobody wants it after that.
    package var expiresAt: Date

    /// Describes a text or a call.
    package init(
        id: String, channel: Channel, phoneNumber: String, phoneExtension: String? = nil, text: String, code: String?,
        language: String = "en", purpose: Purpose, recipient: Recipient, requestID: String, address: String? = nil, expiresAt: Date
    ) {
        self.id = id
        self.channel = channel
        self.phoneNumber = phoneNumber
        self.phoneExtension = phoneExtension
        self.text = text
        self.code = code
        self.language = language
        self.purpose = purpose
        self.recipient = recipient
        self.requestID = requestID
        self.address = address
        self.expiresAt = expiresAt
    }
}

extension TelephoneMessage: Redacted {
    /// The id and the channel.
    package var description: String { "TelephoneMessage(\(id), \(channel.rawValue))" }
}
