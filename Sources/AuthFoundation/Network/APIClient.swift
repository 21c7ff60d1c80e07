public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The part of a client's settings that every client has.
public protocol APIClientConfiguration: Sendable {
    /// The URL that paths are relative to.
    var baseURL: URL { get }
}

/// Something that sends requests and reads the answers.
///
/// Every member has a default except ``baseURL`` and ``session``.
public protocol APIClient: Sendable {
    /// The URL that paths are relative to.
    var baseURL: URL { get }

    /// What requests are sent through.
    var session: any URLSessionProtocol { get }

    /// Headers for every request.
    var additionalHttpHeaders: [String: String]? { get }

    /// The header in which the server names a request.
    var requestIdHeader: String? { get }

    /// The value of the header `User-Agent`.
    var userAgent: String { get }

    /// Reads an answer's body.
    ///
    /// - Parameters:
    ///   - type: The type to read.
    ///   - data: The body.
    ///   - context: What the request knows about its answer.
    /// - Returns: The value.
    /// - Throws: `DecodingError`, or what the type throws.
    func decode<T: Decodable>(_ type: T.Type, from data: Data, parsing context: (any APIParsingContext)?) throws -> T

    /// Reads the error in an answer's body, if there is one.
    ///
    /// - Parameter data: The body.
    /// - Returns: The error.
    func error(from data: Data) -> (any Error)?

    /// Is called before each request is sent; it may change the request.
    ///
    /// - Parameter request: The request.
    func willSend(request: inout URLRequest)

    /// Is called when a request has failed.
    func didSend(request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?)

    /// Is called when an answer came, whatever it says.
    func didSend(request: URLRequest, received response: HTTPURLResponse)

    /// Is called when a request has succeeded.
    func didSend<T>(request: URLRequest, received response: APIResponse<T>)

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: What the request knows about its answer.
    /// - Returns: The answer.
    /// - Throws: ``APIClientError``, or `CancellationError` if the task is cancelled.
    func send<T>(_ request: URLRequest, parsing context: (any APIParsingContext)?) async throws -> APIResponse<T>

    /// Whether a request that met the rate limit (429) is sent again.
    func shouldRetry(request: URLRequest, rateLimit: APIRateLimit) -> APIRetry
}

extension APIClient {
    /// No further headers.
    public var additionalHttpHeaders: [String: String]? { nil }

    /// `x-okta-request-id`
    public var requestIdHeader: String? { "x-okta-request-id" }

    /// The parts of the SDK that are in use, the system and the device.
    public var userAgent: String { SDKVersion.userAgent }

    /// Reads JSON with the type's own decoder, if it has one.
    public func decode<T: Decodable>(_ type: T.Type, from data: Data, parsing context: (any APIParsingContext)?) throws -> T {
        try decodeBody(type, from: data, parsing: context)
    }

    /// Reads an error of the API, then one of OAuth.
    public func error(from data: Data) -> (any Error)? {
        serverError(in: data)
    }

    /// Does nothing.
    public func willSend(request: inout URLRequest) {}

    /// Does nothing.
    public func didSend(request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?) {}

    /// Does nothing.
    public func didSend(request: URLRequest, received response: HTTPURLResponse) {}

    /// Does nothing.
    public func didSend<T>(request: URLRequest, received response: APIResponse<T>) {}

    /// Sends again up to three times.
    public func shouldRetry(request: URLRequest, rateLimit: APIRateLimit) -> APIRetry { .default }

    /// Sends a request, and sends it again by the rules of ``APIRetry``.
    public func send<T>(_ request: URLRequest, parsing context: (any APIParsingContext)?) async throws -> APIResponse<T> {
        try await RequestSender(client: self).send(parsing: context, isIdempotent: request.httpMethod == "GET") { request }
    }
}

extension APIClient {
    func decodeBody<T: Decodable>(_ type: T.Type, from data: Data, parsing context: (any APIParsingContext)?) throws -> T {
        let decoder = (type as? any JSONDecodable.Type)?.jsonDecoder ?? JSONDecoder()
        for (key, value) in context?.codingUserInfo ?? [:] {
            // The value comes out of a context that is `Sendable` as a whole; the published signature only lost the word. `Sendable` is a
            // marker without a witness table, so that both existentials have the same layout.
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

/// An observer of a client. Every method has a default that does nothing.
public protocol APIClientDelegate: AnyObject, Sendable {
    /// A request is about to be sent; it may be changed.
    func api(client: any APIClient, willSend request: inout URLRequest)

    /// A request has failed.
    func api(
        client: any APIClient, didSend request: URLRequest, received error: APIClientError, requestId: String?, rateLimit: APIRateLimit?)

    /// An answer came, whatever it says.
    func api(client: any APIClient, didSend request: URLRequest, received response: HTTPURLResponse)

    /// A request has succeeded.
    func api<T>(client: any APIClient, didSend request: URLRequest, received response: APIResponse<T>)

    /// Whether a request that met the rate limit (429) is sent again; the first delegate that forbids it, or else the largest count, wins.
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

    /// Sends again up to three times.
    public func api(client: any APIClient, shouldRetry request: URLRequest) -> APIRetry { .default }
}

/// Whether a request that met the rate limit is sent again.
public enum APIRetry: Sendable {
    /// The error is reported at once.
    case doNotRetry
    /// It is sent again, at most that many times.
    case retry(maximumCount: Int)

    /// Three times.
    public static let `default` = APIRetry.retry(maximumCount: 3)
}

/// What an answer means.
public enum APIResponseResult: Sendable {
    /// The body is what was asked for.
    case success
    /// The request can be sent again after a while.
    case retry
    /// The body is an error.
    case error

    /// 2xx is success, 429 is to be sent again, everything else is an error.
    init(statusCode: Int) {
        self =
            switch statusCode {
            case 200..<300: .success
            case 429: .retry
            default: .error
            }
    }
}

/// What a request knows about its answer.
public protocol APIParsingContext: Sendable {
    /// Values for the decoder.
    var codingUserInfo: [CodingUserInfoKey: Any]? { get }

    /// What an answer means, by its status.
    func resultType(from response: HTTPURLResponse) -> APIResponseResult

    /// Reads the error in an answer's body, if it is one of the request's own.
    func error(from data: Data) -> (any Error)?
}

extension APIParsingContext {
    /// Nothing.
    public var codingUserInfo: [CodingUserInfoKey: Any]? { nil }

    /// 2xx is success, 429 is to be sent again, everything else is an error.
    public func resultType(from response: HTTPURLResponse) -> APIResponseResult { APIResponseResult(statusCode: response.statusCode) }

    /// None: the client's own reading applies.
    public func error(from data: Data) -> (any Error)? { nil }
}
