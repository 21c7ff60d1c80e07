import MetricsTestKit
import Testing

@testable import AuthorizationServer

@Suite("Request metrics")
struct RequestMetricsTests {
    @Test("Requests are counted by route and status class and timed by route, and unknown routes share one label")
    func record() throws {
        let factory = TestMetrics()
        let metrics = RequestMetrics(routes: ["token", "keys"], factory: factory)
        metrics.record(route: "token", status: 200, nanoseconds: 1_000)
        metrics.record(route: "token", status: 204, nanoseconds: 2_000)
        metrics.record(route: "token", status: 429, nanoseconds: 3_000)
        metrics.record(route: "/random/path", status: 404, nanoseconds: 4_000)
        let total = "countersign_http_requests_total"
        #expect(try factory.expectCounter(total, [("route", "token"), ("status", "2xx")]).totalValue == 2)
        #expect(try factory.expectCounter(total, [("route", "token"), ("status", "4xx")]).totalValue == 1)
        #expect(try factory.expectCounter(total, [("route", "unknown"), ("status", "4xx")]).totalValue == 1)
        let duration = "countersign_http_request_duration_seconds"
        #expect(try factory.expectTimer(duration, [("route", "token")]).values == [1_000, 2_000, 3_000])
        #expect(try factory.expectTimer(duration, [("route", "unknown")]).values == [4_000])
        #expect(throws: (any Error).self) { try factory.expectTimer(duration, [("route", "/random/path")]) }
    }
}
