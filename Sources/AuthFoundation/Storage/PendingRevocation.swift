public import Foundation
public import JOSE

/// A sign-out that is done here and still has to reach the server.
///
/// It holds the whole token: a storage keeps it as safely as tokens themselves.
public struct PendingRevocation: Codable, Sendable, Identifiable, Redacted {
    /// The id of the token.
    public var id: String { token.id }

    /// The token to revoke.
    public let token: Token

    /// What of it to revoke.
    public let type: Token.RevokeType

    /// When the person signed out.
    public let queuedAt: Date

    /// A sign-out to be delivered.
    ///
    /// - Parameters:
    ///   - token: The token to revoke.
    ///   - type: What of it to revoke.
    ///   - queuedAt: When the person signed out.
    public init(token: Token, type: Token.RevokeType, queuedAt: Date) {
        self.token = token
        self.type = type
        self.queuedAt = queuedAt
    }

    /// Names the token by its id; shows nothing secret.
    public var description: String { "PendingRevocation(id: \(id))" }

    private enum CodingKeys: String, CodingKey { case token, type, queuedAt }

    /// Reads a stored sign-out.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if something is missing or unknown.
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

    /// Writes the sign-out for storage.
    ///
    /// - Parameter encoder: The encoder.
    /// - Throws: What the encoder throws.
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

/// A storage that also keeps the sign-outs that could not be delivered yet.
///
/// With a storage that does not, they are kept in memory and lost with the process.
@CredentialActor
public protocol PendingRevocationStorage: TokenStorage {
    /// The sign-outs still to be delivered, oldest first.
    ///
    /// - Returns: All that can be read.
    /// - Throws: Errors of reading.
    func pendingRevocations() throws -> [PendingRevocation]

    /// Keeps a sign-out until it is delivered; one of the same id is replaced.
    ///
    /// - Parameter revocation: The sign-out.
    /// - Throws: Errors of writing.
    func add(pendingRevocation revocation: PendingRevocation) throws

    /// Forgets a sign-out, because it was delivered.
    ///
    /// - Parameter id: The id of its token. An unknown one is no error.
    /// - Throws: Errors of writing.
    func removePendingRevocation(id: String) throws
}
