public import Foundation

/// Reports that the format of a stored token is newer than this version of the SDK supports.
public struct TokenFormatError: Error, LocalizedError, CustomDebugStringConvertible, ClientError, Equatable, Sendable {
    /// The version of the format.
    public let version: Int

    /// A sentence for the user, in the user's language.
    public var errorDescription: String? { userText.description.text }

    /// The next step for the user, in the user's language; `nil` if there is none.
    public var recoverySuggestion: String? { userText.suggestion?.text }

    package var userText: ErrorText { .storedByNewerApp }

    /// The versions of the format and a remedy, for developers.
    public var debugDescription: String {
        "The stored token is of format \(version), and this version of the app reads formats up to \(Token.formatVersion). Update the app."
    }
}

extension Token: Codable {
    /// The version of the stored form that is written.
    static let formatVersion = 1

    private enum CodingKeys: String, CodingKey {
        case version, id, issuedAt, context, response
    }

    /// Decodes a stored token. Only ``OAuth2Client`` parses server responses, so that a response cannot pass for a stored token. The stored
    /// form is an object with `version`, `id`, `issuedAt` (seconds since 1970), `context` and `response` (the server's response as
    /// received). A form without `version` has the members of the response beside `id` and `issuedAt` (seconds since 2001). The forms that
    /// versions 0.2 to 2.2 of okta-mobile-swift encode are also read.
    /// - Throws: ``ClaimError/missingRequiredValue(key:)`` or ``MistypedMemberError`` if a member of the response is missing or invalid;
    ///   ``TokenFormatError`` for a newer format; ``TokenError/contextMissing`` if `context` is missing; otherwise `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.contains(.context) else { throw TokenError.contextMissing }
        if !container.contains(.version), OktaMobileToken.isForm(of: decoder) {
            let stored = try OktaMobileToken(from: decoder)
            let id = try container.decode(String.self, forKey: .id)
            try self.init(id: id, issuedAt: stored.issuedAt, context: stored.context, response: stored.response, isStored: true)
            return
        }
        let context = try container.decode(Context.self, forKey: .context)
        let id = try container.decode(String.self, forKey: .id)
        let issuedAt = try container.decodeIfPresent(Double.self, forKey: .issuedAt)
        guard let version = try container.decodeIfPresent(Int.self, forKey: .version) else {
            var members = try JSON(from: decoder).object ?? [:]
            for key in ["id", "issuedAt", "context"] { members[key] = nil }
            try self.init(
                id: id, issuedAt: issuedAt.map(Date.init(timeIntervalSinceReferenceDate:)), context: context, response: JSON(members),
                isStored: true)
            return
        }
        guard version <= Self.formatVersion else { throw TokenFormatError(version: version) }
        try self.init(
            id: id, issuedAt: issuedAt.map(Date.init(timeIntervalSince1970:)), context: context,
            response: container.decode(JSON.self, forKey: .response), isStored: true)
    }

    /// Encodes the stored form, which contains secrets.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.formatVersion, forKey: .version)
        try container.encode(id, forKey: .id)
        try container.encodeIfPresent(issuedAt?.timeIntervalSince1970, forKey: .issuedAt)
        try container.encode(context, forKey: .context)
        try container.encode(json, forKey: .response)
    }
}
