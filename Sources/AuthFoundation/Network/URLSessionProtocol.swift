public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What requests are sent through: a `URLSession`, or a test's own.
public protocol URLSessionProtocol: Sendable {
    /// Sends a request and waits for the whole answer.
    ///
    /// - Parameter request: The request.
    /// - Returns: The body and the answer's head.
    /// - Throws: `URLError` if no answer came; `CancellationError` or `URLError.cancelled` if the task was cancelled.
    func data(for request: URLRequest) async throws -> (Data, URLResponse)

    /// The session's settings.
    var configuration: URLSessionConfiguration { get }
}

#if canImport(FoundationNetworking)
extension URLSession: URLSessionProtocol {
    /// Sends a request and waits for the whole answer; cancelling the task cancels the request.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await data(for: request, delegate: nil)
    }
}
#else
extension URLSession: URLSessionProtocol {}
#endif
