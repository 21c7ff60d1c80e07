package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A wait for the user's decision on another device, which polls the server (RFC 8628 §3.5; Documentation/Protocol/OAuth.md §2.1).
/// - The first request is sent at once. The server sets the interval, which is at least one second. Each `slow_down` adds five seconds.
/// - Each request asks the server to hold it until the decision (`Prefer: wait=25`). Servers without long polling ignore this.
/// - The interval starts when a request is sent (CIBA Core 1.0 §7.3). If the server held a request for longer than the interval, the
///   next request is sent at once.
/// - After a temporary failure (no connection, timeout, 5xx), the next request follows a full interval later. A phone that changes networks
///   must not end a sign-in, and an overloaded server needs the pause. An untrusted connection ends the wait.
/// - A rate limit (429) counts as a temporary failure. The server's delay applies if it is longer than the interval.
/// - On expiry, throws the failure of the last request, or ``tooLate`` if that request did not fail.
package struct ApprovalWait<Value: Sendable> {
    /// The minimum interval in seconds. A shorter one would cause a busy loop of requests.
    private static var shortestInterval: TimeInterval { 1 }

    /// The maximum wait in seconds, regardless of the lifetime that the server states. A user does not wait longer.
    package static var longestLifetime: TimeInterval { 3600 }

    /// The number of seconds for which the server may hold a request. CIBA Core 1.0 §7.3 recommends a response within 30.
    private static var preferredWait: Int { 25 }

    private let interval: TimeInterval
    private let end: Date
    private let clock: any OAuth2Clock
    private let tooLate: any Error
    private let ask: (RequestState) async throws -> Value

    /// Creates a wait.
    /// - Parameters:
    ///   - interval: The server's interval in seconds.
    ///   - end: The expiry time of the request to the user.
    ///   - tooLate: The error to throw on expiry.
    ///   - ask: Sends one request to the server.
    package init(
        interval: TimeInterval, end: Date, clock: any OAuth2Clock, tooLate: any Error,
        ask: @escaping (RequestState) async throws -> Value
    ) {
        self.interval = interval
        self.end = end
        self.clock = clock
        self.tooLate = tooLate
        self.ask = ask
    }

    package func value() async throws -> Value {
        var interval = max(interval, Self.shortestInterval)
        // The remaining seconds. They are counted separately, because the clock can be set back during the wait.
        var patience = min(end.timeIntervalSince(clock.now), Self.longestLifetime)
        while true {
            try Task.checkCancellation()
            let passage = RequestState(waitsForRateLimit: false, preferredWait: Self.preferredWait)
            let sentAt = clock.now
            var failure: APIClientError?
            var isPending = false
            do {
                return try await ask(passage)
            } catch let error as APIClientError {
                switch error.pollingAnswer {
                case .pending: isPending = true
                case .slowDown: interval += 5
                case .noAnswer: failure = error
                case .final: throw error
                }
            }
            let now = clock.now
            let spent = max(now.timeIntervalSince(sentAt), 0)
            patience -= spent
            let rest = min(end.timeIntervalSince(now), patience)
            let wait = max(isPending ? interval - spent : interval, passage.rateLimitDelay ?? 0)
            if wait > 0 { try await clock.sleep(for: min(wait, rest)) }
            guard wait < rest else { throw failure ?? tooLate }
            patience -= wait
        }
    }
}

extension APIClientError {
    enum PollingAnswer {
        case pending, slowDown, noAnswer, final
    }

    /// Classifies an error of a polling request.
    var pollingAnswer: PollingAnswer {
        switch serverError?.code {
        case .authorizationPending?, .directAuthAuthorizationPending?: return .pending
        case .slowDown?: return .slowDown
        default: break
        }
        if case .httpError(let error as URLError) = self { return error.isPassing ? .noAnswer : .final }
        return isTransient ? .noAnswer : .final
    }
}

extension URLError {
    /// Whether the error is a temporary network problem, not a problem of the certificate, the request or the response.
    fileprivate var isPassing: Bool {
        switch code {
        case .notConnectedToInternet, .networkConnectionLost, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .timedOut,
            .dataNotAllowed, .internationalRoamingOff, .callIsActive, .badServerResponse:
            true
        #if canImport(FoundationNetworking)
        // FoundationNetworking uses `unknown` for other failures, such as a truncated response.
        case .unknown: true
        #endif
        default: false
        }
    }
}

/// The state of a request: whether its caller still waits, and the server's rate limit. A request that was sent is completed even if its
/// caller is gone, because its response may contain tokens to revoke. If the caller is gone while a rate limit delays the request, the
/// request is not sent again. Safe from any thread or task.
package final class RequestState: Sendable {
    private struct State {
        var isAbandoned = false
        var isHeldBack = false
        var delay: TimeInterval?
    }

    private let waitsForRateLimit: Bool
    private let preferredWait: Int?
    private let state = Locked(State())

    /// Creates the state of a request that is not sent yet.
    /// - Parameters:
    ///   - waitsForRateLimit: Whether the client resends the request after a rate limit. Pass false if the caller does this.
    ///   - preferredWait: The number of seconds for which the server may hold the request, or `nil` for an immediate response.
    package init(waitsForRateLimit: Bool = true, preferredWait: Int? = nil) {
        self.waitsForRateLimit = waitsForRateLimit
        self.preferredWait = preferredWait
    }

    /// The headers that tell the server how long it may hold the request (RFC 7240 §4.3).
    package var headers: [String: (any APIRequestArgument)?]? { preferredWait.map { ["Prefer": "wait=\($0)"] } }

    /// The timeout in seconds: 60, or the preferred wait plus ten. A silently broken connection therefore delays the sign-in only briefly.
    package var timeoutInterval: TimeInterval { preferredWait.map { TimeInterval($0) + 10 } ?? 60 }

    /// The number of seconds to wait before the next request; `nil` if the server sent no delay.
    package var rateLimitDelay: TimeInterval? { state.withLock { $0.delay } }

    /// Classifies a response, and stores the delay of a rate limit.
    package func result(of response: HTTPURLResponse) -> APIResponseResult {
        guard response.statusCode == 429 else { return (200..<300).contains(response.statusCode) ? .success : .error }
        let delay = response.rateLimitDelay
        return state.withLock { state in
            state.delay = delay
            state.isHeldBack = true
            return waitsForRateLimit && !state.isAbandoned ? .retry : .error
        }
    }

    /// Marks the request as abandoned by its caller. Returns whether to cancel the request instead of completing it.
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
    /// The longest delay in seconds from `Retry-After` (RFC 9110 §10.2.3; seconds only) and an exhausted `x-rate-limit-remaining`; `nil` if
    /// the response has neither.
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
