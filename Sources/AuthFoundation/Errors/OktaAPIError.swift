public import Foundation

/// An error that the server answered with in the form of its own API.
public struct OktaAPIError: Error, Decodable, Sendable {
    /// What kind of error it is, such as `E0000047`.
    public let code: String

    /// What happened, for a person to read.
    public let summary: String

    /// A name or URL under which the error is described.
    public let link: String

    /// The server's name for this one error.
    public let id: String

    /// What caused it, for a person to read.
    public let causes: [String]

    /// The HTTP status of the answer, if the error came with one.
    public internal(set) var statusCode: Int?

    private enum CodingKeys: String, CodingKey {
        case errorCode, errorSummary, errorLink, errorId, errorCauses
    }

    /// Reads the answer's body, with causes that are strings or objects.
    ///
    /// - Parameter decoder: The decoder.
    /// - Throws: `DecodingError` if code or summary is missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = try container.decode(String.self, forKey: .errorCode)
        summary = try container.decode(String.self, forKey: .errorSummary)
        link = try container.decodeIfPresent(String.self, forKey: .errorLink) ?? ""
        id = try container.decodeIfPresent(String.self, forKey: .errorId) ?? ""
        let causes = try container.decodeIfPresent([JSON].self, forKey: .errorCauses) ?? []
        self.causes = causes.compactMap { $0.stringValue ?? $0["errorSummary"]?.stringValue }
    }
}

extension OktaAPIError: Equatable {
    /// Whether both have the same members.
    public static func == (lhs: OktaAPIError, rhs: OktaAPIError) -> Bool {
        lhs.code == rhs.code && lhs.summary == rhs.summary && lhs.link == rhs.link && lhs.id == rhs.id && lhs.causes == rhs.causes
    }
}

extension OktaAPIError: LocalizedError {
    /// What happened.
    public var errorDescription: String? {
        causes.isEmpty ? summary : "\(summary) \(causes.joined(separator: " "))"
    }
}
