internal import Crypto
package import Foundation

/// The purpose of a ticket. A secret of one kind is never valid as another.
package enum TicketKind: String, Sendable, CaseIterable, Codable {
    /// Authorization code of a redirect.
    case authorizationCode
    /// Reference to a pushed authorization request.
    case pushedRequest
    /// Token that starts a browser session.
    case sessionToken
    /// Code with which a device without a browser polls.
    case deviceCode
    /// Code that the user enters for a device without a browser.
    case userCode
    case refreshToken
    /// Token of a sign-in at the classic API.
    case stateToken
    /// Token that continues a sign-in after its first factor.
    case mfaToken
    /// Code that waits for an answer on another channel.
    case oobCode
    /// Token of a recovery, which is mailed as a link or given to a trusted back end.
    case recoveryToken
    /// Id of a back-channel authentication request.
    case backchannelRequest
    /// Secret that the apps of one device share.
    case deviceSecret
    /// Id of a push challenge, with which a device answers.
    case pushChallenge
    /// Challenge that a passkey signs.
    case passkeyChallenge
    /// Link in a mail with a code.
    case mailLink
    /// Secret of the session cookie.
    case session
    /// Content of a sign-in page's QR code, which enrolls a phone.
    case enrollmentTicket
    /// Token for a user's first sign-in.
    case activationToken
}

/// The SHA-256 digest of a ticket's secret; the server does not store the secret.
package struct TicketDigest: Sendable, Hashable {
    package let bytes: [UInt8]

    /// Hashes a secret.
    package init(of secret: String) {
        bytes = Array(SHA256.hash(data: Array(secret.utf8)))
    }

    /// Wraps a stored digest of 32 bytes.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// A secret that refers to a record.
package struct Ticket: Sendable, Equatable {
    package enum Use: String, Sendable, Codable {
        /// Consumed by its first use.
        case once
        /// Valid until it is closed.
        case untilClosed
    }

    package var kind: TicketKind
    package var digest: TicketDigest
    /// The record to which the ticket refers. Removing the record removes the ticket.
    package var owner: RecordReference
    package var use: Use
    /// The expiry; `nil` for none.
    package var expiresAt: Date?
    /// Small data of the engine, such as scopes and times.
    package var payload: [UInt8]

    package init(
        kind: TicketKind, digest: TicketDigest, owner: RecordReference, use: Use, expiresAt: Date?, payload: [UInt8] = []
    ) {
        (self.kind, self.digest, self.owner, self.use, self.expiresAt, self.payload) = (kind, digest, owner, use, expiresAt, payload)
    }
}

/// The state of a ticket when it was read.
package enum TicketState: Sendable, Equatable {
    /// Valid.
    case fresh(Ticket)
    /// Consumed, with the time and the result of its use.
    case taken(Ticket, at: Date, gave: [UInt8])
    /// Closed before its expiry.
    case closed(Ticket)
    /// Past its expiry.
    case expired(Ticket)
    /// Never issued, or removed after its expiry.
    case unknown
}

/// A ticket in the form in which a store keeps it.
package struct StoredTicket: Sendable {
    package enum Standing: Sendable {
        case open
        case taken(at: Date, gave: [UInt8])
        case closed
    }

    package var ticket: Ticket
    package var standing: Standing

    package init(ticket: Ticket, standing: Standing) { (self.ticket, self.standing) = (ticket, standing) }

    package func state(now: Date) -> TicketState {
        if let end = ticket.expiresAt, end <= now { return .expired(ticket) }
        return switch standing {
        case .open: .fresh(ticket)
        case .taken(let at, let gave): .taken(ticket, at: at, gave: gave)
        case .closed: .closed(ticket)
        }
    }
}

extension TicketState {
    /// The ticket; `nil` if it is unknown.
    package var ticket: Ticket? {
        switch self {
        case .fresh(let ticket), .taken(let ticket, _, _), .closed(let ticket), .expired(let ticket): ticket
        case .unknown: nil
        }
    }
}
