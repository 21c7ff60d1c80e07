internal import Crypto
package import Foundation

/// What a ticket is for. A secret of one kind is never accepted as another.
package enum TicketKind: String, Sendable, CaseIterable, Codable {
    /// The code of a redirect.
    case authorizationCode
    /// The reference to a request that was pushed.
    case pushedRequest
    /// Begins a session.
    case sessionToken
    /// What a device without a browser polls with.
    case deviceCode
    /// What the person types for that device.
    case userCode
    /// Brings new tokens.
    case refreshToken
    /// Leads to a sign-in at the classic API.
    case stateToken
    /// Goes on with a sign-in after its first factor.
    case mfaToken
    /// Waits for an answer by another channel.
    case oobCode
    /// Begins a recovery that a mail leads to.
    case recoveryToken
    /// Waits for an answer to a backchannel request.
    case backchannelRequest
    /// What apps of one device share.
    case deviceSecret
    /// The id of a push challenge, by which a device answers.
    case pushChallenge
    /// The link that came with a code by mail.
    case mailLink
    /// The secret in a browser's cookie, which leads to its session.
    case session
    /// What the QR code of a sign-in page holds, by which a phone is set up.
    case enrollmentTicket
    /// By which somebody signs in for the first time.
    case activationToken
}

/// The SHA-256 of a ticket's secret: all that the server stores of it.
package struct TicketDigest: Sendable, Hashable {
    /// The 32 bytes.
    package let bytes: [UInt8]

    /// Hashes a secret.
    /// - Parameter secret: The secret as its holder sends it.
    package init(of secret: String) {
        bytes = Array(SHA256.hash(data: Array(secret.utf8)))
    }

    /// Takes over a stored digest.
    /// - Parameter bytes: 32 bytes.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// A secret that leads one way to a record.
package struct Ticket: Sendable, Equatable {
    /// How often a ticket can be used.
    package enum Use: String, Sendable, Codable {
        /// Taken once.
        case once
        /// Good until it is closed.
        case untilClosed
    }

    /// What it is for.
    package var kind: TicketKind
    /// The hash of its secret.
    package var digest: TicketDigest
    /// The record that it leads to, which owns it: when the record goes, it goes.
    package var owner: RecordReference
    /// How often it can be used.
    package var use: Use
    /// When it ends; nil for never.
    package var expiresAt: Date?
    /// What the engine keeps beside it (small: scopes, times).
    package var payload: [UInt8]

    /// Makes a ticket.
    package init(
        kind: TicketKind, digest: TicketDigest, owner: RecordReference, use: Use, expiresAt: Date?, payload: [UInt8] = []
    ) {
        self.kind = kind
        self.digest = digest
        self.owner = owner
        self.use = use
        self.expiresAt = expiresAt
        self.payload = payload
    }
}

/// What a ticket was when it was looked at.
package enum TicketState: Sendable, Equatable {
    /// Good.
    case fresh(Ticket)
    /// Taken before, and what it gave then.
    case taken(Ticket, at: Date, gave: [UInt8])
    /// Closed before its time.
    case closed(Ticket)
    /// Past its expiry.
    case expired(Ticket)
    /// Not known (or removed long after its expiry).
    case unknown
}

extension TicketState {
    /// The ticket, whatever it was; nil if it is not known.
    package var ticket: Ticket? {
        switch self {
        case .fresh(let ticket), .taken(let ticket, _, _), .closed(let ticket), .expired(let ticket): ticket
        case .unknown: nil
        }
    }
}
