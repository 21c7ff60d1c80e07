import Foundation
import Hummingbird
import JOSE
import NIOCore
import ResourceServer
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The messages service on a free port, for the duration of a test.
enum RunningMessages {
    struct Answer {
        let status: Int
        let headers: HTTPURLResponse
        let body: Data
        var json: JSONValue? { try? JSONValue(parsing: body) }
        func header(_ name: String) -> String? { headers.value(forHTTPHeaderField: name) }
    }

    /// A closure that sends a request to a path of the service.
    typealias Ask = (_ path: String, _ headers: [String: String], _ method: String) async throws -> Answer

    /// Runs the service until the body returns. The body gets a closure for requests, and the port.
    static func with(
        _ verifier: AccessTokenVerifier, time: ManualClock, publishesMetadata: Bool = false,
        _ body: (_ ask: @escaping Ask, _ port: Int) async throws -> Void
    ) async throws {
        let service = MessagesService(verifier: verifier, publishesMetadata: publishesMetadata, now: { time.now })
        let (ports, announce) = AsyncStream.makeStream(of: Int.self)
        let application = service.application(port: 0) { announce.yield($0.localAddress?.port ?? 0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let session = URLSession(configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            let ask: Ask = { path, headers, method in
                var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
                request.httpMethod = method
                for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
                let (data, response) = try await session.data(for: request)
                let head = try #require(response as? HTTPURLResponse)
                return Answer(status: head.statusCode, headers: head, body: data)
            }
            try await body(ask, port)
            group.cancelAll()
        }
    }
}
