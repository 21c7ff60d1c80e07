import AuthFoundation
import Foundation
import OktaAuthSdk
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An app's own HTTP, as the guide injects it: it adds headers of its own, keeps a journal, and sends with what the app has.
final class AppHTTP: OktaHTTPRequestListenerProtocol {
    typealias Completion = (Data?, URLResponse?, (any Error)?) -> Void

    /// Carries the closure to where the answer comes. Safe because it is called there once, and by nobody else.
    struct Answer: @unchecked Sendable {
        let call: Completion
    }

    private let headers: [String: String]
    private let lines = Locked<[String]>([])

    /// What was sent: method, path, and the status of the answer.
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
