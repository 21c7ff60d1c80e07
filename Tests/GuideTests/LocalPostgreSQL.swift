import Foundation
import TestSupport

/// The database of the guides that use `postgres://countersign@localhost/countersign`. A guide's network namespace has its own loopback
/// interface, so a program in it forwards the port to the socket of the tests' PostgreSQL server.
enum LocalPostgreSQL {
    /// Whether the command was built with the PostgreSQL store, and a PostgreSQL server is installed.
    static var isThere: Bool {
        #if PostgreSQL
        OutsidePart.postgreSQL.isEnabled
        #else
        false
        #endif
    }

    /// Whether a block of a guide uses the database.
    static func isUsed(by block: GuideBlock) -> Bool { block.text.contains("postgres://") }

    /// Creates an empty database, and returns the lines that make it reachable for the script of a guide.
    static func prepared() async throws -> [String] {
        let server = try await PostgreSQLServer.shared.value
        try await server.sql("DROP DATABASE IF EXISTS countersign WITH (FORCE)")
        try await server.sql("CREATE DATABASE countersign")
        let program = """
            import socket, sys, threading

            def forward(source, target):
                try:
                    while data := source.recv(65536):
                        target.sendall(data)
                except OSError:
                    pass
                for end in (source, target):
                    try:
                        end.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass

            listener = socket.create_server(("127.0.0.1", 5432))
            while True:
                client = listener.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                server.connect(sys.argv[1])
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=forward, args=pair, daemon=True).start()
            """
        return [
            "python3 -c '\(program)' '\(server.socketPath)' &",
            "timeout 10 bash -c 'until : </dev/tcp/127.0.0.1/5432; do sleep 0.1; done' 2>/dev/null",
        ]
    }
}
