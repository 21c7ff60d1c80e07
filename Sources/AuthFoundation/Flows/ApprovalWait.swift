package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The wait for a user who decides on another device (device-grant rules of RFC 8628, 3.5, which the oauth reference 2.1 applies).
///
/// - It asks at once, and then after each interval: the server's, at least a second, and five seconds more after each `slow_down`.
/// - Each request asks the server to hold it until the decision (`Prefer: wait=25`). Servers without long polling ignore that.
/// - The interval counts from sending a request (CIBA Core 1.0 section 7.3). A request that was held for longer is followed by the next one
///   at once.
/// - A server that was not reached or could not answer (no connection, a time-out, 5xx) is asked again a whole interval after the failure:
///   a phone that changes networks must not end a sign-in, and an overloaded server must not be asked at once. A connection that is not
///   trusted ends the wait.
/// - A rate limit (429) counts as such a failure; the next request waits as long as the server says if that is longer.
/// - When what the person was asked has expired it ends with ``tooLate``, or with the failure if the server could not be asked the last time.
package struct ApprovalWait<Value: Sendable> {
    /// A fraction of a second would make a loop of requests.
    private static var shortestInterval: TimeInterval { 1 }

    /// Nobody looks at a waiting screen for longer, whatever the server says; in seconds.
    package static var longestLifetime: TimeInterval { 3600 }

    /// The seconds for which the server may hold a request. CIBA Core 1.0 section 7.3 recommends to answer within 30.
    private static var preferredWait: Int { 25 }

    private let interval: TimeInterval
    private let end: Date
    private let clock: any OAuth2Clock
    private let tooLate: any Error
    private let ask: (RequestPassage) async throws -> Value

    /// - Parameters:
    ///   - interval: The server's, in seconds.
    ///   - end: When what the person was asked expires, by the clock.
    ///   - clock: The client's.
    ///   - tooLate: Is thrown then.
    ///   - ask: Asks the server once.
    package init(
        interval: TimeInterval, end: Date, clock: any OAuth2Clock, tooLate: any Error,
        ask: @escaping (RequestPassage) async throws -> Value
    ) {
        self.interval = interval
        self.end = end
        self.clock = clock
        self.tooLate = tooLate
        self.ask = ask
    }

    package func value() async throws -> Value {
        var interval = max(interval, Self.shortestInterval)
        // Counted beside the clock, which somebody may set back meanwhile.
        var patience = min(end.timeIntervalSince(clock.now), Self.longestLifetime)
        while true {
            try Task.checkCancellation()
            let passage = RequestPassage(waitsForRateLimit: false, preferredWait: Self.preferredWait)
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

    /// Whether to ask again: the person has not decided, or the server did not answer.
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
    /// Whether it is a matter of the network of the moment, and not of the server's certificate, the request or the answer.
    fileprivate var isPassing: Bool {
        switch code {
        case .notConnectedToInternet, .networkConnectionLost, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .timedOut,
            .dataNotAllowed, .internationalRoamingOff, .callIsActive, .badServerResponse:
            true
        #if canImport(FoundationNetworking)
        // What that implementation has no code for, such as an answer that breaks off in the middle.
        case .unknown: true
        #endif
        default: false
        }
    }
}
