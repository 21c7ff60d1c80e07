package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The state of a request: whether its caller still waits, and the server's rate limit. A request that was sent is completed even if its
/// caller is gone, because its response may contain tokens to revoke. A request delayed by the rate limit is then not sent again. Safe from
/// any thread or task.
package final class RequestPassage: Sendable {
    private struct State {
        var isAbandoned = false
        var isHeldBack = false
        var delay: TimeInterval?
    }

    private let waitsForRateLimit: Bool
    private let preferredWait: Int?
    private let state = Locked(State())

    /// - Parameters:
    ///   - waitsForRateLimit: Whether the client resends the request after a rate limit. Pass false if the caller does this.
    ///   - preferredWait: The number of seconds for which the server may hold the request, or `nil` for an immediate response.
    package init(waitsForRateLimit: Bool = true, preferredWait: Int? = nil) {
        self.waitsForRateLimit = waitsForRateLimit
        self.preferredWait = preferredWait
    }

    /// The headers that tell the server how long it may hold the request (RFC 7240 section 4.3).
    package var headers: [String: (any APIRequestArgument)?]? { preferredWait.map { ["Prefer": "wait=\($0)"] } }

    /// The timeout in seconds. For a held request it is ten seconds longer than the hold, so that a silently broken connection delays the
    /// sign-in only briefly.
    package var timeoutInterval: TimeInterval { preferredWait.map { TimeInterval($0) + 10 } ?? 60 }

    /// The number of seconds to wait before the next request, or `nil` if the server sent none.
    package var rateLimitDelay: TimeInterval? { state.withLock { $0.delay } }

    /// Classifies a response.
    package func result(of response: HTTPURLResponse) -> APIResponseResult {
        guard response.statusCode == 429 else { return (200..<300).contains(response.statusCode) ? .success : .error }
        let delay = response.rateLimitDelay
        return state.withLock { state in
            state.delay = delay
            state.isHeldBack = true
            return waitsForRateLimit && !state.isAbandoned ? .retry : .error
        }
    }

    /// Marks the request as abandoned by its caller. Returns whether to cancel it instead of completing it.
    package func abandon() -> Bool {
        state.withLock { state in
            state.isAbandoned = true
            return state.isHeldBack
        }
    }

    /// Sends a request and completes it even if the caller is cancelled. The request's timeout limits the wait.
    package func seeThrough<Response: Sendable>(_ send: @escaping @Sendable () async throws -> Response) async throws -> Response {
        try Task.checkCancellation()
        let request = Task { try await send() }
        return try await withTaskCancellationHandler {
            try await request.value
        } onCancel: {
            if abandon() { request.cancel() }
        }
    }
}

extension HTTPURLResponse {
    /// The longest delay in seconds from `Retry-After` (RFC 9110, 10.2.3; seconds only) and an exhausted `x-rate-limit-remaining`.
    fileprivate var rateLimitDelay: TimeInterval? {
        func number(_ name: String) -> TimeInterval? {
            value(forHTTPHeaderField: name).flatMap { TimeInterval($0) }.flatMap { $0.isFinite ? $0 : nil }
        }
        var delays = [number("Retry-After")]
        if let remaining = number("x-rate-limit-remaining"), remaining <= 0, let reset = number("x-rate-limit-reset"),
            let date = value(forHTTPHeaderField: "Date").flatMap(HTTPDate.date(from:))
        {
            delays.append(reset - date.timeIntervalSince1970)
        }
        return delays.compactMap { $0 }.max()
    }
}
