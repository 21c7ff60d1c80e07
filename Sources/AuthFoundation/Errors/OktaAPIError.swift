public import Foundation

/// An error response in the format of the server's own API.
public struct OktaAPIError: Error, Decodable, Sendable {
    /// The error code, such as `E0000047`.
    public let code: String

    /// A human-readable description.
    public let summary: String

    /// A name or URL for the documentation of the error.
    public let link: String

    /// The server's identifier of this error occurrence.
    public let id: String

    /// The causes, human-readable.
    public let causes: [String]

    /// The HTTP status of the response, if known.
    public internal(set) var statusCode: Int?

    private enum CodingKeys: String, CodingKey {
        case errorCode, errorSummary, errorLink, errorId, errorCauses
    }

    /// Decodes the body of a response. Causes can be strings or objects.
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
    /// Whether both errors have the same members. The HTTP status is ignored.
    public static func == (lhs: OktaAPIError, rhs: OktaAPIError) -> Bool {
        lhs.code == rhs.code && lhs.summary == rhs.summary && lhs.link == rhs.link && lhs.id == rhs.id && lhs.causes == rhs.causes
    }
}

extension OktaAPIError: LocalizedError {
    /// The summary and the causes.
    public var errorDescription: String? {
        causes.isEmpty ? summary : "\(summary) \(causes.joined(separator: " "))"
    }
}
