import Logging
import NIOConcurrencyHelpers

/// A log that keeps every line of every level.
final class RecordedLogs: Sendable {
    private let kept = NIOLockedValueBox<[String]>([])

    /// The lines. Each contains level, message and metadata.
    var lines: [String] { kept.withLockedValue { $0 } }

    /// A logger that writes to this log.
    var logger: Logger { Logger(label: "test") { _ in Handler(logs: self) } }

    private struct Handler: LogHandler {
        let logs: RecordedLogs
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let pairs = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            logs.kept.withLockedValue { $0.append("\(event.level) \(event.message) \(pairs.joined(separator: " "))") }
        }
    }
}
