import Foundation
import JOSE
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests the parts of a running server that an operator sees: its metrics, its log, and its state while the database is down.
@Suite("Operating a server", .timeLimit(.minutes(5)))
struct OperationTests {
    private static func get(_ port: Int, _ path: String, headers: [String: String] = [:]) async throws -> (Int, String) {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await PlainHTTP.data(for: request)
        return (response.statusCode, String(decoding: data, as: UTF8.self))
    }

    private static func signIn(_ port: Int, password: String) async throws -> Int {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/oauth2/default/v1/token")))
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data("grant_type=password&client_id=app&username=jane@example.com&password=\(password)&scope=openid".utf8)
        return try await PlainHTTP.data(for: request).1.statusCode
    }

    /// The arguments of a server with an organization in a new folder.
    private struct Company {
        let folder: TemporaryFolder
        let config: String
        let port: Int

        init(grants: String = "password") throws {
            (folder, port) = (try TemporaryFolder(), try SitePort().number)
            config = try folder.write(
                OrganizationText.passwordOnly(
                    name: "Company", origin: "http://127.0.0.1:\(port)", application: "type: native\ngrant_types: [\(grants)]"),
                to: "org.yaml")
        }

        func start(_ more: String..., environment: [String: String] = [:]) throws -> ChildProcess {
            try Command.start(
                ["serve", "--config", config, "--data", folder.path + "data", "--port", "\(port)"] + more, environment: environment)
        }
    }

    @Test(
        "The metrics port serves valid Prometheus metrics that count requests, sign-ins and store operations",
        .enabled(if: OutsidePart.python.isEnabled, Comment(rawValue: OutsidePart.python.missingNote)))
    func metrics() async throws {
        let (company, metricsPort) = (try Company(), try SitePort().number)
        let process = try company.start("--metrics-port", "\(metricsPort)")
        try await process.waitFor(" listening")
        #expect(try await Self.signIn(company.port, password: "Correct-Horse-7") == 200)
        #expect(try await Self.signIn(company.port, password: "wrong") == 400)
        let (status, text) = try await Self.get(metricsPort, "/metrics")
        #expect(status == 200)
        #expect(try await Self.get(metricsPort, "/").0 == 404)
        #expect(try await Self.get(company.port, "/metrics").0 == 404)

        let judged = try await ForeignProgram.run(.python, [OutsidePart.scripts.appending(path: "prometheus_metrics.py").path], input: text)
        #expect(judged.status == 0, "\(judged.errors)")
        let samples = try JSONValue(parsing: Data(judged.output.utf8)).arrayValue ?? []
        func value(_ name: String, _ labels: JSONValue = [:]) -> Double? {
            samples.first { $0["name"] == .string(name) && $0["labels"] == labels }?["value"]?.doubleValue
        }
        #expect(value("countersign_http_requests_total", ["route": "token", "status": "2xx"]) == 1)
        #expect(value("countersign_http_requests_total", ["route": "token", "status": "4xx"]) == 1)
        #expect(value("countersign_http_request_duration_seconds_count", ["route": "token"]) == 2)
        #expect(value("countersign_events_total", ["type": "token.grant.password", "outcome": "success"]) == 1)
        #expect(value("countersign_store_duration_seconds_count", ["operation": "commit"]).map { $0 >= 2 } == true)
        #expect(value("countersign_signing_key_age_seconds", ["algorithm": "RS256"]).map { (0..<300).contains($0) } == true)
        #expect(value("countersign_password_hashes_waiting") == 0)
        #expect(value("process_resident_memory_bytes").map { $0 > 1_000_000 } == true)
        #expect(!text.contains("jane"))
        process.interrupt()
        #expect(await process.end().status == 0)
    }

