public import Foundation
public import JOSE

/// The tokens that a sign-in or a refresh brought, with what is needed to use and renew them.
///
/// A `Sendable` value type. Descriptions and mirrors show no secret. Its stored form (`Codable`) is versioned; see ``init(from:)``.
public struct Token: Sendable, HasClaims, Expires, APIAuthorization {
    /// The names of its members.
    public typealias ClaimType = TokenClaim

    /// The identifier on this device: random, and kept over refreshes.
    public let id: String

    /// When it was received, by the server's clock.
    public let issuedAt: Date?

    /// The scheme of the header `Authorization`, such as `Bearer`.
    public let tokenType: String

    /// For how many seconds the access token is good.
    public let expiresIn: TimeInterval

    /// The access token.
    public let accessToken: String

    /// The ID token, if there is one.
    public let idToken: JWT?

    /// Which client it belongs to.
    public let context: Context

    /// The response as it was received. It contains secrets.
    public let json: JSON

    /// The scopes that were granted.
    public var scope: [String]? { json["scope"]?.stringValue?.whitespaceSeparated }

    /// The refresh token, if there is one.
    public var refreshToken: String? { json["refresh_token"]?.stringValue }

    /// The device secret, if there is one.
    public var deviceSecret: String? { json["device_secret"]?.stringValue }

    /// What an exchanged token is.
    public var issuedTokenType: String? { json["issued_token_type"]?.stringValue }

    /// The members of the response. They contain secrets.
    public var payload: [String: any Sendable] { json.claimPayload }

    /// Whether a client is refreshing this token now.
    public var isRefreshing: Bool { TokenRefreshes.isRefreshing(id) }

    /// The value of the header `Authorization`. It is a secret.
    ///
    /// Types are compared without regard to case (RFC 6749, 5.1), and there are servers that send `bearer` and accept `Bearer` only: the
    /// schemes are spelled as RFC 6750 and RFC 9449 do.
    public var authorizationHeader: String? {
        let scheme = ["Bearer", "DPoP"].first { $0.lowercased() == tokenType.lowercased() } ?? tokenType
        return "\(scheme) \(accessToken)"
    }

    /// The token of a kind, if there is one.
    ///
    /// - Parameter kind: Which one.
    /// - Returns: The token as a string.
    public func token(of kind: Kind) -> String? {
        switch kind {
        case .accessToken: accessToken.isEmpty ? nil : accessToken
        case .refreshToken: refreshToken
        case .idToken: idToken?.rawValue
        case .deviceSecret: deviceSecret
        }
    }

    /// Reads a server's response.
    ///
    /// - Parameters:
    ///   - id: The identifier on this device.
    ///   - issuedAt: When it was received.
    ///   - context: Which client it belongs to.
    ///   - response: The response. A member `id` means nothing.
    /// - Throws: ``ClaimError`` or ``MistypedMemberError`` that names the member, ``JWTError`` for an ID token that is none.
    init(id: String, issuedAt: Date?, context: Context, response: JSON) throws {
        let members = try TokenMembers(response: response)
        self.id = id
        // To the precision that the stored form keeps, so that a token equals itself after storage.
        self.issuedAt = issuedAt.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970) }
        self.context = context
        json = response
        tokenType = try members.string(.tokenType)
        expiresIn = try members.seconds(.expiresIn)
        accessToken = context.allowsMissingAccessToken ? try members.optionalString(.accessToken) ?? "" : try members.string(.accessToken)
        _ = try (members.optionalString(.refreshToken), members.optionalString(.scope), members.optionalString(.deviceSecret))
        idToken = try members.optionalString(.idToken).map { try JWT($0) }
    }

    /// Checks that a header can carry the access token and its type. Stored tokens are not checked: they were when they were received.
    ///
    /// - Throws: ``MistypedMemberError`` that names the member.
    func checkHeader() throws {
        for (claim, text) in [(TokenClaim.tokenType, tokenType), (.accessToken, accessToken)] where !text.isEmpty && !text.isHeaderToken {
            throw MistypedMemberError(
                key: claim.rawValue, expected: "visible ASCII characters", found: "a string with spaces, control or other characters")
        }
    }

    /// This token with another's response, which keeps members that a refresh leaves out.
    ///
    /// - Parameter newer: The token that the refresh brought.
    /// - Returns: The newer token with this one's identifier.
    /// - Throws: Nothing that reading the two responses has not thrown before.
    func replaced(by newer: Token) throws -> Token {
        var members = json.objectValue ?? [:]
        // The ID token and what belongs to it is that of the last response, or the older one's if the response has none.
        for (name, value) in newer.json.objectValue ?? [:] where value != .null {
            // Some servers send an empty one for none.
            if name == TokenClaim.refreshToken.rawValue, value == .string("") { continue }
            members[name] = value
        }
        return try Token(id: id, issuedAt: newer.issuedAt, context: context.bound(as: newer.context), response: .object(members))
    }

    /// This token with another's ID token, or with none if the other has none.
    func keepingIDToken(of older: Token) throws -> Token {
        var members = json.objectValue ?? [:]
        members[TokenClaim.idToken.rawValue] = older.json[TokenClaim.idToken.rawValue]
        return try Token(id: id, issuedAt: issuedAt, context: context, response: .object(members))
    }
}

