internal import AuthFoundation
public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// How a verifier reaches the issuer. The seam for proxies, tests and processes that hold both sides.
public protocol ResourceFetcher: Sendable {
    /// Sends one request.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer, whatever its status.
    /// - Throws: If there was no answer, or it was too long.
    func fetch(_ request: FetchRequest) async throws -> FetchResponse
}

/// A request to the issuer.
public struct FetchRequest: Sendable {
    /// Where it goes.
    public var url: URL
    /// A form to post; nil to get.
    public var form: String?
    /// The `Authorization` header, if any.
    public var authorization: String?

    /// Describes a request.
    ///
    /// - Parameters:
    ///   - url: Where it goes.
    ///   - form: A form to post, encoded; nil to get.
    ///   - authorization: The `Authorization` header; nil for none.
    public init(url: URL, form: String? = nil, authorization: String? = nil) {
        self.url = url
        self.form = form
        self.authorization = authorization
    }
}

/// An answer of the issuer.
public struct FetchResponse: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The body.
    public var body: [UInt8]

    /// Describes an answer.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The body.
    public init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// Fetches by `URLSession`. `Sendable`.
///
/// A request must complete within ten seconds. A response that exceeds one mebibyte or is compressed is refused, and reading stops at once.
/// There are no cookies and no cache; redirects to another host are not followed.
public struct URLSessionFetcher: ResourceFetcher {
    private static let timeout: TimeInterval = 10
    private static let maximumResponseSize = 1 << 20

    private let session: EphemeralSession

    /// Creates a fetcher with a session of its own.
    public init() {
        session = EphemeralSession(maximumResponseSize: Self.maximumResponseSize)
    }

    /// Sends one request.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer, whatever its status.
    /// - Throws: `URLError` if there was no answer, or it was refused.
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
