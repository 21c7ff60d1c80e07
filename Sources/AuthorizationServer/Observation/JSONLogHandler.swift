internal import Foundation
internal import JOSE
package import Logging
internal import ServerHTTP

/// Writes each line of the server's log as one JSON object to standard error. Safe from any task.
///
/// The members `time`, `level`, `logger` and `message` come first in every object; the metadata follows with its own names.
package struct JSONLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    package var logLevel: Logger.Level = .info
    private let label: String
    private let write: @Sendable (String) -> Void

    /// Creates a handler. `write` receives each line with its line break; by default it goes to standard error.
    package init(
        label: String, write: @escaping @Sendable (String) -> Void = { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) }
    ) {
        (self.label, self.write) = (label, write)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: Logging.LogEvent) {
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
        var members = ["\"time\":\(Self.text(Self.time(SystemWallClock().now)))", "\"level\":\"\(event.level)\""]
        members += ["\"logger\":\(Self.text(label))", "\"message\":\(Self.text(event.message.description))"]
        if let error = event.error { members.append("\"error\":\(Self.text("\(error)"))") }
        let reserved: Set = ["time", "level", "logger", "message"]
        for (key, value) in all.sorted(by: { $0.key < $1.key }) where !reserved.contains(key) {
            members.append("\(Self.text(key)):\(Self.json(value).serializedString)")
        }
        write("{" + members.joined(separator: ",") + "}\n")
    }

    private static func text(_ text: String) -> String { JSONValue.string(text).serializedString }

    private static func time(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }

    private static func json(_ value: Logger.Metadata.Value) -> JSONValue {
        switch value {
        case .string(let text): .string(text)
        case .stringConvertible(let number as any BinaryInteger): Int64(exactly: number).map(JSONValue.integer) ?? .string("\(number)")
        case .stringConvertible(let other): .string("\(other)")
        case .array(let values): .array(values.map(json))
        case .dictionary(let values): .object(values.mapValues(json))
        }
    }
}
