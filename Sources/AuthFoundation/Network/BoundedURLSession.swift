import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `URLSession` that limits the size of responses and the duration of requests.
final class BoundedURLSession: Sendable {
    private let session: URLSession
    private let responses: ResponseCollector

    init(_ configuration: URLSessionConfiguration, followsRedirects: Bool, maximumResponseSize: Int) {
        responses = ResponseCollector(followsRedirects: followsRedirects, maximumSize: maximumResponseSize)
        session = URLSession(configuration: configuration, delegate: responses, delegateQueue: responses.queue)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Sends a request. Cancellation, the time limit or a rejected response ends the wait at once and closes the connection.
    func data(for request: URLRequest, clock: any OAuth2Clock, staysOnHost: Bool) async throws -> (Data, URLResponse) {
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                responses.begin(task, continuation, staysOnHost: staysOnHost)
                task.resume()
                // The cancellation handler may have run before `begin`.
                if Task.isCancelled { responses.fail(task, with: .cancelled) }
                responses.limit(
                    task,
                    Task { [responses] in
                        try await clock.sleep(for: request.timeoutInterval)
                        responses.fail(task, with: .timedOut)
                    })
            }
        } onCancel: {
            responses.fail(task, with: .cancelled)
        }
    }
}

/// The delegate that collects the responses of one session.
private final class ResponseCollector: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
        let continuation: CheckedContinuation<(Data, URLResponse), any Error>
        let staysOnHost: Bool
        /// The task that ends the exchange with a timeout.
        var limit: Task<Void, any Error>?
        var response: URLResponse?
        var body = Data()
    }

    #if canImport(FoundationNetworking)
    let queue = InlineCallbackQueue()
    #else
    let queue: OperationQueue? = nil
    #endif
    private let exchanges = Locked<[Int: Exchange]>([:])
    private let followsRedirects: Bool
    private let maximumSize: Int

    init(followsRedirects: Bool, maximumSize: Int) {
        self.followsRedirects = followsRedirects
        self.maximumSize = maximumSize
    }

    func begin(_ task: URLSessionTask, _ continuation: CheckedContinuation<(Data, URLResponse), any Error>, staysOnHost: Bool) {
        exchanges.withLock { $0[task.taskIdentifier] = Exchange(continuation: continuation, staysOnHost: staysOnHost) }
    }

    /// Sets the task that ends the exchange with a timeout. Call this after the data task was resumed.
    func limit(_ task: URLSessionTask, _ limit: Task<Void, any Error>) {
        let isOpen = exchanges.withLock { exchanges in
            exchanges[task.taskIdentifier]?.limit = limit
            return exchanges[task.taskIdentifier] != nil
        }
        guard !isOpen else { return }
        limit.cancel()
        // A cancellation between `begin` and `resume` has no effect on Linux: `resume` starts the transfer.
        stop(task)
    }

    /// Ends the wait for a response and stops the transfer.
    func fail(_ task: URLSessionTask, with code: URLError.Code) {
        guard let exchange = remove(task) else { return }
        exchange.continuation.resume(throwing: URLError(code))
        stop(task)
    }

    private func stop(_ task: URLSessionTask) {
        #if canImport(FoundationNetworking)
        queue.cancel(task)
        #else
        task.cancel()
        #endif
    }

    private func remove(_ task: URLSessionTask) -> Exchange? {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        exchange?.limit?.cancel()
        return exchange
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let code = Self.reason(toRefuse: response, to: dataTask.originalRequest, maximumSize: maximumSize) {
            fail(dataTask, with: code)
            completionHandler(.cancel)
        } else {
            exchanges.withLock { $0[dataTask.taskIdentifier]?.response = response }
            completionHandler(.allow)
        }
    }

    /// Returns the reason to reject a response by its header fields, or `nil` if there is none.
    private static func reason(toRefuse response: URLResponse, to request: URLRequest?, maximumSize: Int) -> URLError.Code? {
        guard let response = response as? HTTPURLResponse else { return nil }
        let asked = request?.value(forHTTPHeaderField: "Accept-Encoding") ?? "identity"
        if let encoding = response.header("Content-Encoding")?.lowercased(), !["", "identity"].contains(encoding), asked == "identity" {
            return .cannotDecodeContentData
        }
        guard request?.httpMethod != "HEAD", let length = response.header("Content-Length"),
            (Int64(length) ?? 0) > Int64(maximumSize)
        else { return nil }
        return .dataLengthExceedsMaximum
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = exchanges.withLock { exchanges in
            // Remove and reinsert the exchange, because changing it in place would copy the body.
            guard var exchange = exchanges.removeValue(forKey: dataTask.taskIdentifier) else { return false }
            let isTooLarge = data.count > maximumSize - exchange.body.count
            if !isTooLarge { exchange.body.append(data) }
            exchanges[dataTask.taskIdentifier] = exchange
            return isTooLarge
        }
        if isTooLarge { fail(dataTask, with: .dataLengthExceedsMaximum) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = remove(task) else { return }
        if let error {
            exchange.continuation.resume(throwing: error)
        } else if let response = exchange.response ?? task.response {
            exchange.continuation.resume(returning: (exchange.body, response))
        } else {
            exchange.continuation.resume(throwing: URLError(.badServerResponse))
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let staysOnHost = exchanges.withLock { $0[task.taskIdentifier]?.staysOnHost }
        #if canImport(FoundationNetworking)
        // Foundation traps if the delegate responds for a cancelled task.
        guard staysOnHost != nil else { return }
        #endif
        let isFollowed =
            followsRedirects && RedirectRule.follows(request, from: task.originalRequest, staysOnHost: staysOnHost ?? true)
        completionHandler(isFollowed ? request : nil)
    }

    #if canImport(FoundationNetworking)
    /// Returns a 401 response to the caller. Otherwise Foundation waits for credentials and never completes.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let exchange = remove(task) else { return }
        if let response = exchange.response ?? challenge.failureResponse {
            exchange.continuation.resume(returning: (exchange.body, response))
        } else {
            exchange.continuation.resume(throwing: URLError(.badServerResponse))
        }
        stop(task)
    }
    #endif
}
