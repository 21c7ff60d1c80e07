public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The settings that all clients have.
public protocol APIClientConfiguration: Sendable {
    /// The base of relative paths.
    var baseURL: URL { get }
}

/// A type that sends requests and parses responses. All members except ``baseURL`` and ``session`` have defaults.
public protocol APIClient: Sendable {
    /// The base of relative paths.
    var baseURL: URL { get }

    /// The session that sends the requests.
    var session: any URLSessionProtocol { get }

    /// Headers that are added to every request.
    var additionalHttpHeaders: [String: String]? { get }

    /// The name of the header with the server's request identifier.
    var requestIdHeader: String? { get }

    /// The value of the `User-Agent` header.
    var userAgent: String { get }

    /// Decodes the body of a response.
    /// - Parameter context: The values and rules that the request has for parsing its response; `nil` for none.
    /// - Throws: `DecodingError`, or the errors of the type.
    func decode<T: Decodable>(_ type: T.Type, from data: Data, parsing context: (any APIParsingContext)?) throws -> T

    /// Parses the error in the body of a response. Returns `nil` if there is none.
    func error(from data: Data) -> (any Error)?

    /// Called before each request is sent. The function can change the request.
    func willSend(request: inout URLRequest)

    /// Called after a request failed.
    func didSend(request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?)

    /// Called after a request failed, before ``didSend(request:received:requestId:rateLimit:)``.
    func didSend(request: URLRequest, received error: APIClientError)

    /// Called after each response, regardless of its status.
    func didSend(request: URLRequest, received response: HTTPURLResponse)

    /// Called after a request succeeded.
    func didSend<T>(request: URLRequest, received response: APIResponse<T>)

    /// Sends a request.
    /// - Parameter context: The values and rules that the request has for parsing its response; `nil` for none.
    /// - Throws: ``APIClientError``, or `CancellationError` if the task is cancelled.
    func send<T>(_ request: URLRequest, parsing context: (any APIParsingContext)?) async throws -> APIResponse<T>

    /// Returns whether to resend a request that exceeded the rate limit (429).
    func shouldRetry(request: URLRequest, rateLimit: APIRateLimit) -> APIRetry
}

extension APIClient {
    /// No extra headers.
    public var additionalHttpHeaders: [String: String]? { nil }

    /// `x-okta-request-id`
    public var requestIdHeader: String? { "x-okta-request-id" }

    /// The SDK modules in use and the operating system.
    public var userAgent: String { SDKVersion.userAgent }

    /// Decodes JSON with the type's own decoder, if it has one.
    public func decode<T: Decodable>(_ type: T.Type, from data: Data, parsing context: (any APIParsingContext)? = nil) throws -> T {
        try decodeBody(type, from: data, parsing: context)
    }

    /// Parses an error response, first in the format of Okta's API, then in the format of OAuth.
    public func error(from data: Data) -> (any Error)? {
        serverError(in: data)
    }

    /// Does nothing.
    public func willSend(request: inout URLRequest) {}

    /// Does nothing.
    public func didSend(request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?) {}

    /// Does nothing.
    public func didSend(request: URLRequest, received error: APIClientError) {}

    /// Does nothing.
    public func didSend(request: URLRequest, received response: HTTPURLResponse) {}

    /// Does nothing.
    public func didSend<T>(request: URLRequest, received response: APIResponse<T>) {}

    /// Allows three retries.
    public func shouldRetry(request: URLRequest, rateLimit: APIRateLimit) -> APIRetry { .default }

    /// Sends a request, with retries according to ``APIRetry``.
    public func send<T>(_ request: URLRequest, parsing context: (any APIParsingContext)? = nil) async throws -> APIResponse<T> {
        try await RequestSender(client: self).send(parsing: context, isIdempotent: request.httpMethod == "GET") { request }
    }
}

