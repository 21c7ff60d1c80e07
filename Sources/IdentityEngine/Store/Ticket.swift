internal import Crypto
public import Foundation

/// What a ticket is for. A secret of one kind is never accepted as another.
public enum TicketKind: String, Sendable, CaseIterable, Codable {
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
public struct TicketDigest: Sendable, Hashable {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Hashes a secret.
    /// - Parameter secret: The secret as its holder sends it.
    public init(of secret: String) {
        bytes = Array(SHA256.hash(data: Array(secret.utf8)))
    }

    /// Takes over a stored digest.
    /// - Parameter bytes: 32 bytes.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// A secret that leads one way to a record.
public struct Ticket: Sendable, Equatable {
    /// How often a ticket can be used.
    public enum Use: String, Sendable, Codable {
        /// Taken once.
        case once
        /// Good until it is closed.
        case untilClosed
    }

    /// What it is for.
    public var kind: TicketKind
    /// The hash of its secret.
    public var digest: TicketDigest
    /// The record that it leads to, which owns it: when the record goes, it goes.
    public var owner: RecordReference
    /// How often it can be used.
    public var use: Use
    /// When it ends; nil for never.
    public var expiresAt: Date?
    /// What the engine keeps beside it (small: scopes, times).
    public var payload: [UInt8]

    /// Makes a ticket.
    public init(
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
public enum TicketState: Sendable, Equatable {
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
