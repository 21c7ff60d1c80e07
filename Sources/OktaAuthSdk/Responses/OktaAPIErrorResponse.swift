public import Foundation

/// The server's refusal (authn reference, 1.4). Only ``errorCode`` is meant for programs.
public struct OktaAPIErrorResponse: Codable, Hashable, Sendable {
    /// One reason.
    public struct ErrorCause: Codable, Hashable, Sendable {
        /// The reason for people.
        public let errorSummary: String?
    }

    /// The code, such as `E0000004`.
    public let errorCode: String?
    /// What happened, for people.
    public let errorSummary: String?
    /// The code again.
    public let errorLink: String?
    /// Names this one answer, for who runs the server.
    public let errorId: String?
    /// The reasons; possibly empty.
    public let errorCauses: [ErrorCause]?

    /// The HTTP status; nil if this did not come as an answer.
    public internal(set) var statusCode: Int?
    /// When a rate limit ends, if the server says so.
    public internal(set) var rateLimitReset: Date?

    private enum CodingKeys: String, CodingKey {
        case errorCode, errorSummary, errorLink, errorId, errorCauses
    }

    /// Reads a refusal.
    ///
    /// - Parameter decoder: Where to read.
    /// - Throws: `DecodingError` if a member has another type.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        errorCode = try members.decodeIfPresent(String.self, forKey: .errorCode)
        errorSummary = try members.decodeIfPresent(String.self, forKey: .errorSummary)
        errorLink = try members.decodeIfPresent(String.self, forKey: .errorLink)
        errorId = try members.decodeIfPresent(String.self, forKey: .errorId)
        errorCauses = try members.decodeIfPresent([ErrorCause].self, forKey: .errorCauses)
    }

    /// The reasons one after the other, or else what happened.
    var text: String? {
        let causes = (errorCauses ?? []).compactMap(\.errorSummary).filter { !$0.isEmpty }
        return causes.isEmpty ? errorSummary : causes.joined(separator: "; ")
    }
}
