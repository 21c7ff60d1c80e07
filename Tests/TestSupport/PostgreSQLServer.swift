internal import AuthFoundation
internal import Foundation

/// A real PostgreSQL server in a new folder, on a free port of this machine. It ends when its owner, or the test process, ends.
public final class PostgreSQLServer: Sendable {
    /// The server that most tests share. Each test uses its own database.
    public static let shared = Task { try await PostgreSQLServer(writesThrough: false) }

    /// The folder with the programs of the newest installed version.
    static let programs: URL = {
        let root = URL(filePath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path))?.compactMap(Int.init) ?? []
        return root.appending(path: "\(versions.max() ?? 15)/bin")
    }()

    /// The TCP port.
    public let port: Int
    private let folder = TemporaryFolder()
    private let process: Locked<ChildProcess?>
    /// Whether a commit waits for the disk. If `false`, a failure of the machine can lose commits, but a failure of the server cannot.
    private let writesThrough: Bool
    private let count = Locked(0)

    /// Creates a database cluster and starts its server.
    ///
    /// - Throws: ``ChildProcess/NotWritten`` with the server's output if it does not start.
    public init(writesThrough: Bool = true) async throws {
        port = try SitePort().number
        process = Locked(nil)
        self.writesThrough = writesThrough
        try await start(creating: "\"$BIN/initdb\" -D data -A trust -U countersign -E UTF8 --locale=C")
    }

    /// Creates a standby that copies a primary server and follows it. The primary then confirms a commit only after the standby has written
    /// the commit to its disk.
    ///
    /// - Throws: ``ChildProcess/NotWritten`` with the server's output if it does not start.
    public init(following primary: PostgreSQLServer) async throws {
        port = try SitePort().number
        process = Locked(nil)
        writesThrough = true
        // The copied setting would make this server wait for another standby after its promotion.
        try await start(
            creating: """
                "$BIN/pg_basebackup" -D data -R -X stream -c fast -h 127.0.0.1 -p \(primary.port) -U countersign && \
                $as tee -a data/postgresql.auto.conf <<< "synchronous_standby_names = ''"
                """)
        try await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try await primary.sql("SELECT pg_reload_conf()")
    }

    /// Makes a standby the primary. The server accepts writes when this function returns.
    public func promote() async throws { try await sql("SELECT pg_promote(true, 60)") }

    /// Starts the server again after ``crash()``.
    public func restart() async throws { try await start(creating: nil) }

    /// Kills the server without notice, like a power failure of its machine.
    public func crash() async throws {
        let data = folder.file("data").path
        _ = try await ChildProcess.run(
            URL(filePath: "/bin/bash"), ["-c", "kill -9 $(head -1 '\(data)/postmaster.pid')"])
        _ = await process.withLock { $0 }?.end()
    }

    /// Creates a database and returns its URL.
    ///
    /// - Parameter template: The name of a database to copy, which no client uses; `nil` for an empty database.
    public func newDatabase(copying template: String? = nil) async throws -> String {
        let name = "test\(count.withLock { count in count += 1; return count })"
        try await sql("CREATE DATABASE \(name)" + (template.map { " TEMPLATE \($0)" } ?? ""))
        return url(of: name)
    }

    /// Returns the URL of a database.
    public func url(of database: String) -> String { "postgres://countersign@127.0.0.1:\(port)/\(database)" }

    /// The Unix socket of the server, in its folder.
    public var socketPath: String { folder.file(".s.PGSQL.\(port)").path }

    /// Runs a statement and returns its output.
    ///
    /// - Throws: ``ChildProcess/NotWritten`` with the error of the database.
    @discardableResult
    public func sql(_ text: String, in database: String = "postgres") async throws -> String {
        let ended = try await ChildProcess.run(
            Self.programs.appending(path: "psql"), ["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text, url(of: database)])
        guard ended.status == 0 else { throw ChildProcess.NotWritten(description: ended.errors) }
        return ended.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts the server as another user than root, because PostgreSQL refuses to run as root. The server ends with the script or the test
    /// process.
    ///
    /// - Parameter creating: The command that creates the files; `nil` if they exist.
    private func start(creating: String?) async throws {
        let script = """
            set -e
            as=; [ "$(id -u)" != 0 ] || as="setpriv --reuid=postgres --regid=postgres --init-groups"
            mkdir -p "$FOLDER"; [ -z "$as" ] || chown postgres "$FOLDER"; cd "$FOLDER"
            \(creating.map { "$as \($0) >initdb.log" } ?? "")
            $as "$BIN/postgres" -D data -k "$FOLDER" -p "$PORT" -h 127.0.0.1 -c max_connections=200 -c fsync="$FSYNC" &
            server=$!
            (while kill -0 $$ && kill -0 "$OWNER"; do sleep 1; done 2>/dev/null; kill -QUIT $server
                kill -0 "$OWNER" 2>/dev/null || { sleep 2; rm -rf "$FOLDER"; }) &
            wait $server
            """
        let started = try ChildProcess(
            URL(filePath: "/bin/bash"), ["-c", script],
            environment: [
                "FOLDER": folder.url.path, "PORT": String(port), "BIN": Self.programs.path,
                "FSYNC": writesThrough ? "on" : "off",
                "OWNER": String(ProcessInfo.processInfo.processIdentifier),
            ])
        process.withLock { $0 = started }
        try await started.waitFor("database system is ready to accept ")
    }
}

/// PgBouncer in transaction mode in front of a server. It ends when its owner, or the test process, ends.
public final class ConnectionPooler: Sendable {
    /// The TCP port.
    public let port: Int
    private let target: Int
    private let folder = TemporaryFolder()
    private let process: ChildProcess

    /// Starts the pooler, with fewer connections to the server than clients.
    ///
    /// - Throws: ``ChildProcess/NotWritten`` with its output if it does not start.
    public init(to server: PostgreSQLServer) async throws {
        port = try SitePort().number
        target = server.port
        let script = """
            set -e
            as=; [ "$(id -u)" != 0 ] || as="setpriv --reuid=postgres --regid=postgres --init-groups"
            mkdir -p "$FOLDER"; [ -z "$as" ] || chown postgres "$FOLDER"; cd "$FOLDER"
            printf '[databases]\\n* = host=127.0.0.1 port=%s user=countersign\\n[pgbouncer]\\nlisten_addr = 127.0.0.1\\nlisten_port = %s\\n' "$TARGET" "$PORT" >ini
            printf 'auth_type = any\\npool_mode = transaction\\ndefault_pool_size = 4\\nunix_socket_dir =\\n' >>ini
            $as pgbouncer ini &
            server=$!
            (while kill -0 $$ && kill -0 "$OWNER"; do sleep 1; done 2>/dev/null; kill -INT $server) &
            wait $server
            """
        process = try ChildProcess(
            URL(filePath: "/bin/bash"), ["-c", script],
            environment: [
                "FOLDER": folder.url.path, "PORT": String(port), "TARGET": String(target), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "OWNER": String(ProcessInfo.processInfo.processIdentifier),
            ])
        try await process.waitFor("process up")
    }

    /// Returns the URL of a database of the server through the pooler.
    public func url(of direct: String) -> String { direct.replacing(":\(target)/", with: ":\(port)/") }
}
