import Foundation
import TestSupport
import Testing

@testable import AuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HostileServer {
    fileprivate func request(_ path: String = "/", authorized: Bool = false) throws -> URLRequest {
        var request = URLRequest(url: try url("http://127.0.0.1:\(port)\(path)"))
        if authorized { request.setValue("Bearer secret", forHTTPHeaderField: "Authorization") }
        return request
    }
}

@Suite("Ephemeral URL session")
struct EphemeralSessionTests {
    private func text(_ head: String, _ body: String) -> HostileServer.Answer {
        .bytes("\(head)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
    }

    @Test("EphemeralSession returns the complete body and the headers of a response")
    func reads() async throws {
        let server = try HostileServer { _ in text("HTTP/1.1 200 OK\r\nX-Name: value", "hello") }
        let (data, response) = try await EphemeralSession().data(for: server.request())
        #expect(String(decoding: data, as: UTF8.self) == "hello")
        #expect((response as? HTTPURLResponse)?.header("x-name") == "value")
    }

    @Test("A connection that closes before the complete response causes a transient error")
    func dropped() async throws {
        let server = try HostileServer { _ in .bytes("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"sub\":") }
        let issuer = try url("http://127.0.0.1:\(server.port)")
        let client = OAuth2Client(
            OAuth2Client.Configuration(issuerURL: issuer, clientId: "app", scope: "openid"), session: nil,
            clock: ManualClock(sleeps: .skipped))
        let error = await #expect(throws: APIClientError.self) { try await client.openIdConfiguration() }
        #expect(error?.isTransient == true, "\(String(describing: error))")
    }

    @Test("A response without Content-Length that exceeds the maximum size is rejected")
    func tooLarge() async throws {
        let server = try HostileServer { _ in
            .bytes(
                "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
                    + String(repeating: " ", count: RequestSender.maximumResponseSize + 100_000))
        }
        await #expect(throws: URLError(.dataLengthExceedsMaximum)) { try await EphemeralSession().data(for: server.request()) }
    }

    @Test("EphemeralSession follows a redirect to another origin only if the request has no credentials")
    func redirects() async throws {
        let arrived = Locked<[String]>([])
        let target = try HostileServer { head in
            arrived.withLock { $0.append(head) }
            return text("HTTP/1.1 200 OK", "there")
        }
        let server = try HostileServer { head in
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
        let server = try HostileServer { head in
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
        let server = try HostileServer { _ in text("HTTP/1.1 200 OK", "hello") }
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
        let server = try HostileServer { head in
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
        let server = try HostileServer { _ in
            arrived.open()
            return .silence
        }
        let request = try server.request()
        let task = Task { try await EphemeralSession().data(for: request) }
        await arrived.wait()
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
    }
}
