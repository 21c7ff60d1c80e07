internal import Metrics

/// Counts and times requests by route: `countersign_http_requests_total` and `countersign_http_request_duration_seconds`.
struct RequestMetrics: Sendable {
    private struct Instruments: Sendable {
        let duration: Metrics.Timer
        /// By the first digit of the status, 1 to 5.
        let counts: [Counter]
    }

    private let byRoute: [String: Instruments]
    private let unknown: Instruments

    /// Makes the instruments of a fixed set of routes, so that no request can add to them.
    init(routes: [String], factory: any MetricsFactory = MetricsSystem.factory) {
        byRoute = Dictionary(routes.map { ($0, Self.instruments($0, factory)) }, uniquingKeysWith: { first, _ in first })
        unknown = Self.instruments("unknown", factory)
    }

    /// Notes one answered request.
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
