package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The session of clients that are given none: no cookies, nothing on disk, a limit on the size of answers, and no redirect that would
/// carry credentials to another origin.
package final class EphemeralSession: URLSessionProtocol {
    /// The one that clients share, and with it the connections to their servers. It remembers nothing between requests.
    package static let shared = EphemeralSession()

    private let session: URLSession
    private let delegate: Delegate
    private let servesOneRequest: Bool
    private let isBrowserless: Bool

    /// - Parameters:
    ///   - servesOneRequest: Whether a request with a body is sent through this session itself.
    ///   - isBrowserless: Whether it gives redirects to the caller, who does what a browser would.
    ///   - keepsCookies: Whether it keeps cookies, in memory; nil if it is browserless. Those of requests with a body are not kept.
    package init(servesOneRequest: Bool = false, isBrowserless: Bool = false, keepsCookies: Bool? = nil) {
        self.servesOneRequest = servesOneRequest
        self.isBrowserless = isBrowserless
        delegate = Delegate(followsRedirects: !isBrowserless)
        let configuration = URLSessionConfiguration.ephemeral
        if !(keepsCookies ?? isBrowserless) {
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.httpCookieAcceptPolicy = .never
        }
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    package var configuration: URLSessionConfiguration { session.configuration }

    package func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        #if canImport(FoundationNetworking)
        // There, a request on a kept connection that breaks is sent anew without its body, and waits until it times out: longer than the
        // grace that a lost refresh has. So what has a body gets a connection of its own.
        if request.httpBody != nil, !servesOneRequest {
            let session = EphemeralSession(servesOneRequest: true, isBrowserless: isBrowserless, keepsCookies: false)
            return try await session.data(for: request)
        }
        #endif
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                delegate.begin(task, continuation)
                task.resume()
                // A cancellation that came before this found nothing to cancel.
                if Task.isCancelled { cancel(task) }
            }
        } onCancel: {
            cancel(task)
        }
    }

    /// Ends the wait for a request.
    ///
    /// On Linux the request itself is left to end, unheard: Foundation traps there if one is cancelled at the moment in which it ends, and has
    /// ended within before its delegate is told.
    private func cancel(_ task: URLSessionTask) {
        #if canImport(FoundationNetworking)
        delegate.giveUp(task)
        #else
        task.cancel()
        #endif
    }

    private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
        private struct Answer {
            let continuation: CheckedContinuation<(Data, URLResponse), any Error>
            var response: URLResponse?
            var body = Data()
            var isTooLarge = false
        }

        private let answers = Locked<[Int: Answer]>([:])
        private let followsRedirects: Bool

        init(followsRedirects: Bool) {
            self.followsRedirects = followsRedirects
        }

        func begin(_ task: URLSessionTask, _ continuation: CheckedContinuation<(Data, URLResponse), any Error>) {
            answers.withLock { $0[task.taskIdentifier] = Answer(continuation: continuation) }
        }

        /// Lets the caller go; what still comes for the request is passed over.
        func giveUp(_ task: URLSessionTask) {
            let answer = answers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            answer?.continuation.resume(throwing: URLError(.cancelled))
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            answers.withLock { $0[dataTask.taskIdentifier]?.response = response }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let isTooLarge = answers.withLock { answers in
                guard var answer = answers.removeValue(forKey: dataTask.taskIdentifier) else { return false }
                answer.body.append(data)
                answer.isTooLarge = answer.body.count > RequestSender.maximumResponseSize
                answers[dataTask.taskIdentifier] = answer
                return answer.isTooLarge
            }
            if isTooLarge { dataTask.cancel() }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let answer = answers.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
            if answer.isTooLarge {
                answer.continuation.resume(throwing: URLError(.dataLengthExceedsMaximum))
            } else if let error {
                answer.continuation.resume(throwing: error)
            } else if let response = answer.response ?? task.response {
                answer.continuation.resume(returning: (answer.body, response))
            } else {
                answer.continuation.resume(throwing: URLError(.badServerResponse))
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(followsRedirects && RedirectRule.follows(request, from: task.originalRequest) ? request : nil)
        }
    }
}

/// Which redirects a client follows.
enum RedirectRule {
    /// Within the origin always; elsewhere only a request without credentials, never from https to http, and to plain http only on this
    /// machine.
    static func follows(_ next: URLRequest, from original: URLRequest?) -> Bool {
        guard let from = original?.url, let to = next.url else { return false }
        if origin(of: from) == origin(of: to) { return true }
        guard LoopbackRule.isAcceptable(to), to.scheme?.lowercased() == "https" || from.scheme?.lowercased() != "https" else {
            return false
        }
        let carriesCredentials =
            original?.value(forHTTPHeaderField: "Authorization") != nil || original?.httpBody != nil || original?.httpMethod != "GET"
        return !carriesCredentials
    }

    private static func origin(of url: URL) -> String {
        let scheme = url.scheme?.lowercased() ?? ""
        return "\(scheme)://\(url.host()?.lowercased() ?? ""):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }
}
