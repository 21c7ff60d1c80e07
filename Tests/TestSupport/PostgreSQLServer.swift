internal import AuthFoundation
internal import Foundation

/// A real PostgreSQL server in a new folder, on a free port of this machine. It ends when its owner, or the test process, ends.
public final class PostgreSQLServer: Sendable {
    /// The server that most tests share. Each uses a database of its own.
    public static let shared = Task { try await PostgreSQLServer() }

    /// The folder with the newest installed programs.
    static let programs: URL = {
        let root = URL(filePath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path))?.compactMap(Int.init) ?? []
        return root.appending(path: "\(versions.max() ?? 15)/bin")
    }()

    /// The TCP port.
    public let port: Int
    private let folder = TemporaryFolder()
    private let process: Locked<ChildProcess?>
    private let count = Locked(0)

    /// Creates a database cluster and starts its server.
    ///
    /// - Throws: ``ChildProcess/NotWritten`` with the server's output if it does not start.
    public init() async throws {
        port = try SitePort().number
        process = Locked(nil)
        try await start(creating: true)
    }

    /// Starts the server again after ``crash()``.
    public func restart() async throws { try await start(creating: false) }

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

    /// The URL of a database.
    public func url(of database: String) -> String { "postgres://countersign@127.0.0.1:\(port)/\(database)" }

    /// Runs a statement.
    ///
    /// - Throws: ``ChildProcess/NotWritten`` with the error of the database.
    @discardableResult
    public func sql(_ text: String, in database: String = "postgres") async throws -> String {
        let ended = try await ChildProcess.run(
            Self.programs.appending(path: "psql"), ["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text, url(of: database)])
        guard ended.status == 0 else { throw ChildProcess.NotWritten(description: ended.errors) }
        return ended.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The server refuses to run as root. The script ends it when the script or the test process has ended.
    private func start(creating: Bool) async throws {
        let script = """
            set -e
            as=; [ "$(id -u)" != 0 ] || as="setpriv --reuid=postgres --regid=postgres --init-groups"
            mkdir -p "$FOLDER"; [ -z "$as" ] || chown postgres "$FOLDER"; cd "$FOLDER"
            [ -z "$CREATING" ] || $as "$BIN/initdb" -D data -A trust -U countersign -E UTF8 --locale=C >initdb.log
            $as "$BIN/postgres" -D data -k "$FOLDER" -p "$PORT" -h 127.0.0.1 -c max_connections=200 &
            server=$!
            (while kill -0 $$ && kill -0 "$OWNER"; do sleep 1; done 2>/dev/null; kill -QUIT $server
                kill -0 "$OWNER" 2>/dev/null || { sleep 2; rm -rf "$FOLDER"; }) &
            wait $server
            """
        let started = try ChildProcess(
            URL(filePath: "/bin/bash"), ["-c", script],
            environment: [
                "FOLDER": folder.url.path, "PORT": String(port), "BIN": Self.programs.path, "CREATING": creating ? "1" : "",
                "OWNER": String(ProcessInfo.processInfo.processIdentifier),
            ])
        process.withLock { $0 = started }
        try await started.waitFor("database system is ready to accept connections")
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
