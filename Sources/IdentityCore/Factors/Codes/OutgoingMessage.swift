package import Foundation
internal import JOSE

/// A message to the user. Sending may fail; the user can then request another message. The descriptions contain no code, link, number or
/// address.
package struct OutgoingMessage: Sendable {
    package enum Purpose: String, Sendable, Hashable, CaseIterable {
        case signIn
        /// A phone or a mailbox is enrolled.
        case enrollment
        case recovery
        case unlock
        /// The user enrolls an authenticator app on the device that opens the link.
        case activation
        /// The user activates a new account by the link.
        case welcome

        var occasion: SentCodeMethod.Occasion {
            switch self {
            case .recovery, .unlock: .anybody
            case .signIn, .enrollment, .activation, .welcome: .known
            }
        }
    }

    package var id: String
    package var channel: CodeChannel
    package var destination: CodeDestination
    package var purpose: Purpose
    /// The code of six digits; `nil` for a message with a link only.
    package var code: String?
    /// The secret of a link, from which the endpoint builds the URL; `nil` for none. For ``Purpose/activation``, the last part of the URL
    /// in the QR code.
    package var linkToken: String?
    /// The expiry of the code and of the link.
    package var expiresAt: Date
    package var recipient: Recipient
    package var organizationName: String
    /// The name of the application to which the user signs in; `nil` for none.
    package var applicationName: String?
    package var origin: Origin

    /// The user's data for the text of the message. Unknown properties are `nil`.
    package struct Recipient: Sendable {
        package var userID: String
        package var login: String
        package var firstName: String?
        package var lastName: String?
        /// The preferred language: a language tag (RFC 5646).
        package var locale: String?

        init(_ user: User) {
            func text(_ name: String) -> String? { user.profile[name]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } }
            userID = user.id
            login = user.login
            firstName = text("given_name")
            lastName = text("family_name")
            locale = text("locale")
        }
    }

    /// The request that caused a message.
    package struct Origin: Sendable {
        package var requestID: String
        /// The client's IP address; `nil` if unknown.
        package var address: String?
        /// The time when the request arrived.
        package var time: Date
    }
}

extension OutgoingMessage: Redacted {
    package var description: String { "OutgoingMessage(\(id), \(channel.rawValue), \(purpose.rawValue))" }
}

extension Engine {
    /// Logs that a message was not delivered, with the channel and a reason (`refused`, `gave up`, `dropped`), without content or
    /// destination.
    package func noteUndelivered(_ message: OutgoingMessage, reason: String, context: RequestContext) async throws {
        var context = context
        context.requestID = message.origin.requestID
        var writes = Writes()
        writes.log(
            "user.mfa.code.undelivered", .failure, reason: "\(message.channel.rawValue): \(reason)", userID: message.recipient.userID)
        try await write(writes, context: context)
    }
}
