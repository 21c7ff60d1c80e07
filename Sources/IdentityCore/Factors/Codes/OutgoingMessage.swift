package import Foundation
internal import JOSE

/// A message to a person, to be sent after what it belongs to is stored. Sending it may fail: the person can ask for another.
///
/// Its descriptions show neither the code nor the link, the number or the address.
package struct OutgoingMessage: Sendable {
    /// What it is about.
    package enum Purpose: String, Sendable, Hashable, CaseIterable {
        /// Somebody signs in.
        case signIn
        /// A telephone or a mailbox is set up as a factor.
        case enrollment
        /// Somebody forgot a password.
        case recovery
        /// Somebody unlocks an account.
        case unlock
        /// An authenticator app is set up on the device that opens the link.
        case activation
        /// An account was made for somebody, who sets it up by the link.
        case welcome

        /// Who can ask for it.
        var occasion: CodeMethod.Occasion {
            switch self {
            case .recovery, .unlock: .anybody
            case .signIn, .enrollment, .activation, .welcome: .known
            }
        }
    }

    /// Unique.
    package var id: String
    /// The way that it takes.
    package var channel: CodeChannel
    /// Where it goes.
    package var destination: CodeDestination
    /// What it is about.
    package var purpose: Purpose
    /// Six digits; nil for a message that brings a link only.
    package var code: String?
    /// The secret of a link; the front door makes an address of it. Nil for none. Of ``Purpose/activation`` it is the whole last part of
    /// the address that the QR code holds.
    package var linkToken: String?
    /// The code and the link are good until then.
    package var expiresAt: Date
    /// To whom.
    package var recipient: Recipient
    /// The organization's name, as people know it.
    package var organizationName: String
    /// The application that it is about; nil for none.
    package var applicationName: String?
    /// The request that led to it.
    package var origin: Origin

    /// A person, as far as messages name them.
    package struct Recipient: Sendable {
        /// The user's id.
        package var userID: String
        /// The name that they sign in with.
        package var login: String
        /// The given name; nil if it is not known.
        package var firstName: String?
        /// The family name; nil if it is not known.
        package var lastName: String?
        /// The language that they prefer, a tag of RFC 5646; nil if it is not known.
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

    /// The request that led to a message.
    package struct Origin: Sendable {
        /// The request's id.
        package var requestID: String
        /// The peer's address; nil if it is not known.
        package var address: String?
        /// When it arrived.
        package var time: Date
    }
}

extension OutgoingMessage: Redacted {
    /// The id, the channel and the purpose.
    package var description: String { "OutgoingMessage(\(id), \(channel.rawValue), \(purpose.rawValue))" }
}

extension Engine {
    /// Notes in the system log that a message did not arrive: how it was sent, and why not; neither what it said nor where it went.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - reason: A word for why: `refused`, `gave up`, `dropped`.
    ///   - context: When.
    /// - Throws: ``StoreError`` if the store failed.
    package func noteUndelivered(_ message: OutgoingMessage, reason: String, context: RequestContext) async throws {
        var context = context
        context.requestID = message.origin.requestID
        var writes = Writes()
        writes.log(
            "user.mfa.code.undelivered", .failure, reason: "\(message.channel.rawValue): \(reason)", userID: message.recipient.userID)
        try await write(writes, context: context)
    }
}
