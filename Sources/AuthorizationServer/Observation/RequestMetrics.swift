internal import IdentityCore
internal import Logging
internal import Metrics

/// Counts and times requests by route: `countersign_http_requests_total` and `countersign_http_request_duration_seconds`.
struct RequestMetrics: Sendable {
    private struct Instruments: Sendable {
        let duration: Metrics.Timer
        /// The counters, indexed by the first digit of the status minus 1.
        let counts: [Counter]
    }

    private let byRoute: [String: Instruments]
    private let unknown: Instruments

    /// Creates the instruments for a fixed set of routes, so that requests cannot add label values.
    init(routes: [String], factory: any MetricsFactory = MetricsSystem.factory) {
        byRoute = Dictionary(routes.map { ($0, Self.instruments($0, factory)) }, uniquingKeysWith: { first, _ in first })
        unknown = Self.instruments("unknown", factory)
    }

    func record(route: String, status: Int, nanoseconds: Int64) {
        let instruments = byRoute[route] ?? unknown
        instruments.duration.recordNanoseconds(nanoseconds)
        instruments.counts[min(max(status / 100, 1), 5) - 1].increment()
    }

    private static func instruments(_ route: String, _ factory: any MetricsFactory) -> Instruments {
        Instruments(
            duration: Metrics.Timer(
                label: "countersign_http_request_duration_seconds", dimensions: [("route", route)], factory: factory),
            counts: (1...5).map {
                Counter(
                    label: "countersign_http_requests_total", dimensions: [("route", route), ("status", "\($0)xx")], factory: factory)
            })
    }
}

/// Counts signs of attacks on the organization in `countersign_security_signals_total`. Logs a warning for signs that need an operator's
/// attention.
struct SignalMetrics: Sendable {
    private let counters: [SecuritySignal: Counter]
    private let logger: Logger

    init(logger: Logger, factory: any MetricsFactory = MetricsSystem.factory) {
        self.logger = logger
        counters = Dictionary(
            uniqueKeysWithValues: SecuritySignal.allCases.map {
                ($0, Counter(label: "countersign_security_signals_total", dimensions: [("signal", $0.rawValue)], factory: factory))
            })
    }

    func record(_ signal: SecuritySignal) {
        counters[signal]?.increment()
        switch signal {
        case .wrongRecoveryGuess: break
        case .recoveryBudgetSpent:
            logger.warning(
                """
                Too many wrong codes and answers in account recoveries within an hour: an attacker is guessing at many accounts. Until the hour is \
                over, only users at a known device or network recover. Look for user.account.recovery in the system log.
                """)
        }
    }
}
