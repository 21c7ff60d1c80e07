public import Foundation
public import JOSE

/// A message to a person, ready to be sent.
public enum Message: Sendable {
    /// A mail.
    case mail(Mail)
    /// A text or a call.
    case telephone(TelephoneMessage)

    /// The message's own id, of letters, digits and hyphens.
    public var id: String {
        switch self {
        case .mail(let mail): mail.id
        case .telephone(let message): message.id
        }
    }

    /// Nobody wants it after that.
    public var expiresAt: Date {
        switch self {
        case .mail(let mail): mail.expiresAt
        case .telephone(let message): message.expiresAt
        }
    }

    /// The way that it takes.
    public var channel: MessageChannel {
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
public protocol MessageSender: Sendable {
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
public struct Mail: Sendable {
    /// Of letters, digits and hyphens.
    public var id: String
    /// The recipient's address, without a name.
    public var recipient: String
    /// One line. Line breaks in it become spaces.
    public var subject: String
    /// For programs that show no pages.
    public var text: String
    /// HTML.
    public var html: String
    /// The language of both, a tag of RFC 5646.
    public var language: String
    /// Nobody wants it after that.
    public var expiresAt: Date

    /// Describes a mail.
    public init(id: String, recipient: String, subject: String, text: String, html: String, language: String = "en", expiresAt: Date) {
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
    public var description: String { "Mail(\(id))" }
}

/// A text or a call.
///
/// Its descriptions show neither the number nor what it says.
public struct TelephoneMessage: Sendable {
    /// The two ways that a telephone has.
    public enum Channel: String, Sendable, Hashable {
        /// A text message.
        case text = "SMS"
        /// A call.
        case call = "VOICE"
    }

    /// What it is about.
    public enum Purpose: String, Sendable, Hashable {
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
    public struct Recipient: Sendable {
        /// The user's id.
        public var userID: String
        /// The name that they sign in with.
        public var login: String
        /// The given name; nil if it is not known.
        public var firstName: String?
        /// The family name; nil if it is not known.
        public var lastName: String?

        /// Describes a person.
        public init(userID: String, login: String, firstName: String? = nil, lastName: String? = nil) {
            self.userID = userID
            self.login = login
            self.firstName = firstName
            self.lastName = lastName
        }
    }

    /// Of letters, digits and hyphens.
    public var id: String
    /// The way that it takes.
    public var channel: Channel
    /// In the form of E.164.
    public var phoneNumber: String
    /// What is dialled after the call is taken; nil for none.
    public var phoneExtension: String?
    /// What the text says, or the call.
    public var text: String
    /// The code in it; nil for none.
    public var code: String?
    /// The language, a tag of RFC 5646.
    public var language: String
    /// What it is about.
    public var purpose: Purpose
    /// To whom.
    public var recipient: Recipient
    /// The request that led to it.
    public var requestID: String
    /// From where that came; nil if it is not known.
    public var address: String?
    /// Nobody wants it after that.
    public var expiresAt: Date

    /// Describes a text or a call.
    public init(
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
    public var description: String { "TelephoneMessage(\(id), \(channel.rawValue))" }
}
