#if PostgreSQL
internal import Foundation
internal import JOSE
internal import Store

/// The threads of the store, each with a connection of its own.
final class PostgreSQLPool: Sendable {
    /// The connection of one thread.
    ///
    /// `@unchecked Sendable` is safe because only that thread uses it: `WorkerThreads` passes each slot to the jobs of one thread.
    final class Slot: @unchecked Sendable {
        private let configuration: PostgreSQLConfiguration
        private var connection: PostgreSQLConnection?
        /// The last failure to connect; `nil` after a success. For one second after a failure, requests fail at once, so that they do not
        /// queue up behind attempts that each take seconds.
        private var failure: (error: any Error, at: ContinuousClock.Instant)?

        init(_ configuration: PostgreSQLConfiguration) { self.configuration = configuration }

        /// Returns the connection, and opens one if there is none.
        func open() throws -> PostgreSQLConnection {
            if let connection { return connection }
            let now = ContinuousClock.now
            if let failure, now < failure.at + .seconds(1) { throw failure.error }
            do {
                let opened = try PostgreSQLPool.connect(
                    configuration, until: now + .seconds(failure == nil ? configuration.reconnectTimeout : 0))
                failure = nil
                connection = opened
                return opened
            } catch {
                failure = (error, .now)
                throw error
            }
        }

        /// Closes a connection that was lost.
        func drop() { connection = nil }
    }

    private let configuration: PostgreSQLConfiguration
    private let threads: WorkerThreads<Slot>
    private let count: Int

    init(_ configuration: PostgreSQLConfiguration) {
        self.configuration = configuration
        count = min(max(configuration.connections, 1), 64)
        threads = WorkerThreads((0..<count).map { _ in Slot(configuration) }, name: "countersign-store-postgresql")
    }

    /// Runs a job on one of the threads. Throws `StoreError`, or an error of the job itself.
    func run<Result: Sendable>(_ job: @escaping @Sendable (Slot) throws -> Result) async throws -> Result {
        do {
            return try await threads.run { slot in
                do {
                    return try job(slot)
                } catch let error as ConnectionLost {
                    slot.drop()
                    throw error
                }
            }
        } catch {
            throw Self.translated(error, configuration)
        }
    }

    /// Ends the threads after the queued jobs, and closes their connections.
    func close() async {
        threads.close()
        await threads.ended()
    }

    /// Lets the threads end without waiting.
    func abandon() { threads.close() }

    /// Connects, and retries until `end`. Blocks the thread, which must belong to the store or to a command. Throws `StoreError`.
    static func connect(_ configuration: PostgreSQLConfiguration, until end: ContinuousClock.Instant = .now) throws -> PostgreSQLConnection
    {
        guard DatabaseURL(configuration.url.text).isEncoded else {
            throw StoreError(
                .invalid,
                "The URL of the database has a character that a URL cannot contain. Write % and its hexadecimal code.")
        }
        while true {
            do {
                return try PostgreSQLConnection.open(configuration)
            } catch {
                guard ContinuousClock.now + pause < end else { throw translated(error, configuration) }
                // Blocks a thread of the store, which has nothing else to do without a database.
                usleep(100_000)
            }
        }
    }

    private static let pause = Duration.milliseconds(100)

    /// Translates an error to a `StoreError` with a message for the operator; returns other errors unchanged.
    static func translated(_ error: any Error, _ configuration: PostgreSQLConfiguration) -> any Error {
        let place = "The database \(configuration.place)"
        switch error {
        case is JobQueueClosed: return StoreError(.closed, "\(place) was closed. Open it again.")
        case let error as ConnectionLost:
            return StoreError(
                .unreachable,
                "\(place) cannot be reached: \(oneLine(redacted(error.message, configuration))). Check that it runs, the URL and the password."
            )
        case let error as PostgreSQLError:
            let text = redacted(error.message, configuration)
            switch error.state {
            case "53100": return StoreError(.unavailable, "The disk of \(place.lowercasedFirst) is full. Make room and try again.")
            case "53300":
                return StoreError(.unavailable, "\(place) has no free connection. Raise max_connections, or lower the connections.")
            case "57014": return StoreError(.unavailable, "\(place) did not answer within the statement timeout. Try again.")
            case "42501": return StoreError(.unavailable, "\(place) refuses access: \(text). Grant the user its tables.")
            default: return StoreError(.unavailable, "\(place) failed: \(text) (\(error.state)).")
            }
        default: return error
        }
    }

    /// Returns a message as one line. libpq writes each host's reason on several lines, and ends some with a question mark.
    private static func oneLine(_ message: String) -> String {
        message.split(whereSeparator: \.isWhitespace).joined(separator: " ").trimmingCharacters(in: ["?", ".", " "])
    }

    /// Removes secrets from a message: libpq quotes a malformed URL, and the server may quote a parameter.
    private static func redacted(_ message: String, _ configuration: PostgreSQLConfiguration) -> String {
        let secrets = [configuration.url.text, configuration.password?.text, URLComponents(string: configuration.url.text)?.password]
        return secrets.compactMap { $0 }.filter { !$0.isEmpty }.reduce(message) { $0.replacingOccurrences(of: $1, with: "…") }
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
#endif
