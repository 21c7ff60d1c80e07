import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(Glibc)
import Glibc

/// A server on this machine that answers each connection with given bytes and closes it.
final class RawServer: Sendable {
    let port: UInt16
    private let socketNumber: Int32

    /// - Parameter answer: A closure that returns the response to the head of a request. For `nil`, the connection stays open without a
    ///   response.
    init(_ answer: @escaping @Sendable (_ head: String) -> [UInt8]?) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else { throw InvalidFixture() }
        socketNumber = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            var silent: [Int32] = []
            defer { for connection in silent { close(connection) } }
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                var buffer = [UInt8](repeating: 0, count: 16_384)
                let count = read(connection, &buffer, buffer.count)
                guard let bytes = answer(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)) else {
                    silent.append(connection)
                    continue
                }
                var sent = 0
                while sent < bytes.count {
                    let part = bytes[sent...].withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                    guard part > 0 else { break }
                    sent += part
                }
                close(connection)
            }
        }
    }

    deinit {
        shutdown(socketNumber, Int32(SHUT_RDWR))
        close(socketNumber)
    }

    func request(_ path: String = "/", authorized: Bool = false) throws -> URLRequest {
        var request = URLRequest(url: try url("http://127.0.0.1:\(port)\(path)"))
        if authorized { request.setValue("Bearer secret", forHTTPHeaderField: "Authorization") }
        return request
    }
}

@Suite("Ephemeral URL session")
struct EphemeralSessionTests {
    private func text(_ head: String, _ body: String) -> [UInt8] {
        Array("\(head)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)".utf8)
    }

    @Test("EphemeralSession returns the complete body and the headers of a response")
    func reads() async throws {
        let server = try RawServer { _ in text("HTTP/1.1 200 OK\r\nX-Name: value", "hello") }
        let (data, response) = try await EphemeralSession().data(for: server.request())
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect((response as? HTTPURLResponse)?.header("x-name") == "value")
    }

    @Test("A connection that closes before the complete response causes a transient error")
    func dropped() async throws {
        let server = try RawServer { _ in Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"sub\":".utf8) }
        let issuer = try url("http://127.0.0.1:\(server.port)")
        let client = OAuth2Client(
            OAuth2Client.Configuration(issuerURL: issuer, clientId: "app", scope: "openid"), session: nil,
            clock: ManualClock(sleeps: .skipped))
        let error = await #expect(throws: APIClientError.self) { try await client.openIdConfiguration() }
        #expect(error?.isTransient == true, "\(String(describing: error))")
    }

    @Test("A response without Content-Length that exceeds the maximum size is rejected")
    func tooLarge() async throws {
        let server = try RawServer { _ in
            Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8)
                + [UInt8](repeating: 32, count: RequestSender.maximumResponseSize + 100_000)
        }
        await #expect(throws: URLError(.dataLengthExceedsMaximum)) { try await EphemeralSession().data(for: server.request()) }
    }

    @Test("EphemeralSession follows a redirect to another origin only if the request has no credentials")
    func redirects() async throws {
        let arrived = Locked<[String]>([])
        let target = try RawServer { head in
            arrived.withLock { $0.append(head) }
            return text("HTTP/1.1 200 OK", "there")
        }
        let server = try RawServer { head in
            head.hasPrefix("GET /here ")
                ? text("HTTP/1.1 200 OK", "here")
                : text("HTTP/1.1 302 Found\r\nLocation: \(head.hasPrefix("GET /in ") ? "/here" : "http://127.0.0.1:\(target.port)/")", "")
        }
        let session = EphemeralSession()
        let (_, refused) = try await session.data(for: server.request("/out", authorized: true))
        #expect((refused as? HTTPURLResponse)?.statusCode == 302)
        #expect(arrived.withLock { $0.isEmpty })
        let (inside, _) = try await session.data(for: server.request("/in", authorized: true))
        #expect(String(decoding: inside, as: UTF8.self) == "here")
        let (outside, _) = try await session.data(for: server.request("/out"))
        #expect(String(decoding: outside, as: UTF8.self) == "there")
    }

    @Test(
        "A browserless session returns every redirect to its caller, and sends only its own cookies",
        arguments: ["com.example.app:/callback?code=c", "/next", "http://127.0.0.1:9/"])
    func browserless(location: String) async throws {
        let heads = Locked<[String]>([])
        let server = try RawServer { head in
            heads.withLock { $0.append(head) }
            return text("HTTP/1.1 302 Found\r\nSet-Cookie: sid=1; Path=/; HttpOnly\r\nLocation: \(location)", "")
        }
        let session = EphemeralSession(isBrowserless: true)
        for _ in 0..<2 {
            let (_, response) = try await session.data(for: server.request("/authorize"))
            #expect((response as? HTTPURLResponse)?.statusCode == 302)
            #expect((response as? HTTPURLResponse)?.header("Location") == location)
        }
        var form = try server.request("/form")
        form.httpMethod = "POST"
        form.httpBody = Data("a=b".utf8)
        let (_, response) = try await session.data(for: form)
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        heads.withLock { _ = $0.popLast() }
        _ = try await EphemeralSession(isBrowserless: true).data(for: server.request("/authorize"))
        let hadCookie = heads.withLock { $0.map { $0.contains("Cookie: sid=1") } }
        #expect(hadCookie == [false, true, false])
    }

    @Test("A redirect from a loopback server to plain http is followed only on loopback")
    func redirectsToPlainHTTP() throws {
        let here = URLRequest(url: try url("http://127.0.0.1:8080/.well-known/openid-configuration"))
        #expect(!RedirectRule.follows(URLRequest(url: try url("http://id.example.com/")), from: here))
        #expect(RedirectRule.follows(URLRequest(url: try url("https://id.example.com/")), from: here))
        #expect(RedirectRule.follows(URLRequest(url: try url("http://localhost:8080/")), from: here))
    }

    @Test("EphemeralSession has no response cache")
    func keepsNoCache() {
        #expect(EphemeralSession().configuration.urlCache == nil)
    }

    @Test(
        "Requests that are cancelled at different moments end, and the next request succeeds", .timeLimit(.minutes(1)),
        arguments: [true, false])
    func cancelsAtAnyMoment(isOurs: Bool) async throws {
        let server = try RawServer { _ in text("HTTP/1.1 200 OK", "hello") }
        let request = try server.request()
        let theirs = URLSession(configuration: .ephemeral)
        defer { theirs.finishTasksAndInvalidate() }
        let session: any URLSessionProtocol = isOurs ? EphemeralSession() : theirs
        for round in 0..<400 {
            let task = Task { try await session.data(for: request) }
            for _ in 0..<(round % 40) { await Task.yield() }
            task.cancel()
            _ = await task.result
        }
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "hello")
    }

    @Test("EphemeralSession neither stores nor sends cookies")
    func cookies() async throws {
        let heads = Locked<[String]>([])
        let server = try RawServer { head in
            heads.withLock { $0.append(head) }
            return text("HTTP/1.1 200 OK\r\nSet-Cookie: sid=1; Path=/", "")
        }
        let session = EphemeralSession()
        for _ in 0..<2 { _ = try await session.data(for: server.request()) }
        #expect(heads.withLock { $0.count == 2 && !$0.contains { $0.lowercased().contains("cookie") } })
    }

    @Test("Cancelling the task of an unanswered request ends the request with an error")
    func cancels() async throws {
        let arrived = Gate()
        let server = try RawServer { _ in
            arrived.open()
            return nil
        }
        let request = try server.request()
        let task = Task { try await EphemeralSession().data(for: request) }
        await arrived.wait()
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
    }
}
#endif
