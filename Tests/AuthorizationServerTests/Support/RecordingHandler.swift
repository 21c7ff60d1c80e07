import Logging
import NIOConcurrencyHelpers

/// A log handler that records levels and metadata.
struct RecordingHandler: LogHandler {
    let lines: NIOLockedValueBox<[(Logger.Level, Logger.Metadata)]>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: Logging.LogEvent) {
        lines.withLockedValue { $0.append((event.level, event.metadata ?? [:])) }
    }
}
