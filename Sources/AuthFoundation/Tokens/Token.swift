public import Foundation
public import JOSE

/// The tokens of a sign-in or refresh, with the data that is needed to use and refresh them. Descriptions and mirrors contain no secret.
/// The stored form (`Codable`) is versioned; see ``init(from:)``.
public struct Token: Sendable, HasClaims, Expires, APIAuthorization {
    /// The names of the members.
    public typealias ClaimType = TokenClaim

    /// The identifier on this device: random, and unchanged by refreshes.
    public let id: String

    /// The time at which the client received the tokens, by the server's clock.
    public let issuedAt: Date?

    /// The scheme of the `Authorization` header, such as `Bearer`.
    public let tokenType: String

    /// The lifetime of the access token in seconds.
    public let expiresIn: TimeInterval

    /// The access token.
    public let accessToken: String

    /// The ID token; `nil` if there is none.
    public let idToken: JWT?

    /// The data of the token's sign-in, such as the client.
    public let context: Context

    /// The response as received. It contains secrets.
    public let json: JSON

    /// The granted scopes; `nil` if the response does not contain them.
    public var scope: [String]? { json["scope"]?.string?.whitespaceSeparated }

    /// The refresh token; `nil` if there is none.
    public var refreshToken: String? { json["refresh_token"]?.string }

    /// The device secret; `nil` if there is none.
    public var deviceSecret: String? { json["device_secret"]?.string }

    /// The type of an exchanged token; `nil` for other tokens.
    public var issuedTokenType: String? { json["issued_token_type"]?.string }

    /// The members of the response. They contain secrets.
    public var payload: [String: any Sendable] { json.claimPayload }

    /// Whether a client is currently refreshing this token.
    public var isRefreshing: Bool { TokenRefreshes.isRefreshing(id) }

    /// The value of the `Authorization` header; `nil` if there is no access token. It is secret. Token types are case-insensitive (RFC 6749
    /// §5.1), but some servers send `bearer` and accept only `Bearer`. Known schemes are therefore spelled as in RFC 6750 and RFC 9449.
    public var authorizationHeader: String? {
        guard !accessToken.isEmpty else { return nil }
        let scheme = ["Bearer", "DPoP"].first { $0.lowercased() == tokenType.lowercased() } ?? tokenType
        return "\(scheme) \(accessToken)"
    }

    /// Returns the token of this kind, or `nil` if there is none.
    public func token(of kind: Kind) -> String? {
        switch kind {
        case .accessToken: accessToken.isEmpty ? nil : accessToken
        case .refreshToken: refreshToken
        case .idToken: idToken?.rawValue
        case .deviceSecret: deviceSecret
        }
    }

    /// Parses a server's response. A member `id` in the response is ignored.
    /// - Parameter isStored: Whether the token comes from a storage. A stored token can lack the access token: another SDK stored only a
    ///   refresh token, which the first use exchanges.
    /// - Throws: ``ClaimError`` or ``MistypedMemberError`` that names the member; ``JWTError`` for a malformed ID token.
    init(id: String, issuedAt: Date?, context: Context, response: JSON, isStored: Bool = false) throws {
        let members = try TokenMembers(response: response)
        self.id = id
        // Round to the precision of the stored form, so that a token is equal to itself after storage.
        self.issuedAt = issuedAt.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970) }
        self.context = context
        json = response
        tokenType = try members.string(.tokenType)
        expiresIn = try members.seconds(.expiresIn)
        let isOptional = isStored || context.allowsMissingAccessToken
        accessToken = isOptional ? try members.optionalString(.accessToken) ?? "" : try members.string(.accessToken)
        _ = try (members.optionalString(.refreshToken), members.optionalString(.scope), members.optionalString(.deviceSecret))
        idToken = try members.optionalString(.idToken).map { try JWT($0) }
    }

    /// Checks that the access token and its type are valid in a header. Stored tokens were checked on receipt.
    /// - Throws: ``MistypedMemberError`` that names the member.
    func checkHeader() throws {
        for (claim, text) in [(TokenClaim.tokenType, tokenType), (.accessToken, accessToken)] where !text.isEmpty && !text.isHeaderToken {
            throw MistypedMemberError(
                key: claim.rawValue, expected: "visible ASCII characters", found: "a string with spaces, control or other characters")
        }
    }

    /// The token of a locked credential: who is signed in, without the tokens that give access.
    var withoutSecrets: Token { Token(withoutSecretsOf: self) }

    private init(withoutSecretsOf token: Token) {
        (id, issuedAt, tokenType, expiresIn) = (token.id, token.issuedAt, token.tokenType, token.expiresIn)
        (accessToken, idToken, context) = ("", token.idToken, token.context)
        let kept: [TokenClaim] = [.tokenType, .expiresIn, .scope, .idToken]
        json = .object((token.json.objectValue ?? [:]).filter { member in kept.contains { $0.rawValue == member.key } })
    }

    /// Returns the token of a refresh, with this token's id and the members that the refresh response omits.
    func replaced(by newer: Token) throws -> Token {
        var members = json.object ?? [:]
        // If the response has no ID token, the old ID token and its related members are kept.
        for (name, value) in newer.json.object ?? [:] where value != .null {
            // Some servers send an empty string instead of omitting the refresh token.
            if name == TokenClaim.refreshToken.rawValue, value == "" { continue }
            members[name] = value
        }
        return try Token(id: id, issuedAt: newer.issuedAt, context: context.bound(as: newer.context), response: JSON(members))
    }

    /// Returns this token with the ID token of an older token, or without an ID token if the older token has none.
    func keepingIDToken(of older: Token) throws -> Token {
        var members = json.object ?? [:]
        members[TokenClaim.idToken.rawValue] = older.json[TokenClaim.idToken.rawValue]
        return try Token(id: id, issuedAt: issuedAt, context: context, response: JSON(members))
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

    /// The kind of token to revoke, or all of them.
    public enum RevokeType: CaseIterable, Hashable, Sendable {
        /// The access token only.
        case accessToken
        /// The refresh token and the access tokens that were issued with it.
        case refreshToken
        /// The device secret, and the tokens of all apps that share it at this authorization server.
        case deviceSecret
        /// All tokens.
        case all
    }

    /// The name of a member of a token response.
    public enum TokenClaim: String, IsClaim, CaseIterable, Codable {
        /// The access token.
        case accessToken = "access_token"
        /// The scheme of the `Authorization` header.
        case tokenType = "token_type"
        /// The lifetime of the access token in seconds.
        case expiresIn = "expires_in"
        /// The refresh token.
        case refreshToken = "refresh_token"
        /// The granted scopes.
        case scope
        /// The ID token.
        case idToken = "id_token"
        /// The type of an exchanged token.
        case issuedTokenType = "issued_token_type"
        /// The device secret.
        case deviceSecret = "device_secret"
    }
}

