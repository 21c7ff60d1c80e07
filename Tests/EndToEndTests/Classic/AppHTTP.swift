import AuthFoundation
import Foundation
import OktaAuthSdk
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The HTTP client of an app, set as the guide shows. It adds headers, records the requests, and sends them with the app's own session.
final class AppHTTP: OktaHTTPRequestListenerProtocol {
    typealias Completion = (Data?, URLResponse?, (any Error)?) -> Void

    /// The app's completion handler. `@unchecked Sendable`: it is called exactly once, on the thread of the response.
    struct Answer: @unchecked Sendable {
        let call: Completion
    }

    private let headers: [String: String]
    private let lines = Locked<[String]>([])

    /// The sent requests: method, path, and status of the response.
    var journal: [String] { lines.withLock { $0 } }

    init(adding headers: [String: String] = [:]) {
        self.headers = headers
    }

    func sendRequest(_ request: URLRequest, completionHandler: @escaping Completion) {
        var request = request
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let answer = Answer(call: completionHandler)
        Task { [request, lines] in
            do {
                let (data, response) = try await PlainHTTP.data(for: request)
                lines.withLock { $0.append("\(request.httpMethod ?? "") \(request.url?.path() ?? "") \(response.statusCode)") }
                answer.call(data, response, nil)
            } catch {
                answer.call(nil, nil, error)
            }
        }
    }
}
