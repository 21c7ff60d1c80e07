public import Foundation

/// An error response of the server (Documentation/Protocol/Authn.md §1.4). Programs should use only ``errorCode``. A member is `nil` if the
/// response does not contain it.
public struct OktaAPIErrorResponse: Codable, Hashable, Sendable {
    /// A cause of the error.
    public struct ErrorCause: Codable, Hashable, Sendable {
        /// A description of the cause for the user.
        public var errorSummary: String?
    }

    /// The error code, such as `E0000004`.
    public var errorCode: String?
    /// A description of the error for the user.
    public var errorSummary: String?
    /// The error code again.
    public var errorLink: String?
    /// The ID of this response, for support by the server's operator.
    public var errorId: String?
    /// The causes of the error; may be empty.
    public var errorCauses: [ErrorCause]?

    /// The HTTP status; `nil` if the value was not received as a response.
    public internal(set) var statusCode: Int?
    /// The time at which the rate limit ends; `nil` if the server does not send it.
    public internal(set) var rateLimitReset: Date?

    private enum CodingKeys: String, CodingKey {
        case errorCode, errorSummary, errorLink, errorId, errorCauses
    }

    /// Decodes an error response.
    /// - Throws: `DecodingError` if a member has the wrong type.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        errorCode = try members.decodeIfPresent(String.self, forKey: .errorCode)
        errorSummary = try members.decodeIfPresent(String.self, forKey: .errorSummary)
        errorLink = try members.decodeIfPresent(String.self, forKey: .errorLink)
        errorId = try members.decodeIfPresent(String.self, forKey: .errorId)
        errorCauses = try members.decodeIfPresent([ErrorCause].self, forKey: .errorCauses)
    }

    /// The descriptions of the causes, or else the summary.
    var text: String? {
        let causes = (errorCauses ?? []).compactMap(\.errorSummary).filter { !$0.isEmpty }
        return causes.isEmpty ? errorSummary : causes.joined(separator: "; ")
    }
}
