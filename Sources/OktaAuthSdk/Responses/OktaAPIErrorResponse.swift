internal import AuthFoundation
public import Foundation

/// An error response of the server (Documentation/Protocol/Authn.md §1.4). Programs should use only ``errorCode``. A member is `nil` if the
/// response does not contain it.
public struct OktaAPIErrorResponse: Codable, Hashable, Sendable {
    /// A cause of the error.
    public struct ErrorCause: Codable, Hashable, Sendable {
        /// The server's description of the cause, in the server's language.
        public var errorSummary: String?
    }

    /// The error code, such as `E0000004`.
    public var errorCode: String?
    /// The server's description of the error, in the server's language.
    public var errorSummary: String?
    /// The error code again.
    public var errorLink: String?
    /// The ID of this response, for support by the server's operator.
    public var errorId: String?
    /// The causes of the error; may be empty.
    public var errorCauses: [ErrorCause]?

    /// The HTTP status; `nil` if the value was not received as a response.
    public internal(set) var statusCode: Int?
    /// The server's identifier of the request; `nil` if the server sends none.
    public internal(set) var requestId: String?
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
        causes.isEmpty ? errorSummary : causes.joined(separator: "; ")
    }

    /// The descriptions of the causes.
    var causes: [String] { (errorCauses ?? []).compactMap(\.errorSummary).filter { !$0.isEmpty } }

    /// The summary, the causes, the code, the HTTP status, and the IDs of the error and of the request, for developers.
    var explanation: String {
        let texts = ([errorSummary].compactMap { $0 } + causes).filter { !$0.isEmpty }
        return technicalText(
            texts.isEmpty ? "The server refused, and gave no reason." : texts.joined(separator: " "),
            [
                errorCode, statusCode.map { "status \($0)" }, errorId.map { "error \($0)" }, requestId.map { "request \($0)" },
            ])
    }
}
