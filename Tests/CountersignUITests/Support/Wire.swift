import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport whose responses a test can change, like an organization that an attacker operates.
final class Wire: URLSessionProtocol {
    /// A change of the body of a response.
    struct Change: Sendable {
        let body: @Sendable (_ path: String, Data) async throws -> Data
    }

    private let transport: any URLSessionProtocol
    private let current = Locked<Change?>(nil)

    init(_ transport: any URLSessionProtocol) { self.transport = transport }

    var configuration: URLSessionConfiguration { transport.configuration }

    /// Changes the body of each response from now on, by the path of the request.
    func change(_ body: @escaping @Sendable (_ path: String, Data) async throws -> Data) { current.exchange(Change(body: body)) }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let (data, response) = try await transport.data(for: request)
        return (try await current.withLock({ $0 })?.body(request.url?.path() ?? "", data) ?? data, response)
    }
}
