internal import Foundation
package import Metrics
internal import NIOConcurrencyHelpers

/// A metrics backend that keeps all values in memory and writes them in the Prometheus text format 0.0.4.
///
/// Each combination of a label and its dimensions is one series. The server's dimensions have a fixed set of values, so requests cannot add
/// series. Safe from any task.
package final class PrometheusMetrics: MetricsFactory, Sendable {
    /// The upper bounds of the histogram buckets, in seconds.
    private static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    private enum Kind: String {
        case counter, gauge, histogram
    }

    private struct Family {
        let kind: Kind
        /// The series by the text of their dimensions.
        var series: [String: Series] = [:]
    }

    private let families = NIOLockedValueBox<[String: Family]>([:])
    private let sources = NIOLockedValueBox<[@Sendable () -> [Sample]]>([])

    /// A gauge value that is read at each request for the metrics.
    package struct Sample: Sendable {
        let name: String
        let dimensions: [(String, String)]
        let value: Double

        package init(_ name: String, _ value: Double, dimensions: [(String, String)] = []) {
            (self.name, self.dimensions, self.value) = (name, dimensions, value)
        }
    }

    /// Creates a backend without series.
    package init() {}

    /// Adds gauges that are read at each request for the metrics. `read` must not block.
    package func observe(_ read: @escaping @Sendable () -> [Sample]) { sources.withLockedValue { $0.append(read) } }

    // MARK: - The text

    /// Returns all series, sorted by name.
    package func text() -> String {
        var lines: [String: [String]] = [:]
        for (name, family) in families.withLockedValue({ $0 }) {
            let series = family.series.sorted { $0.key < $1.key }
            lines[name] = ["# TYPE \(name) \(family.kind.rawValue)"] + series.flatMap { $1.lines(name, $0) }
        }
        for sample in sources.withLockedValue({ $0 }).flatMap({ $0() }) {
            let line = "\(sample.name)\(Self.braces(Self.text(of: sample.dimensions))) \(Self.number(sample.value))"
            lines[sample.name, default: ["# TYPE \(sample.name) gauge"]].append(line)
        }
        return lines.sorted { $0.key < $1.key }.flatMap(\.value).joined(separator: "\n") + "\n"
    }

    private static func text(of dimensions: [(String, String)]) -> String {
        dimensions.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }.joined(separator: ",")
    }

    private static func braces(_ dimensions: String) -> String { dimensions.isEmpty ? "" : "{\(dimensions)}" }

    private static func number(_ value: Double) -> String {
        // Writes whole numbers without “.0”, and other values in the spelling of Prometheus.
        Int64(exactly: value).map(String.init) ?? (value.isNaN ? "NaN" : value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : "\(value)")
    }

    // MARK: - Series

    private func series(_ label: String, _ kind: Kind, _ dimensions: [(String, String)]) -> Series {
        families.withLockedValue { families in
            var family = families[label] ?? Family(kind: kind)
            // A series of another kind under the same name would make the text invalid, so it is not shown.
            guard family.kind == kind else { return Series(isHistogram: kind == .histogram) }
            let text = Self.text(of: dimensions)
            let series = family.series[text] ?? Series(isHistogram: kind == .histogram)
            family.series[text] = series
            families[label] = family
            return series
        }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { series(label, .counter, dimensions) }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { series(label, .gauge, dimensions) }

    /// Creates a histogram for a recorder that aggregates; otherwise a gauge, which keeps only the last value.
    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, aggregate ? .histogram : .gauge, dimensions)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { series(label, .histogram, dimensions) }

    /// Does nothing: a counter that disappears and returns would look like a restart.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private final class Series: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        private struct State {
            var value = 0.0
            /// The number of values in each bucket, not cumulative; empty unless the series is a histogram.
            var buckets: [Int]
            var count = 0
        }

        private let state: NIOLockedValueBox<State>
        private let isHistogram: Bool

        init(isHistogram: Bool) {
            self.isHistogram = isHistogram
            state = NIOLockedValueBox(State(buckets: isHistogram ? Array(repeating: 0, count: PrometheusMetrics.bounds.count) : []))
        }

        func increment(by amount: Int64) { state.withLockedValue { $0.value += Double(amount) } }
        func increment(by amount: Double) { state.withLockedValue { $0.value += amount } }
        func decrement(by amount: Double) { state.withLockedValue { $0.value -= amount } }
        func set(_ value: Int64) { set(Double(value)) }
        func set(_ value: Double) { state.withLockedValue { $0.value = value } }
        func reset() { state.withLockedValue { $0.value = 0 } }
        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
        func record(_ value: Int64) { record(Double(value)) }

        func record(_ value: Double) {
            guard isHistogram else { return set(value) }
            state.withLockedValue { state in
                if let index = PrometheusMetrics.bounds.firstIndex(where: { value <= $0 }) { state.buckets[index] += 1 }
                state.value += value
                state.count += 1
            }
        }

        func lines(_ name: String, _ dimensions: String) -> [String] {
            let state = state.withLockedValue { $0 }
            guard isHistogram else { return ["\(name)\(PrometheusMetrics.braces(dimensions)) \(PrometheusMetrics.number(state.value))"] }
            let prefix = dimensions.isEmpty ? "" : dimensions + ","
            var sum = 0
            let buckets = zip(PrometheusMetrics.bounds, state.buckets).map { bound, count in
                sum += count
                return "\(name)_bucket{\(prefix)le=\"\(PrometheusMetrics.number(bound))\"} \(sum)"
            }
            let braces = PrometheusMetrics.braces(dimensions)
            return buckets + [
                "\(name)_bucket{\(prefix)le=\"+Inf\"} \(state.count)", "\(name)_sum\(braces) \(PrometheusMetrics.number(state.value))",
                "\(name)_count\(braces) \(state.count)",
            ]
        }
    }
}