    @Test("With --log-format json, each log line is one JSON object, and a request's line contains the caller's trace ID")
    func jsonLog() async throws {
        let company = try Company()
        let process = try company.start("--log-format", "json")
        try await process.waitFor(#""message":"listening""#)
        let trace = "0af7651916cd43dd8448eb211c80319c"
        _ = try await Self.get(company.port, "/health/live", headers: ["traceparent": "00-\(trace)-b7ad6b7169203331-01"])
        _ = try await Self.get(company.port, "/health/ready", headers: ["traceparent": "00-\(trace)\",\"x\":\"-b7ad6b7169203331-01"])
        process.interrupt()
        let ended = await process.end()
        let lines = try ended.text.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
        #expect(lines.allSatisfy { $0["time"]?.stringValue?.hasSuffix("Z") == true && $0["level"] != nil && $0["logger"] != nil })
        let requests = lines.filter { $0["message"] == "request" }
        #expect(requests.map { $0["trace_id"]?.stringValue } == [trace, nil])
        #expect(requests.map { $0["status"]?.integerValue } == [200, 200])
    }

    @Test("Under systemd, countersign serve sends READY=1 when the server is ready and STOPPING=1 when the server stops")
    func notification() async throws {
        let company = try Company()
        let path = company.folder.path + "notify"
        let listener = try NotificationSocket(path)
        let process = try company.start(environment: ["NOTIFY_SOCKET": path])
        #expect(try await listener.next() == "READY=1")
        #expect(try await Self.get(company.port, "/health/ready").0 == 200)
        process.signal(SIGTERM)
        #expect(try await listener.next() == "STOPPING=1")
        #expect(await process.end().status == 0)
    }

    #if PostgreSQL
    @Test(
        "After countersign store copy, a server on PostgreSQL accepts the refresh tokens of the server on SQLite",
        .enabled(if: OutsidePart.postgreSQL.isEnabled, Comment(rawValue: OutsidePart.postgreSQL.missingNote)))
    func copiedStore() async throws {
        let company = try Company(grants: "password, refresh_token")
        let client = LoadClient(port: company.port, count: LoadCount())
        func token(_ form: [String: String]) async throws -> String {
            let answer = try await client.send(
                "POST", "/oauth2/default/v1/token", form: form.merging(["client_id": "app"]) { $1 }, as: "token")
            return try #require(answer.json["refresh_token"]?.stringValue, "\(answer.text)")
        }
        let before = try company.start()
        try await before.waitFor(" listening")
        let refreshToken = try await token([
            "grant_type": "password", "username": "jane@example.com", "password": "Correct-Horse-7", "scope": "openid offline_access",
        ])
        before.interrupt()
        #expect(await before.end().status == 0)

        let url = try await PostgreSQLServer.shared.value.newDatabase()
        #expect(try await Command.run(["store", "migrate", "--config", company.config, "--database", url]).status == 0)
        let copy = ["store", "copy", "--from", "sqlite:\(company.folder.path)data", "--to", url]
        for _ in 0..<2 {
            let copied = try await Command.run(copy)
            #expect(copied.status == 0 && copied.output.contains("Both databases have the digest"), "\(copied.output)\(copied.errors)")
        }
        let nowhere = try await Command.run(["store", "copy", "--from", "sqlite:\(company.folder.path)nowhere", "--to", url])
        #expect(nowhere.status == 1 && nowhere.errors.contains("There is no database"), "\(nowhere.errors)")

        let after = try company.start(environment: ["COUNTERSIGN_DATABASE": url])
        try await after.waitFor(" listening")
        _ = try await token(["grant_type": "refresh_token", "refresh_token": refreshToken])
        after.interrupt()
        #expect(await after.end().status == 0)
    }

    @Test(
        "A server that starts while its database is unreachable responds with 503, and serves requests once the database is reachable",
        .enabled(if: OutsidePart.postgreSQL.isEnabled, Comment(rawValue: OutsidePart.postgreSQL.missingNote)))
    func withoutDatabase() async throws {
        let company = try Company()
        let database = try await PostgreSQLServer()
        let url = try await database.newDatabase()
        let migrated = try await Command.run(["store", "migrate", "--config", company.config, "--database", url])
        try #require(migrated.status == 0, "\(migrated.errors)")
        try await database.crash()
        let process = try company.start(environment: ["COUNTERSIGN_DATABASE": url])
        // The server starts to listen in the meantime. The order of the two lines is undefined.
        try await process.waitFor("The database cannot be reached")
        let listens = ContinuousClock.now + .seconds(60)
        while (try? await Self.get(company.port, "/health/live").0) != 200, ContinuousClock.now < listens {}
        #expect(try await Self.get(company.port, "/health/ready").0 == 503)
        #expect(try await Self.signIn(company.port, password: "Correct-Horse-7") == 503)
        try await database.restart()
        try await process.waitFor("organization: ")
        // The server writes this line before it has created its keys.
        let end = ContinuousClock.now + .seconds(60)
        while try await Self.get(company.port, "/health/ready").0 != 200, ContinuousClock.now < end {}
        #expect(try await Self.signIn(company.port, password: "Correct-Horse-7") == 200)
        process.interrupt()
        #expect(await process.end().status == 0)
    }
    #endif
}

/// The socket on which systemd receives the state of a service.
private struct NotificationSocket {
    struct Failed: Error {}

    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound else { throw Failed() }
    }

    /// Waits on a separate thread for the next datagram, and returns its text.
    func next() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                var bytes = [UInt8](repeating: 0, count: 256)
                let count = recv(descriptor, &bytes, bytes.count, 0)
                continuation.resume(with: count < 0 ? .failure(Failed()) : .success(String(decoding: bytes[..<count], as: UTF8.self)))
            }
        }
    }
}
