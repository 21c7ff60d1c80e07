import AuthFoundation
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A network that contains two orgs.
final class TwoOrgs: URLSessionProtocol {
    private let orgs: [TestOrg]

    init(_ orgs: TestOrg...) { self.orgs = orgs }

    var configuration: URLSessionConfiguration { .ephemeral }

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard let org = orgs.first(where: { request.url?.absoluteString.hasPrefix($0.url) == true }) else {
            throw URLError(.cannotFindHost)
        }
        return try await org.data(for: request)
    }
}
