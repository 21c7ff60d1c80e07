public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A session that sends requests: a `URLSession` or a test double.
public protocol URLSessionProtocol: Sendable {
    /// Sends a request and waits for the whole response. Returns the body and the response metadata. The client checks the size of the
    /// response only after this function returns. The default session stops reading at the limit; a custom session must also limit the
    /// size.
    /// - Throws: `URLError` if there is no response; `CancellationError` or `URLError.cancelled` if the task was cancelled.
    func data(for request: URLRequest) async throws -> (Data, URLResponse)

    /// The settings of the session.
    var configuration: URLSessionConfiguration { get }
}

#if canImport(FoundationNetworking)
extension URLSession: URLSessionProtocol {
    /// Sends a request and waits for the whole response. Cancelling the task ends the wait with `CancellationError`. The request itself
    /// continues, because Foundation on Linux traps if a request is cancelled at the moment in which it ends.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try Task.checkCancellation()
        let answer = Decision<(Data, URLResponse)>()
        dataTask(with: request) { data, response, error in
            if let data, let response, error == nil {
                answer.decide(.success((data, response)))
            } else {
                answer.decide(.failure(error ?? URLError(.badServerResponse)))
            }
        }
        .resume()
        return try await answer.valueUnlessCancelled()
    }
}
#else
extension URLSession: URLSessionProtocol {}
#endif
