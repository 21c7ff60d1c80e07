internal import AuthFoundation
public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A fetcher that sends requests to the issuer. Implement it for proxies, for tests, or if the issuer runs in the same process.
public protocol ResourceFetcher: Sendable {
    /// Sends a request and returns the response, whatever its status.
    /// - Throws: An error if there is no response, or if the response is too large.
    func fetch(_ request: FetchRequest) async throws -> FetchResponse
}

/// A request to the issuer.
public struct FetchRequest: Sendable {
    /// The URL of the request.
    public var url: URL
    /// The form body of a POST request; `nil` for a GET request.
    public var form: String?
    /// The `Authorization` header; `nil` for none.
    public var authorization: String?

    /// Creates a request.
    /// - Parameter form: The encoded form body of a POST request; `nil` for a GET request.
    public init(url: URL, form: String? = nil, authorization: String? = nil) {
        self.url = url
        self.form = form
        self.authorization = authorization
    }
}

/// A response of the issuer.
public struct FetchResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The body.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// A fetcher that sends requests with `URLSession`. `Sendable`.
/// A request times out after ten seconds. Compressed responses and responses of more than 1 MiB are rejected, and reading stops at once.
/// Cookies and caching are off, and redirects to another host are not followed.
public struct URLSessionFetcher: ResourceFetcher {
    private static let timeout: TimeInterval = 10
    private static let maximumResponseSize = 1 << 20

    private let session: EphemeralSession

    /// Creates a fetcher with a session of its own.
    public init() {
        session = EphemeralSession(maximumResponseSize: Self.maximumResponseSize)
    }

    /// Sends a request and returns the response, whatever its status.
    /// - Throws: `URLError` if there is no response, or if the response is rejected.
    public func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        var message = URLRequest(url: request.url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.timeout)
        message.setValue("application/json", forHTTPHeaderField: "Accept")
        message.setValue(request.authorization, forHTTPHeaderField: "Authorization")
        if let form = request.form {
            message.httpMethod = "POST"
            message.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            message.httpBody = Data(form.utf8)
        }
        let (data, response) = try await session.data(for: message, staysOnHost: true)
        guard let status = (response as? HTTPURLResponse)?.statusCode else { throw URLError(.badServerResponse) }
        return FetchResponse(status: status, body: Array(data))
    }
}