extension APIClient {
    func decodeBody<T: Decodable>(_ type: T.Type, from data: Data, parsing context: (any APIParsingContext)?) throws -> T {
        let decoder = (type as? any JSONDecodable.Type)?.jsonDecoder ?? JSONDecoder()
        for (key, value) in context?.codingUserInfo ?? [:] {
            // Safe because the whole context is `Sendable`; only the published signature does not say so. `Sendable` is a marker protocol
            // without a witness table, so both existentials have the same layout.
            decoder.userInfo[key] = unsafeBitCast(value, to: (any Sendable).self)
        }
        return try decoder.decode(type, from: data.isEmpty ? Data("{}".utf8) : data)
    }

    func serverError(in data: Data) -> (any Error)? {
        let decoder = JSONDecoder()
        if let error = try? decoder.decode(OktaAPIError.self, from: data) { return error }
        return try? decoder.decode(OAuth2ServerError.self, from: data)
    }
}

/// An observer of a client. All methods have default implementations: they do nothing, and allow three retries.
public protocol APIClientDelegate: AnyObject, Sendable {
    /// Called before a request is sent. The delegate can change the request.
    func api(client: any APIClient, willSend request: inout URLRequest)

    /// Called after a request failed.
    func api(
        client: any APIClient, didSend request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?)

    /// Called after each response, regardless of its status.
    func api(client: any APIClient, didSend request: URLRequest, received response: HTTPURLResponse)

    /// Called after a request succeeded.
    func api<T>(client: any APIClient, didSend request: URLRequest, received response: APIResponse<T>)

    /// Returns whether to resend a request that exceeded the rate limit (429). If one delegate forbids retries, the request is not resent.
    /// Otherwise the largest count applies.
    func api(client: any APIClient, shouldRetry request: URLRequest) -> APIRetry
}

extension APIClientDelegate {
    /// Does nothing.
    public func api(client: any APIClient, willSend request: inout URLRequest) {}

    /// Does nothing.
    public func api(
        client: any APIClient, didSend request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?
    ) {}

    /// Does nothing.
    public func api(client: any APIClient, didSend request: URLRequest, received response: HTTPURLResponse) {}

    /// Does nothing.
    public func api<T>(client: any APIClient, didSend request: URLRequest, received response: APIResponse<T>) {}

    /// Allows three retries.
    public func api(client: any APIClient, shouldRetry request: URLRequest) -> APIRetry { .default }
}

/// The retry policy for requests that exceed the rate limit.
public enum APIRetry: Sendable {
    /// Reports the error at once.
    case doNotRetry
    /// Resends the request up to this number of times.
    case retry(maximumCount: Int)

    /// Up to three retries.
    public static let `default` = APIRetry.retry(maximumCount: 3)
}

/// The classification of a response.
public enum APIResponseResult: Sendable {
    /// The body contains the result.
    case success
    /// The request can be resent after a delay.
    case retry
    /// The body contains an error.
    case error

    /// Classifies a status: 2xx is success, 429 is a retry, and all others are errors.
    init(statusCode: Int) {
        self =
            switch statusCode {
            case 200..<300: .success
            case 429: .retry
            default: .error
            }
    }
}

/// The values and rules that a request has for parsing its response.
public protocol APIParsingContext: Sendable {
    /// Values for the decoder's `userInfo`.
    var codingUserInfo: [CodingUserInfoKey: Any]? { get }

    /// Classifies a response by its status.
    func resultType(from response: HTTPURLResponse) -> APIResponseResult

    /// Parses an error format that is specific to the request. Returns `nil` if the body has none.
    func error(from data: Data) -> (any Error)?
}

extension APIParsingContext {
    /// No values.
    public var codingUserInfo: [CodingUserInfoKey: Any]? { nil }

    /// Classifies a status: 2xx is success, 429 is a retry, and all others are errors.
    public func resultType(from response: HTTPURLResponse) -> APIResponseResult { APIResponseResult(statusCode: response.statusCode) }

    /// Returns `nil`, so that the client parses the error.
    public func error(from data: Data) -> (any Error)? { nil }
}
