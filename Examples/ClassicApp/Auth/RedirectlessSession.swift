internal import AuthFoundation
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A session that goes nowhere but where it is sent: a redirect is the answer itself. It keeps nothing, and takes short answers only.
struct RedirectlessSession: URLSessionProtocol {
    /// Of bytes.
    private static let maximumSize = 100_000

    var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        return configuration
    }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let (parts, entrance) = AsyncThrowingStream.makeStream(of: Part.self)
        // On Linux, who takes the answer in a closure is asked about no redirect: a delegate takes all of it.
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
            // The stream has no more consumers.
            if case .terminated = parts.yield(.body(data)) { dataTask.cancel() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if error == nil, let response = task.response { parts.yield(.head(response)) }
            parts.finish(throwing: error)
        }
    }
}
