public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The method of an HTTP request.
public enum APIRequestMethod: String, Codable, Sendable {
    /// Reads a resource.
    case get = "GET"
    /// Deletes a resource.
    case delete = "DELETE"
    /// Reads only the headers.
    case head = "HEAD"
    /// Sends data.
    case post = "POST"
    /// Replaces a resource.
    case put = "PUT"
    /// Changes a resource.
    case patch = "PATCH"
}

/// The format of a body.
public enum APIContentType: RawRepresentable, Codable, Equatable, Hashable, Sendable {
    /// JSON.
    case json
    /// A URL-encoded form.
    case formEncoded
    /// Any other format, identified by its media type.
    case other(_ type: String)

    private static let jsonType = "application/json; charset=UTF-8"
    private static let formType = "application/x-www-form-urlencoded; charset=UTF-8"

    /// Creates the format for a media type, with or without parameters. Returns `nil` for an empty text.
    public init?(rawValue: String) {
        guard !rawValue.isEmpty else { return nil }
        let mediaType = rawValue.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        switch mediaType {
        case "application/json": self = .json
        case "application/x-www-form-urlencoded": self = .formEncoded
        default: self = .other(rawValue)
        }
    }

    /// The value of the `Content-Type` header.
    public var rawValue: String {
        switch self {
        case .json: Self.jsonType
        case .formEncoded: Self.formType
        case .other(let type): type
        }
    }
}

/// A type that authorizes a request.
public protocol APIAuthorization: Sendable {
    /// The value of the `Authorization` header.
    var authorizationHeader: String? { get }
}

/// A request with parameters in its body.
public protocol APIRequestBody {
    /// The parameters.
    var bodyParameters: [String: any APIRequestArgument]? { get }
}

/// A request and the type of its response.
public protocol APIRequest: Sendable {
    /// The type of the response body.
    associatedtype ResponseType: Decodable & Sendable

    /// The HTTP method.
    var httpMethod: APIRequestMethod { get }

    /// The URL without ``query``.
    var url: URL { get }

    /// Additional query parameters of the URL.
    var query: [String: (any APIRequestArgument)?]? { get }

    /// Additional headers of the request.
    var headers: [String: (any APIRequestArgument)?]? { get }

    /// The requested format of the response.
    var acceptsType: APIContentType? { get }

    /// The format of the request body.
    var contentType: APIContentType? { get }

    /// The cache policy.
    var cachePolicy: URLRequest.CachePolicy { get }

    /// The timeout in seconds.
    var timeoutInterval: TimeInterval { get }

    /// The authorization of the request.
    var authorization: (any APIAuthorization)? { get }

    /// Returns the body in the format of ``contentType``.
    /// - Throws: ``APIClientError/unsupportedContentType(_:)`` or ``APIClientError/invalidRequestData`` if the parameters cannot be
    ///   encoded.
    func body() throws -> Data?

    /// Builds the request for a client's session.
    /// - Throws: ``APIClientError``
    func request(for client: any APIClient) throws -> URLRequest

    /// Sends the request.
    /// - Parameters:
    ///   - client: The client that sends the request.
    ///   - context: The values and rules for parsing the response. By default the request itself, if it is a context.
    /// - Throws: ``APIClientError``, or `CancellationError` if the task is cancelled.
    func send(to client: any APIClient, parsing context: (any APIParsingContext)?) async throws -> APIResponse<ResponseType>
}

/// A request that can safely be sent twice although its method is not idempotent.
protocol IdempotentRequest {}

/// A request that may be sent only under a condition, such as an exclusive right that can end while the request waits for a retry.
protocol ConditionalRequest {
    /// Called directly before each attempt. If it throws, the request is not sent.
    func checkCondition() throws
}

/// A request that is sent only once if its caller cannot wait for retries.
protocol RetryLimitedRequest {
    /// Whether the request is repeated after a temporary failure.
    var isRetried: Bool { get }
}

/// A request that does not follow redirects to another host.
protocol HostBoundRequest {}

extension APIRequest {
    /// GET.
    public var httpMethod: APIRequestMethod { .get }

    /// None.
    public var query: [String: (any APIRequestArgument)?]? { nil }

    /// None.
    public var headers: [String: (any APIRequestArgument)?]? { nil }

    /// Any format.
    public var acceptsType: APIContentType? { nil }

    /// None.
    public var contentType: APIContentType? { nil }

    /// Ignores all caches.
    public var cachePolicy: URLRequest.CachePolicy { .reloadIgnoringLocalAndRemoteCacheData }

    /// 60 seconds.
    public var timeoutInterval: TimeInterval { 60 }

    /// None.
    public var authorization: (any APIAuthorization)? { nil }

    /// Encodes the parameters of an ``APIRequestBody`` in the format of ``contentType``.
    public func body() throws -> Data? {
        guard let parameters = (self as? any APIRequestBody)?.bodyParameters else { return nil }
        return try contentType.encode(parameters)
    }

    /// Builds the request from method, URL, headers and body.
    public func request(for client: any APIClient) throws -> URLRequest {
        var request = try head(for: client)
        request.httpBody = try body()
        return request
    }

    /// Sends the request.
    public func send(to client: any APIClient, parsing context: (any APIParsingContext)? = nil) async throws -> APIResponse<ResponseType> {
        let context = context ?? (self as? any APIParsingContext)
        guard let client = client as? OAuth2Client else {
            return try await client.send(try request(for: client), parsing: context)
        }
        return try await client.send(
            parsing: context, isIdempotent: httpMethod == .get || self is any IdempotentRequest, staysOnHost: self is any HostBoundRequest,
            isRetried: (self as? any RetryLimitedRequest)?.isRetried ?? true
        ) {
            let request = try request(for: client)
            try (self as? any ConditionalRequest)?.checkCondition()
            return request
        }
    }

    /// Returns the request without its body.
    func head(for client: any APIClient) throws -> URLRequest {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { throw APIClientError.invalidUrl }
        if let query {
            let added = query.compactMap { name, value in value.map { (name, $0.stringValue) } }
            components.percentEncodedQuery = FormEncoding.query(adding: added, to: components.percentEncodedQuery)
        }
        guard let url = components.url else { throw APIClientError.invalidUrl }
        var request = URLRequest(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
        request.httpMethod = httpMethod.rawValue
        request.httpShouldHandleCookies = false
        request.setValue(client.userAgent, forHTTPHeaderField: "User-Agent")
        for (name, value) in client.additionalHttpHeaders ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
        if let acceptsType { request.setValue(acceptsType.rawValue, forHTTPHeaderField: "Accept") }
        if let contentType { request.setValue(contentType.rawValue, forHTTPHeaderField: "Content-Type") }
        for (name, value) in headers ?? [:] { request.setValue(value?.stringValue, forHTTPHeaderField: name) }
        if let header = authorization?.authorizationHeader { request.setValue(header, forHTTPHeaderField: "Authorization") }
        return request
    }
}

extension APIContentType? {
    /// Encodes parameters in this format.
    func encode(_ parameters: [String: any APIRequestArgument]) throws -> Data {
        switch self {
        case .formEncoded:
            return Data(FormEncoding.body(parameters.map { ($0, $1.stringValue) }).utf8)
        case .json:
            guard let data = JSON(parameters.mapValues(\.stringValue)).text else {
                throw APIClientError.invalidRequestData
            }
            return data
        case .other(let type):
            throw APIClientError.unsupportedContentType(.other(type))
        case nil:
            throw APIClientError.invalidRequestData
        }
    }
}
