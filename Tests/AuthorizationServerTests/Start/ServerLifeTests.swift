import Crypto
import Foundation
import HTTPTypes
import IdentityCore
import Logging
import NIOConcurrencyHelpers
import NIOSSL
import ServerHTTP
import ServiceLifecycle
import Store
import TestSupport
import Testing

@testable import AuthorizationServer

@Suite("Server life cycle")
struct ServerLifeTests {
    @Test("A graceful shutdown completes the current request and accepts no new request")
    func gracefulShutdown() async throws {
        let (arrived, arrive) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let clock = ManualClock(sleeps: .untilCancelled)
        let engine = Engine(
            store: InMemoryStore(),
            environment: EngineEnvironment(
                random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 1)))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = AuthorizationServer(engine: engine, configuration: .init(port: 0), clock: clock, logger: logger) { request, next in
            arrive.yield()
            for await _ in released { break }
            return await next(request)
        }
        let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let wire = WireClient(port: try await server.boundPort)
            async let answer = wire.get("/health/live")
            for await _ in arrived { break }
            await group.triggerGracefulShutdown()
            release.yield()
            let status = try await answer.status
            #expect(status == 200)
            try await tasks.waitForAll()
            await #expect(throws: (any Error).self) { try await wire.get("/health/live") }
        }
    }

    @Test("If the port is in use, both the start of the server and the wait for the bound port fail")
    func portTaken() async throws {
        try await RunningServer.with { running in
            let second = AuthorizationServer(
                engine: running.engine, configuration: .init(port: running.wire.port), clock: running.clock,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let port = Task { try await second.boundPort }
            await #expect(throws: (any Error).self) { try await second.run() }
            await #expect(throws: (any Error).self) { try await port.value }
        }
    }

    @Test("The health endpoints report whether the process runs and whether the store can be read")
    func health() async throws {
        let live = try await RunningServer.with { try await $0.wire.get("/health/live") }
        #expect(live.status == 200)
        #expect(live.body == #"{"status":"live"}"#)
        let ready = try await RunningServer.with { try await $0.wire.get("/health/ready") }
        #expect(ready.status == 200)
        #expect(ready.body == #"{"status":"ready"}"#)
        let empty = AuthorizationServer(
            engine: Engine(
                store: InMemoryStore(),
                environment: EngineEnvironment(
                    random: SystemRandomSource(), masterKey: SymmetricKey(size: .bits256), passwordHasher: PasswordHasher(width: 1))),
            clock: ManualClock(sleeps: .untilCancelled), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/health/ready")
        let (head, body) = try await empty.respond(to: request)
        #expect(head.status == .serviceUnavailable)
        #expect(String(decoding: body, as: UTF8.self) == #"{"status":"not ready","reason":"the store cannot be read"}"#)
    }

    @Test("Until its preparation is complete, a server answers every request except /health/live with status 503")
    func unprepared() async throws {
        try await RunningServer.with { running in
            let server = AuthorizationServer(
                engine: running.engine, clock: running.clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                isPrepared: false)
            func expect(_ status: Int, _ path: String) async throws {
                let request = HTTPRequest(method: .get, scheme: "https", authority: "id.example.com", path: path)
                let head = try await server.respond(to: request).head
                #expect(head.status.code == status, "\(path)")
            }
            let discovery = "/oauth2/default/.well-known/openid-configuration"
            for path in ["/health/ready", discovery, "/oauth2/default/v1/userinfo"] { try await expect(503, path) }
            try await expect(200, "/health/live")
            #expect(!server.readiness.mayReload())
            #expect(!server.readiness.setPrepared(), "The reload is due first.")
            try await expect(503, discovery)
            #expect(server.readiness.setPrepared())
            for path in ["/health/ready", discovery] { try await expect(200, path) }
            #expect(server.readiness.mayReload())
        }
    }

    @Test("An in-process response has the status, the body and the header names of the HTTP response")
    func inProcess() async throws {
        try await RunningServer.with { running in
            let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/oauth2/default/v1/keys")
            let (head, body) = try await running.server.respond(to: request)
            let overPort = try await running.wire.get("/oauth2/default/v1/keys")
            #expect(head.status.code == overPort.status)
            #expect(String(decoding: body, as: UTF8.self) == overPort.body)
            #expect(Set(head.headerFields.map(\.name.rawName)) == Set(overPort.headers.map(\.name)))
        }
    }

    @Test("An interceptor can send its own response, drop the connection or truncate the response")
    func interceptor() async throws {
        let interceptor: AuthorizationServer.Interceptor = { request, next in
            switch request.path {
            case "/own": return ServerResponse(status: .ok, json: Array(#"{"own":true}"#.utf8))
            case "/dropped":
                var response = await next(request)
                response.delivery = .dropped
                return response
            case "/cut":
                var response = ServerResponse(status: .ok, json: Array(#"{"own":true}"#.utf8))
                response.delivery = .truncated(after: 4)
                return response
            default: return await next(request)
            }
        }
        try await RunningServer.fresh(interceptor: interceptor) { running in
            let own = try await running.wire.get("/own")
            #expect(own.body == #"{"own":true}"#)
            #expect(own["x-okta-request-id"] != nil)
            #expect(try await running.wire.send(Array("GET /dropped HTTP/1.1\r\nHost: x\r\n\r\n".utf8)).isEmpty)
            let cut = try await running.wire.get("/cut")
            #expect(cut["Content-Length"] == "12")
            #expect(cut.body == #"{"ow"#)
            let dropped = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/dropped")
            await #expect(throws: ConnectionClosed.self) { try await running.server.respond(to: dropped) }
        }
    }

    @Test("A connection serves several requests in order")
    func keepAlive() async throws {
        let answer = try await RunningServer.with { running in
            let first = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
            let post = "POST /oauth2/v1/token HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na=b"
            let last = "GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            return String(decoding: try await running.wire.send(Array((first + post + last).utf8)), as: UTF8.self)
        }
        #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 4)
        #expect(answer.contains(#"{"status":"live"}"#))
        #expect(answer.hasSuffix(#"{"status":"ready"}"#))
    }

    @Test("If a certificate is configured, the server uses TLS and sends Strict-Transport-Security")
    func tls() async throws {
        let configuration = AuthorizationServer.Configuration(
            port: 0, tls: .init(certificateChain: .text(TestCertificate.certificate), privateKey: .text(TestCertificate.privateKey)))
        let response = try await RunningServer.fresh(configuration: configuration) { running in
            var client = TLSConfiguration.makeClientConfiguration()
            client.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(TestCertificate.certificate.utf8)))
            let wire = WireClient(port: running.wire.port, tls: try NIOSSLContext(configuration: client))
            return try await wire.get("/oauth2/default/v1/keys")
        }
        #expect(response.status == 200)
        #expect(response["Strict-Transport-Security"] == "max-age=31536000")
    }

    @Test("The server does not start if the certificate or key is unreadable, and the error names the setting")
    func brokenTLS() async throws {
        try await RunningServer.with { running in
            for (tls, key) in [
                (AuthorizationServer.Configuration.TLS(certificateChain: .text("x"), privateKey: .text("y")), "tls-certificate"),
                (.init(certificateChain: .text(TestCertificate.certificate), privateKey: .file("/nowhere.pem")), "tls-key"),
            ] {
                let server = AuthorizationServer(
                    engine: running.engine, configuration: .init(port: 0, tls: tls), clock: running.clock,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
                let error = await #expect(throws: ConfigurationError.self) { try await server.run() }
                #expect(error?.key == key)
            }
        }
    }

    @Test("The access log has one line per request, with the client ID and without request parameters")
    func accessLog() async throws {
        let lines = NIOLockedValueBox<[(Logger.Level, Logger.Metadata)]>([])
        let logger = Logger(label: "test") { _ in RecordingHandler(lines: lines) }
        try await RunningServer.fresh(logger: logger) { running in
            _ = try await running.wire.post(
                "/oauth2/default/v1/token?code=Canary",
                "client_id=password-app&grant_type=password&username=Canary&password=Canary&scope=openid",
                headers: [("User-Agent", "Canary")])
        }
        let requests = lines.withLockedValue { $0.filter { $0.1["path"] != nil } }
        #expect(requests.count == 1)
        let line = try #require(requests.first).1
        #expect(line["method"] == "POST")
        #expect(line["path"] == "/oauth2/default/v1/token")
        #expect(line["status"].map { "\($0)" } == "400")
        #expect(line["client_id"] == "password-app")
        #expect(line["request_id"] != nil)
        #expect(line["duration_us"] != nil)
        #expect(lines.withLockedValue { !"\($0)".contains("Canary") })
    }
}
