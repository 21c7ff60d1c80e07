#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import JOSE
internal import Store

/// A value of a statement. The database infers the type from the statement.
enum PostgreSQLValue {
    case null
    case text(String)
    case bytes([UInt8])

    static func integer(_ value: some BinaryInteger) -> Self { .text(String(value)) }
    /// Returns a number as text. No precision is lost: Swift's description of a number is exact, and so is the database's parser.
    static func number(_ value: Double?) -> Self { value.map { .text("\($0)") } ?? .null }
    static func time(_ value: Date?) -> Self { number(value?.timeIntervalSince1970) }
}

struct PostgreSQLStatement {
    var sql: String
    var values: [PostgreSQLValue] = []

    init(_ sql: String, _ values: [PostgreSQLValue] = []) {
        self.sql = sql
        self.values = values
    }
}

/// A failed statement.
struct PostgreSQLError: Error {
    /// The SQLSTATE: five characters.
    let state: String
    let message: String
    let constraint: String?

    /// Whether the transaction must be repeated because of a concurrent one: serialization failure, deadlock, lock timeout.
    var isContention: Bool { ["40001", "40P01", "55P03"].contains(state) }
    var isUniqueViolation: Bool { state == "23505" }
    /// Whether a compare-and-swap hit no row; see ``PostgreSQLChange``.
    var isNoRow: Bool { state == "22012" }
    /// Whether the server ends this connection or cannot serve it: shutdown, crash, start-up, standby.
    var endsConnection: Bool { state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006" }
}

/// The error for a lost connection, or for a server that did not answer in time. The outcome of the sent statements is unknown.
struct ConnectionLost: Error {
    let message: String
}

/// The answers to one round trip.
enum PostgreSQLAnswer {
    case results([PostgreSQLResult])
    /// The first statement that failed. The statements after it did not run.
    case failed(index: Int, PostgreSQLError)
}

/// One connection. Not safe for several threads: it belongs to one thread of the store.
final class PostgreSQLConnection {
    private let handle: OpaquePointer
    /// The maximum wait for an answer in seconds, so that a cut network is noticed. It is longer than the statement timeout.
    private let patience: Int
    /// The round trips whose answers have not been read yet, each as its number of statements.
    private var unread: [Int] = []
    private let observeRoundTrip: (@Sendable () -> Void)?

    /// Connects to the first host of the URL that accepts the connection. Blocks the thread for up to three seconds for each host.
    ///
    /// libpq itself does not try the next host if a proxy accepts the connection and then closes it because its database is down.
    /// - Throws: ``ConnectionLost`` with the reasons of libpq.
    static func open(_ configuration: PostgreSQLConfiguration) throws -> PostgreSQLConnection {
        let servers = DatabaseURL(configuration.url.text).servers
        guard servers.count > 1 else { return try PostgreSQLConnection(configuration, at: nil) }
        var reasons: [String] = []
        for server in servers {
            do {
                return try PostgreSQLConnection(configuration, at: server)
            } catch let error as ConnectionLost {
                reasons.append(error.message)
            }
        }
        throw ConnectionLost(message: reasons.joined(separator: "; "))
    }

