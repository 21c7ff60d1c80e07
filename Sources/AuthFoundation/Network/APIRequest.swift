public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The method of an HTTP request.
public enum APIRequestMethod: String, Sendable {
    /// Reads.
    case get = "GET"
    /// Deletes.
    case delete = "DELETE"
    /// Reads the head only.
    case head = "HEAD"
    /// Sends.
    case post = "POST"
    /// Replaces.
    case put = "PUT"
    /// Changes.
    case patch = "PATCH"
}

/// The format of a body.
public enum APIContentType: RawRepresentable, Equatable, Hashable, Sendable {
    /// JSON.
    case json
    /// The fields of a form.
    case formEncoded
    /// Any other, by its media type.
    case other(_ type: String)

    private static let jsonType = "application/json; charset=UTF-8"
    private static let formType = "application/x-www-form-urlencoded; charset=UTF-8"

    /// The format of that media type.
    ///
    /// - Parameter rawValue: A media type with or without parameters.
    public init(rawValue: String) {
        let mediaType = rawValue.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        switch mediaType {
        case "application/json": self = .json
        case "application/x-www-form-urlencoded": self = .formEncoded
        default: self = .other(rawValue)
        }
    }

    /// The value for a header.
    public var rawValue: String {
        switch self {
        case .json: Self.jsonType
        case .formEncoded: Self.formType
        case .other(let type): type
        }
    }
}

/// Something that gives a request the right to be answered.
public protocol APIAuthorization: Sendable {
    /// The value of the header `Authorization`.
    var authorizationHeader: String? { get }
}

/// A request with parameters in its body.
public protocol APIRequestBody {
    /// The parameters.
    var bodyParameters: [String: any APIRequestArgument]? { get }
}

/// A request and the type of its answer.
public protocol APIRequest: Sendable {
    /// The type of the answer's body.
    associatedtype ResponseType: Decodable & Sendable

    /// The method.
    var httpMethod: APIRequestMethod { get }

    /// Where it goes.
    var url: URL { get }

    /// Parameters of the URL.
    var query: [String: (any APIRequestArgument)?]? { get }

    /// Headers of its own.
    var headers: [String: (any APIRequestArgument)?]? { get }

    /// The format that it wants in return.
    var acceptsType: APIContentType? { get }

    /// The format of its body.
    var contentType: APIContentType? { get }

    /// Whether a cache may answer it.
    var cachePolicy: URLRequest.CachePolicy { get }

    /// For how many seconds it waits for an answer.
    var timeoutInterval: TimeInterval { get }

    /// What gives it the right to be answered.
    var authorization: (any APIAuthorization)? { get }

    /// The body.
    ///
    /// - Returns: The body in the format of ``contentType``.
    /// - Throws: ``APIClientError/unsupportedContentType(_:)`` if there are parameters and no way to write them.
    func body() throws -> Data?

    /// The request as the client's session takes it.
    ///
    /// - Parameter client: The client that will send it.
    /// - Returns: The request.
    /// - Throws: ``APIClientError``
    func request(for client: any APIClient) throws -> URLRequest

    /// Sends the request.
    ///
    /// - Parameters:
    ///   - client: The client that sends it.
    ///   - context: What the request knows about its answer; itself, if it is such a context.
    /// - Returns: The answer.
    /// - Throws: ``APIClientError``, or `CancellationError` if the task is cancelled.
    func send(to client: any APIClient, parsing context: (any APIParsingContext)?) async throws -> APIResponse<ResponseType>
}

/// A request that may be sent twice without harm although its method says otherwise.
protocol IdempotentRequest {}

/// A request that does not follow redirects to another host.
protocol HostBoundRequest {}

extension APIRequest {
    /// Reads.
    public var httpMethod: APIRequestMethod { .get }

    /// None.
    public var query: [String: (any APIRequestArgument)?]? { nil }

    /// None.
    public var headers: [String: (any APIRequestArgument)?]? { nil }

    /// Any.
    public var acceptsType: APIContentType? { nil }

    /// None.
    public var contentType: APIContentType? { nil }

    /// No cache answers.
    public var cachePolicy: URLRequest.CachePolicy { .reloadIgnoringLocalAndRemoteCacheData }

    /// A minute.
    public var timeoutInterval: TimeInterval { 60 }

    /// None.
    public var authorization: (any APIAuthorization)? { nil }

    /// The parameters of an ``APIRequestBody`` in the format of ``contentType``.
    public func body() throws -> Data? {
        guard let parameters = (self as? any APIRequestBody)?.bodyParameters else { return nil }
        return try contentType.encode(parameters)
    }

    /// Puts method, URL, headers and body together.
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
            parsing: context, isIdempotent: httpMethod == .get || self is any IdempotentRequest, staysOnHost: self is any HostBoundRequest
        ) {
            try request(for: client)
        }
    }

    /// The request without its body.
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
    /// Writes parameters in this format.
    func encode(_ parameters: [String: any APIRequestArgument]) throws -> Data {
        switch self {
        case .formEncoded:
            return Data(FormEncoding.body(parameters.map { ($0, $1.stringValue) }).utf8)
        case .json:
            guard let data = JSON.object(parameters.mapValues { .string($0.stringValue) }).text else {
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
