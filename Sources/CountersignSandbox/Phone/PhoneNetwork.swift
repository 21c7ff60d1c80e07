internal import AuthFoundation
internal import Foundation
internal import NIOConcurrencyHelpers

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A phone's network connection, which tests can disable.
final class PhoneNetwork: URLSessionProtocol {
    private let session: any URLSessionProtocol
    private let offline = NIOLockedValueBox(false)

    init(_ session: any URLSessionProtocol) {
        self.session = session
    }

    var isOffline: Bool {
        get { offline.withLockedValue { $0 } }
        set { offline.withLockedValue { $0 = newValue } }
    }

    var configuration: URLSessionConfiguration { session.configuration }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard !isOffline else { throw URLError(.notConnectedToInternet) }
        return try await session.data(for: request)
    }
}