extension Token {
    /// One of the tokens in a ``Token``.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// The access token.
        case accessToken = "access_token"
        /// The refresh token.
        case refreshToken = "refresh_token"
        /// The ID token.
        case idToken = "id_token"
        /// The device secret.
        case deviceSecret = "device_secret"
    }

    /// Which of the tokens are revoked.
    public enum RevokeType: CaseIterable, Hashable, Sendable {
        /// The access token only.
        case accessToken
        /// The refresh token, and with it the access tokens that it brought.
        case refreshToken
        /// The device secret, and with it all tokens of the device.
        case deviceSecret
        /// All of them.
        case all
    }

    /// The name of a member of a token response.
    public enum TokenClaim: String, IsClaim, CaseIterable, Codable {
        /// The access token.
        case accessToken = "access_token"
        /// The scheme of the header `Authorization`.
        case tokenType = "token_type"
        /// For how many seconds the access token is good.
        case expiresIn = "expires_in"
        /// The refresh token.
        case refreshToken = "refresh_token"
        /// The scopes that were granted.
        case scope
        /// The ID token.
        case idToken = "id_token"
        /// What an exchanged token is.
        case issuedTokenType = "issued_token_type"
        /// The device secret.
        case deviceSecret = "device_secret"
    }
}

extension Token: Equatable, Hashable {
    /// Whether both have the same identifier, time of receipt, client and response.
    public static func == (lhs: Token, rhs: Token) -> Bool {
        lhs.id == rhs.id && lhs.issuedAt == rhs.issuedAt && lhs.context == rhs.context && lhs.json == rhs.json
    }

    /// Hashes identifier and access token.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(accessToken)
    }
}

extension Token: Redacted {
    /// Identifier, kind and scopes; no secret.
    public var description: String {
        let kinds = Kind.allCases.filter { token(of: $0) != nil }.map(\.rawValue)
        return "Token(id: \(id), \(kinds.joined(separator: ", ")), scope: \(scope?.joined(separator: " ") ?? "nil"))"
    }
}

/// Reads the members of a token response, with errors that name the member and never its value.
private struct TokenMembers {
    private let members: [String: JSON]

    init(response: JSON) throws {
        guard let members = response.objectValue else {
            throw MistypedMemberError(key: "token response", expected: "an object", found: response.kind)
        }
        self.members = members
    }

    func optionalString(_ claim: Token.TokenClaim) throws -> String? {
        switch members[claim.rawValue] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        case let other?: throw MistypedMemberError(key: claim.rawValue, expected: "a string", found: other.kind)
        }
    }

    func string(_ claim: Token.TokenClaim) throws -> String {
        guard let text = try optionalString(claim), !text.isEmpty else { throw ClaimError.missingRequiredValue(key: claim.rawValue) }
        return text
    }

    /// The longest accepted lifetime, in seconds: about 300 years. A longer one would give dates that no calendar can show.
    private static let longestLifetime: TimeInterval = 1e10

    /// A number, or a string with one: some servers quote it.
    func seconds(_ claim: Token.TokenClaim) throws -> TimeInterval {
        let seconds: TimeInterval?
        switch members[claim.rawValue] {
        case nil, .null?: throw ClaimError.missingRequiredValue(key: claim.rawValue)
        case .integer(let value)?: seconds = TimeInterval(value)
        case .number(let value)?: seconds = value
        case .string(let text)?: seconds = TimeInterval(text.trimmingCharacters(in: .whitespaces))
        case let other?: throw MistypedMemberError(key: claim.rawValue, expected: "a number", found: other.kind)
        }
        guard let seconds, seconds.isFinite else {
            throw MistypedMemberError(key: claim.rawValue, expected: "a number", found: "a string that is none")
        }
        return min(max(seconds, -Self.longestLifetime), Self.longestLifetime)
    }
}
