package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request on its way: whether somebody still waits for its answer, and what the answer says of the server's rate limit.
///
/// A request that was sent is seen through to its end even if its caller has left, because its answer may bring what must be given back;
/// but one that the rate limit holds back is not sent again then. Safe from any thread or task.
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
    ///   - waitsForRateLimit: Whether a request that met the rate limit is sent again by the client; false if the caller does that.
    ///   - preferredWait: The seconds for which the server may hold the request until it has an answer; nil to be answered at once.
    package init(waitsForRateLimit: Bool = true, preferredWait: Int? = nil) {
        self.waitsForRateLimit = waitsForRateLimit
        self.preferredWait = preferredWait
    }

    /// The headers of the request: how long the server may hold it (RFC 7240 section 4.3).
    package var headers: [String: (any APIRequestArgument)?]? { preferredWait.map { ["Prefer": "wait=\($0)"] } }

    /// The request's time limit, in seconds. For one that the server may hold, ten seconds more than that: a connection that breaks
    /// unnoticed meanwhile, as when a phone changes networks, must not delay the sign-in for longer.
    package var timeoutInterval: TimeInterval { preferredWait.map { TimeInterval($0) + 10 } ?? 60 }

    /// For how many seconds the server wants no further request; nil if it does not say.
    package var rateLimitDelay: TimeInterval? { state.withLock { $0.delay } }

    /// What an answer means.
    package func result(of response: HTTPURLResponse) -> APIResponseResult {
        guard response.statusCode == 429 else { return (200..<300).contains(response.statusCode) ? .success : .error }
        let delay = response.rateLimitDelay
        return state.withLock { state in
            state.delay = delay
            state.isHeldBack = true
            return waitsForRateLimit && !state.isAbandoned ? .retry : .error
        }
    }

    /// Nobody waits for the answer.
    ///
    /// - Returns: Whether the request shall be cancelled, rather than seen through.
    package func abandon() -> Bool {
        state.withLock { state in
            state.isAbandoned = true
            return state.isHeldBack
        }
    }

    /// Sends a request, and waits for its end even if the caller leaves. What bounds it then is the request's own time-out.
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
    /// What `Retry-After` (RFC 9110, 10.2.3; in seconds) or an exhausted `x-rate-limit-remaining` ask for.
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
