internal import AuthFoundation
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A session that follows no redirects, stores nothing, and accepts only short responses.
struct RedirectlessSession: URLSessionProtocol {
    /// The maximum length of a response in bytes.
    private static let maximumSize = 100_000

    var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        return configuration
    }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let (parts, entrance) = AsyncThrowingStream.makeStream(of: Part.self)
        // On Linux, a request with a completion handler does not ask the delegate about redirects. Therefore the delegate receives the
        // whole response.
        let session = URLSession(configuration: configuration, delegate: Delegate(parts: entrance), delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        session.dataTask(with: request).resume()
        var (body, head) = (Data(), URLResponse?.none)
        for try await part in parts {
            switch part {
            case .body(let data): body += data
            case .head(let response): head = response
            }
            guard body.count <= Self.maximumSize else { throw URLError(.dataLengthExceedsMaximum) }
        }
        try Task.checkCancellation()
        guard let head else { throw URLError(.badServerResponse) }
        return (body, head)
    }

    private enum Part: Sendable {
        case body(Data)
        case head(URLResponse)
    }

    private final class Delegate: NSObject, URLSessionDataDelegate {
        private let parts: AsyncThrowingStream<Part, any Error>.Continuation

        init(parts: AsyncThrowingStream<Part, any Error>.Continuation) {
            self.parts = parts
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            // The task is cancelled if the stream has no consumer any more.
            if case .terminated = parts.yield(.body(data)) { dataTask.cancel() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if error == nil, let response = task.response { parts.yield(.head(response)) }
            parts.finish(throwing: error)
        }
    }
}