extension Token: Equatable, Hashable {
    /// Whether the two values have the same id, time of receipt, context and response.
    public static func == (lhs: Token, rhs: Token) -> Bool {
        lhs.id == rhs.id && lhs.issuedAt == rhs.issuedAt && lhs.context == rhs.context && lhs.json == rhs.json
    }

    /// Hashes the id and the access token.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(accessToken)
    }
}

extension Token: Redacted {
    /// The id, the kinds and the scopes; no secret.
    public var description: String {
        let kinds = Kind.allCases.filter { token(of: $0) != nil }.map(\.rawValue)
        return "Token(id: \(id), \(kinds.joined(separator: ", ")), scope: \(scope?.joined(separator: " ") ?? "nil"))"
    }
}

/// A reader of the members of a token response. Errors name the member and never contain its value.
private struct TokenMembers {
    private let members: [String: JSON.Value]

    init(response: JSON) throws {
        guard let members = response.object else {
            throw MistypedMemberError(key: "token response", expected: "an object", found: response.kind)
        }
        self.members = members
    }

    func optionalString(_ claim: Token.TokenClaim) throws -> String? {
        switch members[claim.rawValue] {
        case nil, .primitive(.null)?: return nil
        case .primitive(.string(let text))?: return text
        case let other?: throw MistypedMemberError(key: claim.rawValue, expected: "a string", found: other.kind)
        }
    }

    func string(_ claim: Token.TokenClaim) throws -> String {
        guard let text = try optionalString(claim), !text.isEmpty else { throw ClaimError.missingRequiredValue(key: claim.rawValue) }
        return text
    }

    /// The maximum lifetime in seconds: about 300 years. Longer lifetimes would exceed the range of calendar dates.
    private static let longestLifetime: TimeInterval = 1e10

    /// Returns a number, parsed from a number or a string, because some servers send the number in quotes. The value is clamped to the
    /// maximum lifetime.
    func seconds(_ claim: Token.TokenClaim) throws -> TimeInterval {
        let seconds: TimeInterval?
        switch members[claim.rawValue] {
        case nil, .primitive(.null)?: throw ClaimError.missingRequiredValue(key: claim.rawValue)
        case .primitive(.int(let value))?: seconds = TimeInterval(value)
        case .primitive(.double(let value))?: seconds = value
        case .primitive(.string(let text))?: seconds = TimeInterval(text.trimmingCharacters(in: .whitespaces))
        case let other?: throw MistypedMemberError(key: claim.rawValue, expected: "a number", found: other.kind)
        }
        guard let seconds, seconds.isFinite else {
            throw MistypedMemberError(key: claim.rawValue, expected: "a number", found: "a string that is none")
        }
        return min(max(seconds, -Self.longestLifetime), Self.longestLifetime)
    }
}
