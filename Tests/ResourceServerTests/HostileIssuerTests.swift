import Foundation
import ResourceServer
import TestSupport
import Testing

/// Tests responses of a hostile issuer to the resource server.
@Suite("Attacks: responses to the resource server")
struct HostileIssuerTests {
    @Test(
        "The resource server rejects an issuer's response that is too large or compressed, and stops reading the response",
        .timeLimit(.minutes(1)),
        arguments: [
            HostileServer.Answer.endless("HTTP/1.1 200 OK\r\n\r\n"), .drip("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"),
            .drip("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n"),
        ])
    func refused(_ answer: HostileServer.Answer) async throws {
        let server = try HostileServer { _ in answer }
        let issuer = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
        let fetcher = URLSessionFetcher()
        for request in [FetchRequest(url: issuer), FetchRequest(url: issuer, form: "token=x", authorization: "Basic eDp5")] {
            let error = await #expect(throws: URLError.self) { try await fetcher.fetch(request) }
            #expect([.dataLengthExceedsMaximum, .cannotDecodeContentData].contains(error?.code), "\(String(describing: error))")
        }
        try await server.closed()
        #expect(server.heads.allSatisfy { $0.contains("Accept-Encoding: identity") })
    }

    @Test("The resource server follows no redirect of an issuer to another host")
    func redirect() async throws {
        let other = try HostileServer { _ in .bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}") }
        let server = try HostileServer { _ in
            .bytes("HTTP/1.1 302 Found\r\nLocation: http://localhost:\(other.port)/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let response = try await URLSessionFetcher().fetch(FetchRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)/"))))
        #expect(response.status == 302)
        #expect(other.heads.isEmpty)
    }
}
