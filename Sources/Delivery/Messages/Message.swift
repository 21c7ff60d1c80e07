package import Foundation
internal import JOSE

/// A message to a user, ready to be sent.
package enum Message: Sendable {
    case mail(Mail)
    /// A text message or a voice call.
    case telephone(TelephoneMessage)

    /// The message's ID: letters, digits and hyphens.
    package var id: String {
        switch self {
        case .mail(let mail): mail.id
        case .telephone(let message): message.id
        }
    }

    /// The time after which the message is no longer sent.
    package var expiresAt: Date {
        switch self {
        case .mail(let mail): mail.expiresAt
        case .telephone(let message): message.expiresAt
        }
    }

    package var channel: MessageChannel {
        switch self {
        case .mail: .mail
        case .telephone(let message): message.channel == .text ? .text : .call
        }
    }
}

/// The channels by which messages are sent.
public enum MessageChannel: String, Sendable, Hashable, CaseIterable {
    /// Email over SMTP.
    case mail
    /// A text message.
    case text
    /// A voice call.
    case call
}

/// The final outcome of a message. Each message has exactly one.
public enum MessageOutcome: Sendable, Hashable {
    /// The mail server or telephony provider accepted the message. `id` is the ID that the provider reported, otherwise that of the
    /// message. Delivery to the user is not confirmed.
    case delivered(id: String)
    /// The message was refused, and a retry would fail for the same reason.
    case refused(reason: String)
    /// Sending was given up: the message expired, the attempts ran out, the reply was lost, or the task was cancelled.
    case gaveUp(reason: String)
    /// No attempt was made: the queue was full or shut down.
    case dropped

    /// The outcome's name for logs and metrics, without message content.
    public var word: String {
        switch self {
        case .delivered: "delivered"
        case .refused: "refused"
        case .gaveUp: "gave up"
        case .dropped: "dropped"
        }
    }
}

package protocol MessageSender: Sendable {
    /// Sends one message, and retries after temporary failures. Returns soon after the message expired or the task was cancelled. Safe to
    /// call concurrently from any task.
    func send(_ message: Message) async -> MessageOutcome
}

/// An email with a plain-text and an HTML body. Descriptions show neither the address nor the content.
package struct Mail: Sendable {
    /// The mail's ID: letters, digits and hyphens.
    package var id: String
    /// The recipient's address, without a name.
    package var recipient: String
    /// The subject: one line. Line breaks are replaced with spaces.
    package var subject: String
    /// The body in plain text, for mail clients that do not show HTML.
    package var text: String
    /// The body in HTML.
    package var html: String
    /// The language of both bodies: a language tag (RFC 5646).
    package var language: String
    /// The time after which the mail is no longer sent.
    package var expiresAt: Date

    package init(id: String, recipient: String, subject: String, text: String, html: String, language: String = "en", expiresAt: Date) {
        (self.id, self.recipient, self.subject, self.text, self.html, self.language) = (id, recipient, subject, text, html, language)
        self.expiresAt = expiresAt
    }
}

extension Mail: Redacted {
    package var description: String { "Mail(\(id))" }
}

/// A text message or a voice call. Descriptions show neither the phone number nor the content.
package struct TelephoneMessage: Sendable {
    package enum Channel: String, Sendable, Hashable {
        case text = "SMS"
        case call = "VOICE"
    }

    /// The reason for the message, as the hook's `requestType`.
    package enum Purpose: String, Sendable, Hashable {
        /// Sign-in.
        case verification = "com.okta.user.telephony.mfa-verification"
        /// Enrollment of the phone.
        case enrollment = "com.okta.user.telephony.pre-enrollment"
        /// Password reset.
        case passwordReset = "com.okta.user.telephony.password-reset"
        /// Account unlock.
        case accountUnlock = "com.okta.user.telephony.account-unlock"
    }

    /// The user's details that the telephony provider receives.
    package struct Recipient: Sendable {
        package var userID: String
        package var login: String
        package var firstName: String?
        package var lastName: String?

        package init(userID: String, login: String, firstName: String? = nil, lastName: String? = nil) {
            (self.userID, self.login, self.firstName, self.lastName) = (userID, login, firstName, lastName)
        }
    }

    /// The message's ID: letters, digits and hyphens.
    package var id: String
    package var channel: Channel
    /// The recipient's number in E.164 format.
    package var phoneNumber: String
    /// The extension to dial after the call is answered; `nil` for none.
    package var phoneExtension: String?
    /// The text to send or to speak.
    package var text: String
    /// The code in the text; `nil` for none.
    package var code: String?
    /// The language of the text: a language tag (RFC 5646).
    package var language: String
    package var purpose: Purpose
    package var recipient: Recipient
    /// The ID of the request that caused the message.
    package var requestID: String
    /// The IP address from which that request was sent; `nil` if unknown.
    package var address: String?
    /// The time after which the message is no longer sent.
    package var expiresAt: Date

    package init(
        id: String, channel: Channel, phoneNumber: String, phoneExtension: String? = nil, text: String, code: String?,
        language: String = "en", purpose: Purpose, recipient: Recipient, requestID: String, address: String? = nil, expiresAt: Date
    ) {
        (self.id, self.channel, self.phoneNumber, self.phoneExtension, self.text) = (id, channel, phoneNumber, phoneExtension, text)
        (self.code, self.language, self.purpose, self.recipient, self.requestID) = (code, language, purpose, recipient, requestID)
        (self.address, self.expiresAt) = (address, expiresAt)
    }
}

extension TelephoneMessage: Redacted {
    package var description: String { "TelephoneMessage(\(id), \(channel.rawValue))" }
}