    /// Connects to one server.
    /// - Parameter server: The host and port, in place of the hosts and ports of the URL; `nil` uses the URL.
    private init(_ configuration: PostgreSQLConfiguration, at server: (host: String, port: String?)?) throws {
        // Parameters before the URL are defaults; parameters after the URL override it.
        var parameters = [
            ("sslmode", configuration.defaultTLSMode), ("connect_timeout", "3"), ("application_name", "countersign"),
            ("tcp_user_timeout", "10000"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"), ("dbname", configuration.url.text), ("client_encoding", "UTF8"),
        ]
        if let password = configuration.password { parameters.append(("password", password.text)) }
        if let server { parameters += [("host", server.host), ("port", server.port ?? "5432")] }
        let names = parameters.map { strdup($0.0) } + [nil]
        let values = parameters.map { strdup($0.1) } + [nil]
        defer { for pointer in names + values { free(pointer) } }
        guard let handle = PQconnectdbParams(names.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1) else {
            throw ConnectionLost(message: "out of memory")
        }
        guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            let message = String(cString: PQerrorMessage(handle))
            PQfinish(handle)
            throw ConnectionLost(message: message.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        // Notices, such as that a table exists already, would go to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        self.handle = handle
        patience = configuration.statementTimeout + 5
        observeRoundTrip = configuration.observeRoundTrip
    }

    deinit { PQfinish(handle) }

    /// Sends statements in one round trip and waits for the answers. Throws ``ConnectionLost``.
    func run(_ statements: [PostgreSQLStatement]) throws -> PostgreSQLAnswer {
        observeRoundTrip?()
        try readUnread()
        try send(statements)
        return try answer(to: statements.count)
    }

    /// Sends statements without waiting. The next call reads their answers and ignores them.
    func post(_ statements: [PostgreSQLStatement]) throws {
        try readUnread()
        try send(statements)
        unread.append(statements.count)
    }

    /// Reads the answers to posted statements.
    func readUnread() throws {
        while !unread.isEmpty { _ = try answer(to: unread.removeFirst()) }
    }

    private func send(_ statements: [PostgreSQLStatement]) throws {
        for statement in statements { try send(statement) }
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        // The output can be larger than the socket's buffer, while the server waits for its answers to be read.
        let end = deadline()
        while true {
            let rest = PQflush(handle)
            guard rest >= 0 else { throw lost() }
            if rest == 0 { return }
            try wait(for: Int16(POLLIN | POLLOUT), until: end)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    private func send(_ statement: PostgreSQLStatement) throws {
        var storage: [UInt8] = []
        var places: [Int?] = []
        var lengths: [Int32] = []
        var formats: [Int32] = []
        for value in statement.values {
            switch value {
            case .null:
                places.append(nil)
                lengths.append(0)
                formats.append(0)
            case .text(let text):
                places.append(storage.count)
                storage.append(contentsOf: text.utf8)
                storage.append(0)
                lengths.append(0)
                formats.append(0)
            case .bytes(let bytes):
                places.append(storage.count)
                storage += bytes
                // An empty value still needs an address.
                storage.append(0)
                lengths.append(Int32(bytes.count))
                formats.append(1)
            }
        }
        let isSent = storage.withUnsafeBytes { buffer in
            let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            let pointers = places.map { place in place.flatMap { base?.advanced(by: $0) } }
            return PQsendQueryParams(handle, statement.sql, Int32(statement.values.count), nil, pointers, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
    }

    /// Reads the answers to one round trip: one for each statement, and the synchronization.
    private func answer(to count: Int) throws -> PostgreSQLAnswer {
        let end = deadline()
        var results: [PostgreSQLResult] = []
        var failure: (Int, PostgreSQLError)?
        for index in 0..<count {
            guard let result = try next(until: end) else { throw lost() }
            switch result.status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: results.append(result)
            case PGRES_PIPELINE_ABORTED: break
            default: if failure == nil { failure = (index, result.error) }
            }
            // The end of the statement's results.
            guard try next(until: end) == nil else { throw lost() }
        }
        guard try next(until: end)?.status == PGRES_PIPELINE_SYNC else { throw lost() }
        if let (index, error) = failure {
            if error.endsConnection { throw ConnectionLost(message: error.message) }
            return .failed(index: index, error)
        }
        return .results(results)
    }

    private func next(until end: ContinuousClock.Instant) throws -> PostgreSQLResult? {
        while PQisBusy(handle) == 1 {
            try wait(for: Int16(POLLIN), until: end)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
        guard let result = PQgetResult(handle).map(PostgreSQLResult.init) else {
            // The result is also `nil` after the connection is lost.
            guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
            return nil
        }
        return result
    }

    private func deadline() -> ContinuousClock.Instant { .now + .seconds(patience) }

    private func wait(for events: Int16, until end: ContinuousClock.Instant) throws {
        var waiting = pollfd(fd: PQsocket(handle), events: events, revents: 0)
        let left = (end - .now).components
        let milliseconds = Int32(clamping: left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000)
        guard milliseconds > 0, poll(&waiting, 1, milliseconds) != 0 else {
            throw ConnectionLost(message: "the server did not answer for \(patience) seconds")
        }
    }

    private func lost() -> ConnectionLost {
        ConnectionLost(message: String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}

/// The rows of a statement, in binary format.
final class PostgreSQLResult {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQclear(handle) }

    var status: ExecStatusType { PQresultStatus(handle) }
    var rows: Range<Int32> { 0..<PQntuples(handle) }

    var error: PostgreSQLError {
        func field(_ code: Character) -> String? {
            PQresultErrorField(handle, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        return PostgreSQLError(state: field("C") ?? "", message: field("M") ?? "", constraint: field("n"))
    }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(handle, row, column) == 1 }

    func bytes(_ row: Int32, _ column: Int32) -> [UInt8] {
        let start = UnsafeRawPointer(PQgetvalue(handle, row, column))
        return Array(UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(handle, row, column))))
    }

    func text(_ row: Int32, _ column: Int32) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    /// Returns an integer of any size, which is stored in network byte order.
    func integer(_ row: Int32, _ column: Int32) -> Int64 {
        let bytes = bytes(row, column)
        let isNegative = bytes.first.map { $0 > 127 } ?? false
        return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
    }

    func number(_ row: Int32, _ column: Int32) -> Double? {
        isNull(row, column) ? nil : Double(bitPattern: UInt64(bitPattern: integer(row, column)))
    }

    func time(_ row: Int32, _ column: Int32) -> Date? { number(row, column).map(Date.init(timeIntervalSince1970:)) }
}
#endif
