public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A session that sends requests: a `URLSession` or a test double.
public protocol URLSessionProtocol: Sendable {
    /// Sends a request and waits for the whole response. Returns the body and the response metadata. The client checks the size of the
    /// response only after this function returns. The default session stops reading at the limit; a custom session must do so itself.
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
        let wait = AnswerWait()
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                wait.begin(continuation)
                dataTask(with: request) { data, response, error in
                    if let data, let response, error == nil {
                        wait.end(with: .success((data, response)))
                    } else {
                        wait.end(with: .failure(error ?? URLError(.badServerResponse)))
                    }
                }
                .resume()
                // A cancellation before `begin` found no waiting caller.
                if Task.isCancelled { wait.end(with: .failure(CancellationError())) }
            }
        } onCancel: {
            wait.end(with: .failure(CancellationError()))
        }
    }
}

/// A wait for a response that ends exactly once. Safe from any thread.
private final class AnswerWait: Sendable {
    private let continuation = Locked<CheckedContinuation<(Data, URLResponse), any Error>?>(nil)

    func begin(_ continuation: CheckedContinuation<(Data, URLResponse), any Error>) {
        self.continuation.withLock { $0 = continuation }
    }

    func end(with result: Result<(Data, URLResponse), any Error>) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(with: result)
    }
}
#else
extension URLSession: URLSessionProtocol {}
#endif
