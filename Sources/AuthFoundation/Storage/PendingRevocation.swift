public import Foundation
public import JOSE

/// A token revocation of a local sign-out, which the server has not received yet. It contains the whole token, so a storage must protect it
/// like a token.
public struct PendingRevocation: Codable, Sendable, Identifiable, Redacted {
    /// The id of the token.
    public var id: String { token.id }

    /// The tokens of the sign-in.
    public let token: Token

    /// The kind of token to revoke, or all of them.
    public let type: Token.RevokeType

    /// The time of the sign-out.
    public let queuedAt: Date

    /// Creates a pending revocation.
    /// - Parameters:
    ///   - token: The tokens of the sign-in.
    ///   - type: The kind of token to revoke, or all of them.
    ///   - queuedAt: The time of the sign-out.
    public init(token: Token, type: Token.RevokeType, queuedAt: Date) {
        self.token = token
        self.type = type
        self.queuedAt = queuedAt
    }

    /// Creates a revocation of a token that arrived after its session was removed. It has another id, because the revocation of the old
    /// token has the session's id and may be pending.
    init(late token: Token, queuedAt: Date) throws {
        let late = try Token(
            id: token.id + Self.lateSuffix, issuedAt: token.issuedAt, context: token.context, response: token.json, isStored: true)
        self.init(token: late, type: .all, queuedAt: queuedAt)
    }

    private static let lateSuffix = ".late"

    /// The id of the session whose token is revoked.
    var sessionID: String { id.hasSuffix(Self.lateSuffix) ? String(id.dropLast(Self.lateSuffix.count)) : id }

    /// The id of the token; no secret.
    public var description: String { "PendingRevocation(id: \(id))" }

    private enum CodingKeys: String, CodingKey { case token, type, queuedAt }

    /// Decodes a stored revocation.
    /// - Throws: `DecodingError` if a value is missing or unknown, and the errors of decoding a ``Token``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        token = try container.decode(Token.self, forKey: .token)
        queuedAt = try container.decode(Date.self, forKey: .queuedAt)
        switch try container.decode(String.self, forKey: .type) {
        case "all": type = .all
        case "access_token": type = .accessToken
        case "refresh_token": type = .refreshToken
        case "device_secret": type = .deviceSecret
        case let other:
            throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "Unknown revocation type \(other).")
        }
    }

    /// Encodes the revocation for storage. The result contains secrets.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(token, forKey: .token)
        try container.encode(queuedAt, forKey: .queuedAt)
        let name =
            switch type {
            case .all: "all"
            case .accessToken: "access_token"
            case .refreshToken: "refresh_token"
            case .deviceSecret: "device_secret"
            }
        try container.encode(name, forKey: .type)
    }
}

/// A token storage that also stores pending revocations. With other storages, pending revocations are kept in memory and lost when the
/// process ends.
@CredentialActor
public protocol PendingRevocationStorage: TokenStorage {
    /// Returns the readable pending revocations, oldest first.
    /// - Throws: Read errors.
    func pendingRevocations() throws -> [PendingRevocation]

    /// Stores a revocation until it is delivered. A revocation with the same id is replaced.
    /// - Throws: Write errors.
    func add(pendingRevocation revocation: PendingRevocation) throws

    /// Removes a delivered revocation. No-op if the id is unknown.
    /// - Parameter id: The id of the revoked token.
    /// - Throws: Write errors.
    func removePendingRevocation(id: String) throws
}
